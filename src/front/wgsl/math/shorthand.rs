//! Short names for what formulas are made of.

use crate::front::build::Builder;
use crate::ir::{BinaryOp, MathOp, Operand};

pub fn add(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    b.binary(BinaryOp::Add, x, y)
}

pub fn sub(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    b.binary(BinaryOp::Sub, x, y)
}

pub fn mul(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    b.binary(BinaryOp::Mul, x, y)
}

pub fn div(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    b.binary(BinaryOp::Div, x, y)
}

pub fn min(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    let ty = b.ty(x);
    b.math(MathOp::Min, ty, &[x, y])
}

pub fn max(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    let ty = b.ty(x);
    b.math(MathOp::Max, ty, &[x, y])
}

/// A function of one operand that gives the operand's type.
pub fn apply(b: &mut Builder, op: MathOp, x: Operand) -> Operand {
    let ty = b.ty(x);
    b.math(op, ty, &[x])
}
