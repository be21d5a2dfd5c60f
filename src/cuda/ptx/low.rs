//! The low halves of byte indices: shared memory is addressed by 32 bits.

use super::emitter::Emitter;
use super::text::Val;
use crate::ir::{BinaryOp, Expr, Operand, Scalar, ValueId};

/// Definitions that an index is followed through.
const DEEPEST: u32 = 8;

impl Emitter<'_> {
    /// Notes how an index is made, if its low half can be made from low halves.
    pub fn note_low(&mut self, value: ValueId, expr: &Expr) {
        let is_index = match *expr {
            Expr::Convert(x) => self.program.operand_type(x) == Scalar::U32,
            Expr::Binary(op, ..) => {
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            }
            _ => false,
        };
        if is_index && self.program.value_type(value) == Scalar::U64 {
            self.lows.insert(value, expr.clone());
        }
    }

    /// An index, wrapped to 32 bits. It is computed in 32 bits, where the assembler sees that the places of
    /// consecutive elements differ by a constant; of a wide product it does not.
    pub fn low_half(&mut self, index: Operand) -> Val {
        self.low(index, DEEPEST)
    }

    fn low(&mut self, index: Operand, depth: u32) -> Val {
        let id = match index {
            Operand::Const(c) => return Val::Int(c.bits & 0xffff_ffff),
            Operand::Value(id) => id,
        };
        match self.lows.get(&id).filter(|_| depth > 0).cloned() {
            Some(Expr::Convert(x)) => self.operand(x),
            Some(Expr::Binary(op, a, b)) => {
                let (a, b) = (self.low(a, depth - 1), self.low(b, depth - 1));
                match (op, b) {
                    (BinaryOp::Mul, Val::Int(by)) if by.is_power_of_two() => {
                        let by = Val::Int(by.trailing_zeros().into());
                        self.op32("shl.b32", &[a, by])
                    }
                    (BinaryOp::Mul, _) => self.op32("mul.lo.u32", &[a, b]),
                    (BinaryOp::Sub, _) => self.op32("sub.u32", &[a, b]),
                    _ => self.op32("add.u32", &[a, b]),
                }
            }
            _ => {
                let wide = self.operand(index);
                self.op32("cvt.u32.u64", &[wide])
            }
        }
    }
}
