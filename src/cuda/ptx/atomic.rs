//! Atomics: relaxed, of the scope of those who can see the memory.

use super::emitter::Emitter;
use super::memory::When;
use super::text::{Class, Reg, Val};
use crate::ir::{Access, AtomicOp, Const, Operand, Scalar, ValueId};

/// The operands and results of one atomic.
pub struct Atomic<'a> {
    pub op: AtomicOp,
    pub access: &'a Access,
    pub value: Option<Operand>,
    pub compare: Option<Operand>,
    pub result: Option<ValueId>,
    pub exchanged: Option<ValueId>,
}

impl Emitter<'_> {
    pub fn atomic(&mut self, atomic: &Atomic<'_>) {
        let scalar = atomic.access.scalar;
        let when = self.when(atomic.access);
        if when == When::Never {
            for (id, ty) in [(atomic.result, scalar), (atomic.exchanged, Scalar::Bool)] {
                if let Some(id) = id {
                    let zero = self.constant(Const::zero(ty));
                    self.define(id, zero);
                }
            }
            return;
        }
        let place = self.target(atomic.access);
        let scope = if place.space == "shared" {
            "cta"
        } else {
            "gpu"
        };
        let scoped = format!("relaxed.{scope}.{}", place.space);
        let (address, guard) = (place.address(0), when.prefix());
        let bits = scalar.bits();
        let value = atomic.value.map(|value| self.in_register(value));
        let old = match (atomic.op, value) {
            (AtomicOp::Load, _) => {
                let old = self.result(scalar, when);
                self.put(format_args!("{guard}ld.{scoped}.b{bits} {old}, {address}"));
                old
            }
            (AtomicOp::Store, Some(value)) => {
                self.put(format_args!(
                    "{guard}st.{scoped}.b{bits} {address}, {value}"
                ));
                return;
            }
            (AtomicOp::CompareExchange, Some(value)) => {
                let expected = atomic.compare.expect("validated: it has an expected value");
                let expected = self.in_register(expected);
                let old = self.result(scalar, when);
                self.put(format_args!(
                    "{guard}atom.{scoped}.cas.b{bits} {old}, {address}, {expected}, {value}"
                ));
                if let Some(id) = atomic.exchanged {
                    let equal = format!("setp.eq.b{bits}");
                    let mut stored = self.pred(&equal, &[old.into(), expected.into()]);
                    if let When::If(cond) = when {
                        stored = self.pred("and.pred", &[stored, cond]);
                    }
                    self.define(id, stored);
                }
                old
            }
            (op, Some(value)) => {
                let value = match op {
                    // There is no atomic subtraction; the sum with the negative wraps to the same.
                    AtomicOp::Sub => {
                        let opcode = format!("neg.s{bits}");
                        self.op(Class::of(scalar), &opcode, &[value.into()])
                    }
                    _ => value,
                };
                let name = name(op, scalar);
                if atomic.result.is_none() && op != AtomicOp::Exchange {
                    self.put(format_args!(
                        "{guard}red.{scoped}.{name} {address}, {value}"
                    ));
                    return;
                }
                let old = self.result(scalar, when);
                self.put(format_args!(
                    "{guard}atom.{scoped}.{name} {old}, {address}, {value}"
                ));
                old
            }
            (_, None) => unreachable!("validated: this atomic has an operand"),
        };
        if let Some(id) = atomic.result {
            self.define(id, old.into());
        }
    }

    /// A register for the old value; zero already if the access may not happen.
    fn result(&mut self, scalar: Scalar, when: When) -> Reg {
        let reg = self.reg(Class::of(scalar));
        if let When::If(_) = when {
            self.mov(reg, Val::Int(0));
        }
        reg
    }
}

fn name(op: AtomicOp, scalar: Scalar) -> String {
    let bits = scalar.bits();
    let sign = if scalar.is_signed() { 's' } else { 'u' };
    match op {
        AtomicOp::Add | AtomicOp::Sub => format!("add.u{bits}"),
        AtomicOp::And => format!("and.b{bits}"),
        AtomicOp::Or => format!("or.b{bits}"),
        AtomicOp::Xor => format!("xor.b{bits}"),
        AtomicOp::Min => format!("min.{sign}{bits}"),
        AtomicOp::Max => format!("max.{sign}{bits}"),
        AtomicOp::Exchange => format!("exch.b{bits}"),
        AtomicOp::Load | AtomicOp::Store | AtomicOp::CompareExchange => {
            unreachable!("these have instructions of another form")
        }
    }
}
