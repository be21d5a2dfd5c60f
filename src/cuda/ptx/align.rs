//! By which powers of two values are divisible: an address may be reached as a vector only if it is a
//! multiple of the vector's size.

use super::emitter::Emitter;
use crate::ir::{BinaryOp, Expr, Operand, ValueId};

/// Nothing is ever asked beyond 16 bytes.
const ENOUGH: u32 = 8;

impl Emitter<'_> {
    /// How many low bits of an integer are known to be zero. Wrapping keeps them.
    pub fn known_zeros(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Const(c) => c.bits.trailing_zeros().min(ENOUGH),
            Operand::Value(id) => self.zeros[id.index()],
        }
    }

    pub fn note_zeros(&mut self, value: ValueId, expr: &Expr) {
        if !self.program.value_type(value).is_int() {
            return;
        }
        let known = match *expr {
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or, a, b) => {
                self.known_zeros(a).min(self.known_zeros(b))
            }
            Expr::Binary(BinaryOp::And, a, b) => self.known_zeros(a).max(self.known_zeros(b)),
            Expr::Binary(BinaryOp::Mul, a, b) => self.known_zeros(a) + self.known_zeros(b),
            Expr::Binary(BinaryOp::Shl, a, Operand::Const(count)) => {
                let width = u64::from(self.program.value_type(value).bits());
                self.known_zeros(a) + (count.bits % width) as u32
            }
            Expr::Convert(x) | Expr::Bitcast(x) if self.program.operand_type(x).is_int() => {
                self.known_zeros(x)
            }
            _ => 0,
        };
        self.zeros[value.index()] = known.min(ENOUGH);
    }
}
