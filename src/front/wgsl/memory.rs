//! Loads, stores, copies and zeroing through pointers.

use smallvec::SmallVec;

use super::lower::{BIG, Lower};
use super::pointer::{Place, Pointer, Spread};
use super::types::{Shape, Ty};
use super::value::{Components, Value};
use crate::ir::{Access, BinaryOp, CompareOp, Const, Memory, MemoryId, Operand, Region, Scalar};

/// Consecutive scalars of one type that one node moves.
struct Run {
    offset: u64,
    scalar: Scalar,
    count: usize,
}

/// Cuts scalars into the widest runs of 4, 2 or 1.
fn runs(leaves: &[(u64, Scalar)]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = leaves;
    while let [(offset, scalar), ..] = *rest {
        let width = u64::from(scalar.size());
        let contiguous = rest
            .iter()
            .zip(0u64..4)
            .take_while(|&(&(at, ty), i)| ty == scalar && at == offset + i * width)
            .count();
        let count = if contiguous == 3 { 2 } else { contiguous };
        runs.push(Run {
            offset,
            scalar,
            count,
        });
        rest = &rest[count..];
    }
    runs
}

/// False for a place that is always out of bounds.
fn is_reachable(place: &Place) -> bool {
    place.guard != Some(Const::bool(false).into())
}

fn access(place: &Place, offset: u64, scalar: Scalar) -> Access {
    Access {
        region: place.region,
        index: place.index,
        offset: place.offset + offset,
        guard: place.guard,
        scalar,
    }
}

impl Lower<'_> {
    pub fn load(&mut self, pointer: &Pointer) -> Value {
        match pointer {
            Pointer::Memory(place) => self.load_place(place),
            Pointer::Locals(spread) => Value::Scalars(self.load_locals(spread)),
        }
    }

    pub fn load_place(&mut self, place: &Place) -> Value {
        if !is_reachable(place) {
            return Value::zero(&place.ty);
        }
        if place.ty.scalars <= BIG {
            return Value::Scalars(self.load_scalars(place));
        }
        // Nothing can change what it reads later, so the place stands for its value.
        if self.is_immutable(place.region) {
            return Value::Memory(place.clone());
        }
        let snapshot = self.temporary(&place.ty);
        self.copy(&snapshot, place);
        Value::Memory(snapshot)
    }

    fn load_scalars(&mut self, place: &Place) -> Components {
        let leaves = place.ty.leaves();
        let mut scalars = Components::new();
        for run in runs(&leaves) {
            let access = access(place, run.offset, run.scalar);
            scalars.extend(self.b.load(access, run.count));
        }
        scalars
    }

    fn load_locals(&mut self, spread: &Spread) -> Components {
        let leaves = spread.ty.leaves();
        let mut scalars = Components::new();
        for (i, &(_, scalar)) in leaves.iter().enumerate() {
            let mut value: Operand = Const::zero(scalar).into();
            for choice in &spread.choices {
                let here = self.b.read(spread.locals[choice.first + i]);
                value = match choice.cond {
                    Some(cond) => self.b.select(cond, here, value),
                    None => here,
                };
            }
            scalars.push(value);
        }
        scalars
    }

    pub fn store(&mut self, pointer: &Pointer, value: &Value) {
        match pointer {
            Pointer::Memory(place) => self.store_place(place, value),
            Pointer::Locals(spread) => {
                let scalars = value.scalars(&spread.ty);
                for (i, &new) in scalars.iter().enumerate() {
                    self.store_local(spread, i, new);
                }
            }
        }
    }

    fn store_local(&mut self, spread: &Spread, i: usize, new: Operand) {
        for choice in &spread.choices {
            let local = spread.locals[choice.first + i];
            let value = match choice.cond {
                Some(cond) => {
                    let old = self.b.read(local);
                    self.b.select(cond, new, old)
                }
                None => new,
            };
            self.b.assign(local, value);
        }
    }

    pub fn store_place(&mut self, place: &Place, value: &Value) {
        if !is_reachable(place) {
            return;
        }
        match value {
            Value::Memory(source) => self.copy(place, source),
            Value::Zero => self.zero(place),
            // A whole array that starts anew: what it held before is known to be dead.
            Value::Scalars(scalars)
                if self.whole(place).is_some() && scalars.iter().all(is_zero) =>
            {
                self.zero(place);
            }
            Value::Scalars(scalars) => self.store_scalars(place, scalars),
            Value::Pointer(_) => unreachable!("naga stores no pointers"),
        }
    }

    fn store_scalars(&mut self, place: &Place, scalars: &[Operand]) {
        let leaves = place.ty.leaves();
        let mut rest = scalars;
        for run in runs(&leaves) {
            let (now, later) = rest.split_at(run.count);
            self.b.store(access(place, run.offset, run.scalar), now);
            rest = later;
        }
    }

    /// Where an atomic operation goes; `None` if it is always out of bounds.
    pub fn atomic_access(&mut self, place: &Place) -> Option<Access> {
        match place.ty.shape {
            Shape::Atomic(scalar) if is_reachable(place) => Some(access(place, 0, scalar)),
            _ => None,
        }
    }

    /// A private array that holds one value of a type.
    pub fn temporary(&mut self, ty: &Ty) -> Place {
        let memory = self.b.memory(Memory {
            name: String::new(),
            size: ty.size,
            align: ty.align,
            span: self.b.span(),
        });
        Place::whole(Region::Private(memory), ty.clone())
    }

    fn is_immutable(&self, region: Region) -> bool {
        match region {
            Region::Constant(_) | Region::Immediates => true,
            Region::Buffer(id) => self.is_read_only(id),
            Region::Workgroup(_) | Region::Private(_) => false,
        }
    }

    /// Copies a value between places of one type, in loops where it is big.
    fn copy(&mut self, to: &Place, from: &Place) {
        self.each_part(&to.clone(), &mut |lower, part| {
            let source = Place {
                region: from.region,
                index: lower.sum(from.index, part.index),
                offset: from.offset + part.offset,
                guard: from.guard,
                ty: part.ty.clone(),
            };
            let scalars = lower.load_scalars(&source);
            let target = Place {
                index: lower.sum(to.index, part.index),
                offset: to.offset + part.offset,
                ..to.at(0, part.ty.clone())
            };
            lower.store_scalars(&target, &scalars);
        });
    }

    /// The private array that the place is all of.
    fn whole(&self, place: &Place) -> Option<MemoryId> {
        match place.region {
            Region::Private(memory)
                if place.index.is_none()
                    && place.ty.size == self.b.private[memory.index()].size =>
            {
                Some(memory)
            }
            _ => None,
        }
    }

    fn zero(&mut self, place: &Place) {
        if let Some(memory) = self.whole(place) {
            self.b.clear(memory);
            return;
        }
        self.each_part(&place.clone(), &mut |lower, part| {
            let target = Place {
                index: lower.sum(place.index, part.index),
                offset: place.offset + part.offset,
                ..place.at(0, part.ty.clone())
            };
            let zeros: Components = part
                .ty
                .leaves()
                .iter()
                .map(|&(_, scalar)| Const::zero(scalar).into())
                .collect();
            lower.store_scalars(&target, &zeros);
        });
    }

    /// Calls `visit` with parts of at most `BIG` scalars that make up the type of `whole`; their
    /// index and offset count from its start.
    fn each_part(&mut self, whole: &Place, visit: &mut dyn FnMut(&mut Self, &Place)) {
        let start = Place {
            index: None,
            offset: 0,
            guard: None,
            ..whole.clone()
        };
        self.visit_parts(&start, visit);
    }

    fn visit_parts(&mut self, part: &Place, visit: &mut dyn FnMut(&mut Self, &Place)) {
        if self.b.is_exhausted() {
            return;
        }
        if part.ty.scalars <= BIG {
            visit(self, part);
            return;
        }
        let ty = part.ty.clone();
        match &ty.shape {
            Shape::Scalar(_) | Shape::Atomic(_) => unreachable!("one scalar is not big"),
            Shape::Struct(members) => {
                for (offset, member) in members {
                    self.visit_parts(&part.at(*offset, member.clone()), visit);
                }
            }
            Shape::Sequence(s) => {
                let (of, stride) = (s.of.clone(), s.stride);
                self.repeat(s.count.unwrap_or(1), &mut |lower, i| {
                    let bytes = lower.b.binary(BinaryOp::Mul, i, Const::u64(stride).into());
                    let mut element = part.at(0, of.clone());
                    element.index = lower.sum(part.index, Some(bytes));
                    lower.visit_parts(&element, visit);
                });
            }
        }
    }

    /// A loop over `0..count` as u64.
    fn repeat(&mut self, count: u32, body: &mut dyn FnMut(&mut Self, Operand)) {
        let counter = self.b.local(Scalar::U64, "");
        self.b.assign(counter, Const::u64(0).into());
        let label = self.b.label();
        self.b.open();
        let i = self.b.read(counter);
        let end = Const::u64(u64::from(count)).into();
        let done = self.b.compare(CompareOp::Ge, i, end);
        self.b.open();
        self.b.break_(label);
        let leave = self.b.close();
        self.b.branch(done, leave, Default::default());
        body(self, i);
        let turn = self.b.close();
        self.b.open();
        let i = self.b.read(counter);
        let next = self.b.binary(BinaryOp::Add, i, Const::u64(1).into());
        self.b.assign(counter, next);
        let continuing = self.b.close();
        self.b.loop_(label, turn, continuing);
    }

    fn sum(&mut self, a: Option<Operand>, b: Option<Operand>) -> Option<Operand> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.binary(BinaryOp::Add, a, b)),
            (one, other) => one.or(other),
        }
    }

    /// The old contents of a place of few scalars, or what a small value holds.
    pub fn small(&mut self, value: &Value, ty: &Ty) -> SmallVec<[Operand; 4]> {
        match value {
            Value::Memory(place) => self.load_scalars(&place.clone()),
            other => other.scalars(ty),
        }
    }
}

fn is_zero(operand: &Operand) -> bool {
    matches!(operand, Operand::Const(c) if c.bits == 0)
}
