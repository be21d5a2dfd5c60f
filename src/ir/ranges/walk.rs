//! One walk through a program that knows, at each place, what each local holds.
//!
//! Where paths meet, a local holds what it holds on all of them, or something new whose interval is the hull.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Ranges;
use super::exits::Frame;
use super::interval::{self, Interval};
use super::terms::{Args, Op, TermId, Terms};
use crate::ir::{
    Access, BinaryOp, Body, BufferAccess, BufferSpace, Case, Expr, Label, LocalId, Node, NodeKind,
    Operand, Program, Region, Scalar, ValueId,
};

/// What paths to one place bring, by position in the list of the locals that are looked at there.
#[derive(Clone, Copy)]
pub struct Brought {
    /// If all bring the same.
    pub term: Option<TermId>,
    pub interval: Interval,
}

/// What locals hold at the end of an arm, of those that it assigned; `None` if the end is not reached.
type Arm = Option<BTreeMap<LocalId, (TermId, Interval)>>;

pub struct Walk<'p> {
    pub program: &'p Program,
    pub terms: Terms,
    values: Vec<Option<TermId>>,
    pub locals: Vec<TermId>,
    /// Of each assignment, what the local held before.
    log: Vec<(LocalId, TermId)>,
    pub frames: HashMap<Label, Frame>,
    /// What each loop and block assigns, once asked for.
    pub assigned: HashMap<Label, Rc<[LocalId]>>,
    /// The sides of each conjunction.
    sides: HashMap<ValueId, (Operand, Operand)>,
    /// Not in a trial.
    pub is_last: bool,
    pub loops: u32,
    budget: u64,
    found: Ranges<'p>,
}

impl<'p> Walk<'p> {
    pub fn of(program: &'p Program, subgroup: u32, budget: u64) -> Ranges<'p> {
        let mut terms = Terms::new(program.workgroup_size, subgroup);
        let zeros: Vec<TermId> = (program.locals.iter())
            .map(|local| terms.constant(crate::ir::Const::zero(local.ty)))
            .collect();
        let mut walk = Walk {
            program,
            terms,
            values: vec![None; program.values.len()],
            locals: zeros,
            log: Vec::new(),
            frames: HashMap::new(),
            assigned: HashMap::new(),
            sides: HashMap::new(),
            is_last: true,
            loops: 0,
            budget,
            found: Ranges::default(),
        };
        walk.body(&program.body);
        match walk.is_spent() {
            // Some places were not looked at, and paths from there not brought together.
            true => Ranges::default(),
            false => walk.found,
        }
    }

    fn is_spent(&self) -> bool {
        self.terms.spent > self.budget
    }

    /// Whether the end is reached.
    pub fn body(&mut self, body: &'p Body) -> bool {
        for node in &body.0 {
            self.terms.spent += 1;
            if self.is_spent() || !self.node(node) {
                return false;
            }
        }
        true
    }

    /// Whether a path leads on from the node.
    fn node(&mut self, node: &'p Node) -> bool {
        match &node.kind {
            NodeKind::Let { value, expr } => self.let_(*value, expr),
            NodeKind::Load { values, access } => {
                self.access(access);
                self.load(values, access);
            }
            NodeKind::Store { access, .. } => self.access(access),
            NodeKind::Atomic {
                access,
                result,
                exchanged,
                ..
            } => {
                self.access(access);
                for &value in result.iter().chain(exchanged) {
                    self.unknown(value);
                }
            }
            NodeKind::Assign { local, value } => {
                let term = self.operand(*value);
                self.assign(*local, term);
            }
            NodeKind::Clear(_) | NodeKind::Barrier(_) => {}
            NodeKind::Subgroup { results, .. } => {
                results.iter().for_each(|&value| self.unknown(value));
            }
            NodeKind::If {
                cond,
                accept,
                reject,
            } => return self.branch(*cond, accept, reject),
            NodeKind::Block { label, body } => return self.block(*label, body),
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => return self.repeat(*label, body, continuing),
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => return self.switch(*selector, cases, default),
            NodeKind::Break(label) => {
                self.leave(*label, false);
                return false;
            }
            NodeKind::Continue(label) => {
                self.leave(*label, true);
                return false;
            }
            NodeKind::Return => return false,
        }
        true
    }

    fn operand(&mut self, operand: Operand) -> TermId {
        match operand {
            Operand::Const(c) => self.terms.constant(c),
            Operand::Value(id) => match self.values[id.index()] {
                Some(term) => term,
                None => {
                    let ty = self.program.value_type(id);
                    self.terms.opaque(ty, interval::of_type(ty))
                }
            },
        }
    }

    fn define(&mut self, value: ValueId, term: TermId) {
        self.values[value.index()] = Some(term);
        // As it is here: what it was made of may be too many steps away later.
        let here = self.terms.interval(term);
        self.terms.narrow(term, here);
    }

    fn unknown(&mut self, value: ValueId) {
        let ty = self.program.value_type(value);
        let term = self.terms.opaque(ty, interval::of_type(ty));
        self.define(value, term);
    }

    fn let_(&mut self, value: ValueId, expr: &Expr) {
        let (op, operands): (Op, Vec<Operand>) = match expr {
            Expr::Local(local) => {
                let term = self.locals[local.index()];
                return self.define(value, term);
            }
            Expr::ArrayLength(id) if self.program.buffer(*id).runtime.is_none() => {
                return self.unknown(value);
            }
            Expr::ArrayLength(id) => (Op::Length(*id), vec![]),
            Expr::Builtin(builtin) => (Op::Builtin(*builtin), vec![]),
            Expr::Unary(op, x) => (Op::Unary(*op), vec![*x]),
            Expr::Binary(op, a, b) => (Op::Binary(*op), vec![*a, *b]),
            Expr::Compare(op, a, b) => (Op::Compare(*op), vec![*a, *b]),
            Expr::Select {
                cond,
                accept,
                reject,
            } => (Op::Select, vec![*cond, *accept, *reject]),
            Expr::Convert(x) => (Op::Convert, vec![*x]),
            Expr::Bitcast(x) => (Op::Bitcast, vec![*x]),
            Expr::Math(op, args) => (Op::Math(*op), args.to_vec()),
        };
        let ty = self.program.value_type(value);
        let args: Args = operands.iter().map(|&x| self.operand(x)).collect();
        let term = self.terms.term(ty, op, args.clone());
        self.define(value, term);
        if let (Op::Binary(op), [a, b]) = (op, &args[..])
            && ty.is_int()
            && self.is_last
        {
            self.note_operation(value, ty, op, [*a, *b]);
        }
        if let (Op::Convert, [x]) = (op, &args[..])
            && self.terms.ty(*x) == Scalar::I32
            && self.is_last
            && self.terms.interval(*x).lo >= 0
        {
            self.found.natural.insert(value);
        }
        if let (Op::Binary(BinaryOp::And), [a, b], Scalar::Bool) = (op, &operands[..], ty) {
            self.sides.insert(value, (*a, *b));
        }
    }

    fn note_operation(&mut self, value: ValueId, ty: Scalar, op: BinaryOp, args: [TermId; 2]) {
        let [a, b] = args.map(|x| self.terms.interval(x));
        let all = interval::of_type(ty);
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let exact = match op {
                    BinaryOp::Add => (a.lo + b.lo, a.hi + b.hi),
                    _ => (a.lo - b.hi, a.hi - b.lo),
                };
                if Interval::new(exact.0, exact.1).is_within(all)
                    || op == BinaryOp::Sub && !ty.is_signed() && self.terms.is_not_below(args)
                {
                    self.found.exact.insert(value);
                }
            }
            BinaryOp::Div | BinaryOp::Rem => {
                let overflows = ty.is_signed() && a.has(all.lo) && b.has(-1);
                if !b.has(0) && !overflows {
                    self.found.plain.insert(value);
                }
            }
            _ => {}
        }
    }

    /// Nobody writes it while the program runs: bindings that a program writes overlap no others.
    fn is_read_only(&self, region: Region) -> bool {
        match region {
            Region::Buffer(id) => {
                let buffer = self.program.buffer(id);
                buffer.space == BufferSpace::Uniform || buffer.access == BufferAccess::Read
            }
            Region::Immediates | Region::Constant(_) => true,
            Region::Workgroup(_) | Region::Private(_) => false,
        }
    }

    fn load(&mut self, values: &[ValueId], access: &Access) {
        if !self.is_read_only(access.region) {
            values.iter().for_each(|&value| self.unknown(value));
            return;
        }
        let args: Args = (access.index.iter().chain(&access.guard))
            .map(|&x| self.operand(x))
            .collect();
        for (&value, lane) in values.iter().zip(0u64..) {
            let at = access.offset + lane * u64::from(access.scalar.size());
            // An index alone and a guard alone are of different types, so that they are not confused.
            let op = Op::Load(access.region, at);
            let term = self.terms.term(access.scalar, op, args.clone());
            self.define(value, term);
        }
    }

    fn access(&mut self, access: &'p Access) {
        if let (Some(guard), true) = (access.guard, self.is_last) {
            let rest = self.rest(guard, 64);
            if rest != Some(guard) {
                self.found.guards.insert(std::ptr::from_ref(access), rest);
            }
        }
    }

    /// What of a guard is not proven here.
    fn rest(&mut self, guard: Operand, depth: u32) -> Option<Operand> {
        let term = self.operand(guard);
        if self.terms.holds(term) {
            return None;
        }
        if let (Operand::Value(id), true) = (guard, depth > 0)
            && let Some(&(a, b)) = self.sides.get(&id)
        {
            match (self.rest(a, depth - 1), self.rest(b, depth - 1)) {
                (None, rest) | (rest, None) => return rest,
                _ => {}
            }
        }
        Some(guard)
    }

    pub fn assign(&mut self, local: LocalId, term: TermId) {
        let before = std::mem::replace(&mut self.locals[local.index()], term);
        self.log.push((local, before));
    }

    /// Goes back to what locals held and what was known at the marks.
    pub fn undo(&mut self, (facts, assigned): (usize, usize)) {
        self.terms.forget(facts);
        for (local, before) in self.log.drain(assigned..).rev() {
            self.locals[local.index()] = before;
        }
    }

    pub fn marks(&self) -> (usize, usize) {
        (self.terms.mark(), self.log.len())
    }

    /// Walks an arm of a branch and goes back to before it.
    fn arm(&mut self, body: &'p Body, assume: impl FnOnce(&mut Self)) -> Arm {
        let marks = self.marks();
        assume(self);
        let is_reached = self.body(body);
        let arm = is_reached.then(|| {
            let assigned: Vec<LocalId> = self.log[marks.1..].iter().map(|entry| entry.0).collect();
            let mut held = BTreeMap::new();
            for local in assigned {
                let term = self.locals[local.index()];
                let interval = self.terms.interval(term);
                held.insert(local, (term, interval));
            }
            held
        });
        self.undo(marks);
        arm
    }

    fn branch(&mut self, cond: Operand, accept: &'p Body, reject: &'p Body) -> bool {
        let cond = self.operand(cond);
        let yes = self.arm(accept, |walk| walk.terms.assume(cond, true));
        let no = self.arm(reject, |walk| walk.terms.assume(cond, false));
        match (yes, no) {
            (None, None) => return false,
            (Some(arm), None) => {
                self.terms.assume(cond, true);
                self.go_on(arm);
            }
            (None, Some(arm)) => {
                self.terms.assume(cond, false);
                self.go_on(arm);
            }
            (Some(yes), Some(no)) => self.meet(Some(cond), vec![yes, no]),
        }
        true
    }

    /// Goes on behind the only arm that leads there.
    fn go_on(&mut self, arm: BTreeMap<LocalId, (TermId, Interval)>) {
        for (local, (term, interval)) in arm {
            self.assign(local, term);
            self.terms.narrow(term, interval);
        }
    }

    /// Goes on where arms meet: with a condition, the first is where it holds.
    fn meet(&mut self, cond: Option<TermId>, arms: Vec<BTreeMap<LocalId, (TermId, Interval)>>) {
        let mut assigned: Vec<LocalId> = arms.iter().flat_map(|arm| arm.keys().copied()).collect();
        assigned.sort_unstable();
        assigned.dedup();
        for local in assigned {
            self.terms.spent += arms.len() as u64;
            let held: Vec<(TermId, Interval)> = (arms.iter().enumerate())
                .map(|(i, arm)| match arm.get(&local) {
                    Some(&held) => held,
                    None => self.kept(local, cond.map(|cond| (cond, i == 0))),
                })
                .collect();
            let term = match (cond, &held[..]) {
                (Some(cond), &[(yes, _), (no, _)])
                    if yes != no && self.terms.ty(yes) == Scalar::Bool =>
                {
                    self.either(cond, yes, no)
                }
                _ => {
                    let brought = held.iter().skip(1).fold(
                        Brought {
                            term: Some(held[0].0),
                            interval: held[0].1,
                        },
                        |all, &(term, interval)| all.with(term, interval),
                    );
                    self.brought(local, brought)
                }
            };
            self.assign(local, term);
        }
    }

    /// What a local holds that an arm did not assign, of which the arm's condition may say something.
    fn kept(&mut self, local: LocalId, cond: Option<(TermId, bool)>) -> (TermId, Interval) {
        let term = self.locals[local.index()];
        let mark = self.terms.mark();
        if let (Some((cond, holds)), true) = (cond, self.terms.ty(term).is_int()) {
            self.terms.assume(cond, holds);
        }
        let interval = self.terms.interval(term);
        self.terms.forget(mark);
        (term, interval)
    }

    /// What a bool local holds behind `if cond { local = yes } else { local = no }`: `&&` and `||` are
    /// written so.
    fn either(&mut self, cond: TermId, yes: TermId, no: TermId) -> TermId {
        let mut bool_term = |op: Op, args: &[TermId]| {
            (self.terms).term(Scalar::Bool, op, args.iter().copied().collect())
        };
        let [never, always] = [0, 1].map(|bits| bool_term(Op::Const(bits), &[]));
        let and = Op::Binary(BinaryOp::And);
        let or = Op::Binary(BinaryOp::Or);
        let not = Op::Unary(crate::ir::UnaryOp::Not);
        if no == never {
            bool_term(and, &[cond, yes])
        } else if yes == always {
            bool_term(or, &[cond, no])
        } else if yes == never {
            let otherwise = bool_term(not, &[cond]);
            bool_term(and, &[otherwise, no])
        } else if no == always {
            let otherwise = bool_term(not, &[cond]);
            bool_term(or, &[otherwise, yes])
        } else {
            (self.terms).opaque(Scalar::Bool, interval::of_type(Scalar::Bool))
        }
    }

    /// The term for what paths bring.
    pub fn brought(&mut self, local: LocalId, brought: Brought) -> TermId {
        match brought.term {
            Some(term) => {
                self.terms.narrow(term, brought.interval);
                term
            }
            None => {
                let ty = self.program.local_type(local);
                self.terms.opaque(ty, brought.interval)
            }
        }
    }

    fn switch(&mut self, selector: Operand, cases: &'p [Case], default: &'p Body) -> bool {
        let selector = self.operand(selector);
        let mut arms = Vec::new();
        for case in cases {
            let numbers = case.values.iter().map(|&c| interval::number(c));
            let hull = numbers.map(Interval::one).reduce(Interval::join);
            let arm = self.arm(&case.body, |walk| {
                if let Some(hull) = hull {
                    walk.terms.narrow(selector, hull);
                }
            });
            arms.extend(arm);
        }
        arms.extend(self.arm(default, |_| {}));
        if arms.is_empty() {
            return false;
        }
        self.meet(None, arms);
        true
    }
}

impl Brought {
    pub fn with(self, term: TermId, interval: Interval) -> Brought {
        Brought {
            term: self.term.filter(|&own| own == term),
            interval: self.interval.join(interval),
        }
    }
}
