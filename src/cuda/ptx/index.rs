//! What indices are made of: nearly all are a u32 times the size of an element.
//!
//! The u32 may be an exact sum with a constant, which can then stand in the instruction that accesses memory, so
//! that neighbours share an address. (That the sum does not wrap is proven where it is computed, and the access
//! stands behind it.)

use super::emitter::Emitter;
use super::text::Val;
use crate::ir::{BinaryOp, Expr, Operand, Scalar, ValueId};

/// A u32, widened.
#[derive(Clone, Copy)]
pub struct Narrow {
    pub whole: Val,
    /// The u32 and the constant that it is the sum of.
    part: Val,
    plus: i64,
}

/// A widened u32 times a constant.
#[derive(Clone, Copy)]
pub struct Scaled {
    pub narrow: Narrow,
    pub stride: u64,
}

impl Emitter<'_> {
    /// Behind the definition of a value.
    pub fn note_index(&mut self, value: ValueId, expr: &Expr) {
        let ty = self.program.value_type(value);
        match *expr {
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) if ty == Scalar::U32 => {
                self.note_sum(value, op, a, b);
            }
            Expr::Convert(Operand::Value(x)) if matches!(ty, Scalar::U64 | Scalar::I64) => {
                let is_u32 = match self.program.value_type(x) {
                    Scalar::U32 => true,
                    Scalar::I32 => self.ranges.is_natural(value),
                    _ => false,
                };
                if is_u32 {
                    let whole = self.operand(x.into());
                    let (part, plus) = self.sums.get(&x).copied().unwrap_or((whole, 0));
                    let narrow = Narrow { whole, part, plus };
                    self.narrow.insert(value, narrow);
                }
            }
            Expr::Bitcast(Operand::Value(x)) => {
                if let Some(&narrow) = self.narrow.get(&x) {
                    self.narrow.insert(value, narrow);
                }
            }
            Expr::Binary(BinaryOp::Mul, Operand::Value(a), Operand::Const(b))
                if ty == Scalar::U64 && u32::try_from(b.bits).is_ok() =>
            {
                if let Some(&narrow) = self.narrow.get(&a) {
                    let stride = b.bits;
                    self.scaled.insert(value, Scaled { narrow, stride });
                }
            }
            _ => {}
        }
    }

    fn note_sum(&mut self, value: ValueId, op: BinaryOp, a: Operand, b: Operand) {
        let (x, c) = match (op, a, b) {
            (_, Operand::Value(x), Operand::Const(c))
            | (BinaryOp::Add, Operand::Const(c), Operand::Value(x)) => (x, c),
            _ => return,
        };
        if !self.ranges.is_exact(value) {
            return;
        }
        let by = c.bits.cast_signed();
        let by = if op == BinaryOp::Add { by } else { -by };
        let (part, plus) = match self.sums.get(&x) {
            Some(&(part, plus)) => (part, plus + by),
            None => (self.operand(x.into()), by),
        };
        self.sums.insert(value, (part, plus));
    }

    /// The product of a widened u32 and a constant that fits one: a single instruction, and what
    /// most indices are made by.
    pub fn widening_product(
        &mut self,
        op: BinaryOp,
        ty: Scalar,
        a: Operand,
        b: Operand,
    ) -> Option<Val> {
        let (Operand::Value(a), Operand::Const(b)) = (a, b) else {
            return None;
        };
        if op != BinaryOp::Mul || ty != Scalar::U64 || u32::try_from(b.bits).is_err() {
            return None;
        }
        let whole = self.narrow.get(&a)?.whole;
        Some(self.op64("mul.wide.u32", &[whole, Val::Int(b.bits)]))
    }

    /// An index without the constant part of its u32, and that part in bytes; as long as the rest is aligned
    /// as well as the index.
    pub fn apart(&mut self, index: Operand) -> Option<(Val, i64)> {
        let Operand::Value(id) = index else {
            return None;
        };
        let &Scaled { narrow, stride } = self.scaled.get(&id)?;
        let bytes = narrow.plus.checked_mul(stride.cast_signed())?;
        let is_small = bytes.unsigned_abs() < 1 << 24;
        let is_aligned = stride.trailing_zeros() >= self.known_zeros(index).min(4);
        if narrow.plus == 0 || !is_small || !is_aligned {
            return None;
        }
        let rest = self.op64("mul.wide.u32", &[narrow.part, Val::Int(stride)]);
        Some((rest, bytes))
    }
}
