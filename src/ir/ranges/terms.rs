//! What values are made of, and what is known of them at a place of the program.
//!
//! A term stands for one number that an invocation has computed: values that must be equal are one term.
//! What holds of a term wherever it exists is its own interval. What holds only at the place that is being
//! looked at (behind a test, say) is a fact; facts are taken back when the place is left.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::interval::{self, Interval};
use crate::ir::{BinaryOp, BufferId, Builtin, CompareOp, Const, MathOp, Region, Scalar, UnaryOp};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TermId(u32);

impl TermId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Equal to no other: a load, or what paths that meet bring.
    Opaque(u32),
    Const(u64),
    Builtin(Builtin),
    Length(BufferId),
    /// Of what nobody writes, the scalar at so many bytes behind the index that it may have.
    Load(Region, u64),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Select,
    Convert,
    Bitcast,
    Math(MathOp),
}

pub type Args = SmallVec<[TermId; 3]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    ty: Scalar,
    op: Op,
    args: Args,
}

/// One is at most another, or below it.
#[derive(Clone, Copy, Debug)]
struct Above {
    than: TermId,
    strictly: bool,
}

enum Undo {
    Fact(TermId, Option<Interval>),
    Above(TermId),
}

/// How deep operands are asked anew for what facts say of them.
const DEPTH: u32 = 4;
/// How many terms are looked at to compare two.
const REACH: usize = 16;
/// How deep a condition is taken apart.
const PARTS: u32 = 64;

pub struct Terms {
    workgroup_size: [u32; 3],
    subgroup: u32,
    shapes: Vec<Shape>,
    own: Vec<Interval>,
    known: HashMap<Shape, TermId>,
    facts: HashMap<TermId, Interval>,
    above: HashMap<TermId, Vec<Above>>,
    undo: Vec<Undo>,
    /// Work done, so that it can be bounded.
    pub spent: u64,
}

impl Terms {
    pub fn new(workgroup_size: [u32; 3], subgroup: u32) -> Terms {
        Terms {
            workgroup_size,
            subgroup,
            shapes: Vec::new(),
            own: Vec::new(),
            known: HashMap::new(),
            facts: HashMap::new(),
            above: HashMap::new(),
            undo: Vec::new(),
            spent: 0,
        }
    }

    pub fn ty(&self, term: TermId) -> Scalar {
        self.shapes[term.index()].ty
    }

    fn add(&mut self, shape: Shape, own: Interval) -> TermId {
        self.spent += 1;
        let id = TermId(self.shapes.len() as u32);
        self.shapes.push(shape);
        self.own.push(own);
        id
    }

    /// One that equals no other.
    pub fn opaque(&mut self, ty: Scalar, own: Interval) -> TermId {
        let op = Op::Opaque(self.shapes.len() as u32);
        let args = Args::new();
        self.add(Shape { ty, op, args }, own)
    }

    pub fn constant(&mut self, c: Const) -> TermId {
        self.term(c.ty, Op::Const(c.bits), Args::new())
    }

    /// The term for an operation; the one that is there if it was met before.
    pub fn term(&mut self, ty: Scalar, op: Op, args: Args) -> TermId {
        let shape = self.canonical(ty, op, args);
        if let Some(&id) = self.known.get(&shape) {
            return id;
        }
        // What holds wherever the operands exist, so without any facts.
        let args: SmallVec<[Interval; 3]> =
            shape.args.iter().map(|x| self.own[x.index()]).collect();
        let own = self.computed(&shape, &args);
        let id = self.add(shape.clone(), own);
        self.known.insert(shape, id);
        id
    }

    /// Of shapes that say the same, one.
    fn canonical(&self, ty: Scalar, mut op: Op, mut args: Args) -> Shape {
        let is_int = args.first().is_some_and(|&x| self.ty(x).is_int());
        match op {
            Op::Compare(CompareOp::Gt) if is_int => {
                op = Op::Compare(CompareOp::Lt);
                args.reverse();
            }
            Op::Compare(CompareOp::Ge) if is_int => {
                op = Op::Compare(CompareOp::Le);
                args.reverse();
            }
            Op::Binary(
                BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor,
            )
            | Op::Compare(CompareOp::Eq | CompareOp::Ne)
                if is_int =>
            {
                args.sort_by_key(|x| x.0);
            }
            _ => {}
        }
        Shape { ty, op, args }
    }

    fn computed(&self, shape: &Shape, args: &[Interval]) -> Interval {
        let ty = shape.ty;
        let all = interval::of_type(ty);
        let from = shape.args.first().map(|&x| self.ty(x));
        match (shape.op, args) {
            (Op::Const(bits), _) => Interval::one(interval::number(Const { ty, bits })),
            (Op::Builtin(builtin), _) => {
                interval::builtin(builtin, self.workgroup_size, self.subgroup)
            }
            // A bound range holds one element at least.
            (Op::Length(_), _) => Interval::new(1, u32::MAX.into()),
            (Op::Unary(op), [x]) if !ty.is_float() => interval::unary(op, ty, *x),
            (Op::Binary(op), [a, b]) if !ty.is_float() => interval::binary(op, ty, *a, *b),
            (Op::Compare(op), [a, b]) if from.is_some_and(Scalar::is_int) => {
                match interval::compare(op, *a, *b) {
                    Some(known) => Interval::one(known.into()),
                    None => all,
                }
            }
            (Op::Select, [cond, accept, reject]) => match (cond.has(0), cond.has(1)) {
                (false, _) => *accept,
                (_, false) => *reject,
                _ => accept.join(*reject),
            },
            (Op::Convert, [x]) => interval::convert(from.unwrap_or(ty), ty, *x),
            (Op::Bitcast, [x]) => interval::bitcast(from.unwrap_or(ty), ty, *x),
            (Op::Math(op), args) => interval::math(op, ty, args),
            _ => all,
        }
    }

    /// What the term may be at this place.
    pub fn interval(&mut self, term: TermId) -> Interval {
        self.asked(term, DEPTH)
    }

    fn asked(&mut self, term: TermId, depth: u32) -> Interval {
        self.spent += 1;
        let mut result = self.own[term.index()];
        if let Some(&fact) = self.facts.get(&term) {
            result = result.meet(fact).unwrap_or(result);
        }
        if depth == 0 || result.lo == result.hi {
            return result;
        }
        let shape = self.shapes[term.index()].clone();
        if shape.args.is_empty() {
            return result;
        }
        let args: SmallVec<[Interval; 3]> =
            (shape.args.iter().map(|&x| self.asked(x, depth - 1))).collect();
        let mut computed = self.computed(&shape, &args);
        if let (Op::Binary(BinaryOp::Sub), [x, y]) = (shape.op, &shape.args[..])
            && depth == DEPTH
            && self.is_at_most(*y, *x, false)
        {
            // It does not wrap below zero.
            let (lo, hi) = ((args[0].lo - args[1].hi).max(0), args[0].hi - args[1].lo);
            if lo <= hi && hi <= interval::of_type(shape.ty).hi {
                computed = computed.meet(Interval::new(lo, hi)).unwrap_or(computed);
            }
        }
        result.meet(computed).unwrap_or(result)
    }

    /// Notes that at this place the term is within `to`.
    pub fn narrow(&mut self, term: TermId, to: Interval) {
        let before = self.facts.get(&term).copied();
        let known = before.unwrap_or(self.own[term.index()]);
        // Nothing left: the place is not reached, and anything may be said of it.
        let Some(now) = known.meet(to).filter(|&now| now != known) else {
            return;
        };
        self.undo.push(Undo::Fact(term, before));
        self.facts.insert(term, now);
    }

    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Takes back what was noted since the mark.
    pub fn forget(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Fact(term, Some(before)) => {
                    self.facts.insert(term, before);
                }
                Undo::Fact(term, None) => {
                    self.facts.remove(&term);
                }
                Undo::Above(term) => {
                    self.above.get_mut(&term).and_then(Vec::pop);
                }
            }
        }
    }

    /// Notes that a condition holds here, or that it does not.
    pub fn assume(&mut self, cond: TermId, holds: bool) {
        self.assume_part(cond, holds, PARTS);
    }

    fn assume_part(&mut self, cond: TermId, holds: bool, depth: u32) {
        self.spent += 1;
        self.narrow(cond, Interval::one(holds.into()));
        if depth == 0 {
            return;
        }
        let shape = self.shapes[cond.index()].clone();
        match (shape.op, &shape.args[..]) {
            (Op::Unary(UnaryOp::Not), &[x]) => self.assume_part(x, !holds, depth - 1),
            (Op::Binary(BinaryOp::And), &[a, b]) if holds => {
                self.assume_part(a, true, depth - 1);
                self.assume_part(b, true, depth - 1);
            }
            (Op::Binary(BinaryOp::Or), &[a, b]) if !holds => {
                self.assume_part(a, false, depth - 1);
                self.assume_part(b, false, depth - 1);
            }
            (Op::Compare(op), &[a, b]) if self.ty(a).is_int() => self.relate(op, a, b, holds),
            _ => {}
        }
    }

    fn relate(&mut self, op: CompareOp, a: TermId, b: TermId, holds: bool) {
        match (op, holds) {
            (CompareOp::Lt, true) => self.order(a, b, true),
            (CompareOp::Lt, false) => self.order(b, a, false),
            (CompareOp::Le, true) => self.order(a, b, false),
            (CompareOp::Le, false) => self.order(b, a, true),
            (CompareOp::Eq, true) | (CompareOp::Ne, false) => {
                self.order(a, b, false);
                self.order(b, a, false);
            }
            (CompareOp::Ne, true) | (CompareOp::Eq, false) => {
                self.differ(a, b);
                self.differ(b, a);
            }
            // The canonical form has none of them.
            (CompareOp::Gt | CompareOp::Ge, _) => {}
        }
    }

    /// Notes `low <= high`, or `low < high`.
    fn order(&mut self, low: TermId, high: TermId, strictly: bool) {
        let (l, h) = (self.interval(low), self.interval(high));
        let step = i128::from(strictly);
        if l.lo <= h.hi - step {
            self.narrow(low, Interval::new(l.lo, h.hi - step));
        }
        if l.lo + step <= h.hi {
            self.narrow(high, Interval::new(l.lo + step, h.hi));
        }
        self.above.entry(low).or_default().push(Above {
            than: high,
            strictly,
        });
        self.undo.push(Undo::Above(low));
        // What was converted is asked about by itself too.
        let shape = self.shapes[low.index()].clone();
        if let (Op::Convert | Op::Bitcast, &[x]) = (shape.op, &shape.args[..])
            && self.keeps(low, x)
        {
            self.order(x, high, strictly);
        }
    }

    /// Takes an end of the interval that the term is known not to be.
    fn differ(&mut self, term: TermId, from: TermId) {
        let (own, other) = (self.interval(term), self.interval(from));
        if other.lo != other.hi || own.lo == own.hi {
            return;
        }
        if own.lo == other.lo {
            self.narrow(term, Interval::new(own.lo + 1, own.hi));
        } else if own.hi == other.lo {
            self.narrow(term, Interval::new(own.lo, own.hi - 1));
        }
    }

    /// Whether a condition surely holds here.
    pub fn holds(&mut self, cond: TermId) -> bool {
        self.holds_in(cond, PARTS)
    }

    fn holds_in(&mut self, cond: TermId, depth: u32) -> bool {
        if self.interval(cond) == Interval::one(1) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let shape = self.shapes[cond.index()].clone();
        match (shape.op, &shape.args[..]) {
            (Op::Binary(BinaryOp::And), &[a, b]) => {
                self.holds_in(a, depth - 1) && self.holds_in(b, depth - 1)
            }
            (Op::Compare(CompareOp::Lt), &[a, b]) if self.ty(a).is_int() => {
                self.is_at_most(a, b, true)
            }
            (Op::Compare(CompareOp::Le), &[a, b]) if self.ty(a).is_int() => {
                self.is_at_most(a, b, false)
            }
            _ => false,
        }
    }

    /// Whether surely `low <= high`, or `low < high`.
    fn is_at_most(&mut self, low: TermId, high: TermId, strictly: bool) -> bool {
        let highs = self.climb(high, false);
        let lows = self.climb(low, true);
        for &(l, l_strictly) in &lows {
            for &(h, h_strictly) in &highs {
                self.spent += 1;
                let apart = l_strictly || h_strictly || !strictly;
                if l == h && apart {
                    return true;
                }
                let (l, h) = (self.asked(l, 1), self.asked(h, 1));
                if l.hi < h.lo || l.hi == h.lo && apart {
                    return true;
                }
            }
        }
        false
    }

    /// Whether surely `a >= b`.
    pub fn is_not_below(&mut self, [a, b]: [TermId; 2]) -> bool {
        self.is_at_most(b, a, false)
    }

    /// Terms that are surely not below (`up`), or not above, this one; and whether they are surely different.
    fn climb(&mut self, from: TermId, up: bool) -> SmallVec<[(TermId, bool); REACH]> {
        let mut found: SmallVec<[(TermId, bool); REACH]> = SmallVec::new();
        found.push((from, false));
        let mut next = 0;
        while next < found.len() && found.len() < REACH {
            let (term, strictly) = found[next];
            next += 1;
            self.spent += 1;
            let mut steps = match up {
                true => self.not_below(term),
                false => self.not_above(term),
            };
            steps.truncate(REACH - found.len());
            for (to, step) in steps {
                let to = (to, strictly || step);
                if !found.contains(&to) {
                    found.push(to);
                }
            }
        }
        found
    }

    fn not_below(&mut self, term: TermId) -> SmallVec<[(TermId, bool); 4]> {
        let mut steps: SmallVec<[(TermId, bool); 4]> = (self.above.get(&term).into_iter())
            .flatten()
            .map(|above| (above.than, above.strictly))
            .collect();
        let shape = self.shapes[term.index()].clone();
        if !shape.ty.is_int() {
            return steps;
        }
        match (shape.op, &shape.args[..]) {
            (Op::Builtin(Builtin::WorkgroupId(axis)), _) => {
                let count = Op::Builtin(Builtin::NumWorkgroups(axis));
                steps.push((self.term(Scalar::U32, count, Args::new()), true));
            }
            (Op::Math(MathOp::Min), &[a, b]) => steps.extend([(a, false), (b, false)]),
            (Op::Binary(BinaryOp::And), &[a, b]) => {
                // One that is not negative is not below what it masks.
                let with = [a, b].map(|x| (x, self.asked(x, 1).lo >= 0));
                steps.extend(with.iter().filter(|x| x.1).map(|x| (x.0, false)));
            }
            (Op::Binary(BinaryOp::Rem), &[a, b]) if self.asked(a, 1).lo >= 0 => {
                steps.push((a, false));
                if self.asked(b, 1).lo >= 1 {
                    steps.push((b, true));
                }
            }
            (Op::Binary(BinaryOp::Div), &[a, b])
                if self.asked(a, 1).lo >= 0 && self.asked(b, 1).lo >= 0 =>
            {
                steps.push((a, false));
            }
            (Op::Binary(BinaryOp::Shr), &[a, _]) if self.asked(a, 1).lo >= 0 => {
                steps.push((a, false));
            }
            (Op::Binary(BinaryOp::Sub), &[a, b]) => {
                let (x, y) = (self.asked(a, 1), self.asked(b, 1));
                let exact = x.lo - y.hi >= interval::of_type(shape.ty).lo;
                if y.lo >= 0 && exact {
                    steps.push((a, y.lo >= 1));
                }
            }
            (Op::Convert | Op::Bitcast, &[x]) if self.keeps(term, x) => steps.push((x, false)),
            _ => {}
        }
        steps
    }

    fn not_above(&mut self, term: TermId) -> SmallVec<[(TermId, bool); 4]> {
        let mut steps = SmallVec::new();
        let shape = self.shapes[term.index()].clone();
        if !shape.ty.is_int() {
            return steps;
        }
        match (shape.op, &shape.args[..]) {
            (Op::Math(MathOp::Max), &[a, b]) => steps.extend([(a, false), (b, false)]),
            (Op::Binary(BinaryOp::Add), &[a, b]) => {
                let (x, y) = (self.asked(a, 1), self.asked(b, 1));
                if x.hi + y.hi <= interval::of_type(shape.ty).hi {
                    for (term, other) in [(a, y), (b, x)] {
                        if other.lo >= 0 {
                            steps.push((term, other.lo >= 1));
                        }
                    }
                }
            }
            (Op::Convert | Op::Bitcast, &[x]) if self.keeps(term, x) => steps.push((x, false)),
            _ => {}
        }
        steps
    }

    /// Whether a conversion of an integer keeps its number.
    fn keeps(&mut self, to: TermId, from: TermId) -> bool {
        let (to, from_ty) = (self.ty(to), self.ty(from));
        let kept = self.asked(from, 1).is_within(interval::of_type(to));
        from_ty.is_int() && to.is_int() && kept
    }
}
