//! Types of computations.

use super::{Check, Validator};
use crate::ir::{BinaryOp, CompareOp, Expr, MathOp, Operand, Scalar, UnaryOp};

impl Validator<'_> {
    /// Checks that `expr` may define a value of type `ty`.
    pub(super) fn expr(&self, expr: &Expr, ty: Scalar) -> Check {
        match expr {
            Expr::Local(local) => match self.program.locals.get(local.index()) {
                None => Err(format!("there is no local {}", local.0)),
                Some(decl) => result(decl.ty, ty),
            },
            Expr::Builtin(_) => result(Scalar::U32, ty),
            Expr::ArrayLength(buffer) => match self.program.buffers.get(buffer.index()) {
                Some(decl) if decl.runtime.is_some() => result(Scalar::U32, ty),
                Some(decl) => Err(format!("`{}` ends in no runtime-sized array", decl.name)),
                None => Err(format!("there is no buffer {}", buffer.0)),
            },
            Expr::Unary(op, x) => {
                self.expect(*x, ty, "the operand")?;
                let fits = match op {
                    UnaryOp::Neg => ty != Scalar::Bool,
                    UnaryOp::Not => !ty.is_float(),
                };
                takes(fits, op, ty)
            }
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b, ty),
            Expr::Compare(op, a, b) => {
                let of = self.operand(*a)?;
                self.expect(*b, of, "the right operand")?;
                let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
                takes(!ordered || of != Scalar::Bool, op, of)?;
                result(Scalar::Bool, ty)
            }
            Expr::Select {
                cond,
                accept,
                reject,
            } => {
                self.expect(*cond, Scalar::Bool, "the condition")?;
                self.expect(*accept, ty, "the accepted operand")?;
                self.expect(*reject, ty, "the rejected operand")
            }
            Expr::Convert(x) => self.operand(*x).map(|_| ()),
            Expr::Bitcast(x) => {
                let from = self.operand(*x)?;
                let fits = from.bits() == ty.bits();
                fits.then_some(())
                    .ok_or_else(|| format!("{from} has not as many bits as {ty}"))
            }
            Expr::Math(op, operands) => self.math(*op, operands, ty),
        }
    }

    fn binary(&self, op: BinaryOp, a: Operand, b: Operand, ty: Scalar) -> Check {
        self.expect(a, ty, "the left operand")?;
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let right = if is_shift { Scalar::U32 } else { ty };
        self.expect(b, right, "the right operand")?;
        let fits = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                ty != Scalar::Bool
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !ty.is_float(),
            BinaryOp::Shl | BinaryOp::Shr => ty.is_int(),
        };
        takes(fits, &op, ty)
    }

    fn math(&self, op: MathOp, operands: &[Operand], ty: Scalar) -> Check {
        let arity = match op {
            MathOp::Min | MathOp::Max | MathOp::Ldexp | MathOp::Atan2 | MathOp::Pow => 2,
            MathOp::Fma => 3,
            _ => 1,
        };
        if operands.len() != arity {
            return Err(format!(
                "{op:?} has {} operands, expected {arity}",
                operands.len()
            ));
        }
        let first = self.operand(operands[0])?;
        match op {
            MathOp::PackHalf => {
                takes(first == Scalar::F32, &op, first)?;
                return result(Scalar::U32, ty);
            }
            MathOp::UnpackHalf => {
                takes(first == Scalar::U32, &op, first)?;
                return result(Scalar::F32, ty);
            }
            MathOp::FrexpExp => {
                takes(first.is_float(), &op, first)?;
                return result(Scalar::I32, ty);
            }
            MathOp::Ldexp => self.expect(operands[1], Scalar::I32, "the exponent")?,
            _ => {
                for &operand in operands {
                    self.expect(operand, ty, "the operand")?;
                }
            }
        }
        result(first, ty)?;
        let fits = match op {
            MathOp::Abs | MathOp::Min | MathOp::Max => ty != Scalar::Bool,
            MathOp::CountOneBits
            | MathOp::CountLeadingZeros
            | MathOp::CountTrailingZeros
            | MathOp::ReverseBits => ty.is_int(),
            _ => ty.is_float(),
        };
        takes(fits, &op, ty)
    }
}

fn result(found: Scalar, expected: Scalar) -> Check {
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "the result is {found}, the value it defines {expected}"
    ))
}

fn takes(fits: bool, op: &dyn std::fmt::Debug, ty: Scalar) -> Check {
    fits.then_some(())
        .ok_or_else(|| format!("{op:?} does not take {ty}"))
}
