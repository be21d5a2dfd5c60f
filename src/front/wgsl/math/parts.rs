//! Functions that take a number apart: its sign, its whole and its fraction, its exponent.

use super::shorthand::{apply, sub};
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{CompareOp, MathOp, Operand, Scalar};

/// Neither positive nor negative is the number itself: a zero, or NaN.
pub fn sign(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
    let above = b.compare(CompareOp::Gt, x, zero);
    if !ty.is_float() && !ty.is_signed() {
        return b.select(above, one, zero);
    }
    let minus = b.constant(ty, -1.0);
    let below = b.compare(CompareOp::Lt, x, zero);
    let rest = b.select(below, minus, x);
    b.select(above, one, rest)
}

/// In [0, 1), for negative numbers too.
pub fn fract(b: &mut Builder, x: Operand) -> Operand {
    let floor = apply(b, MathOp::Floor, x);
    sub(b, x, floor)
}

/// The members of the result: the fractions, then the wholes.
pub fn modf(b: &mut Builder, x: &Components) -> Components {
    let wholes: Components = x.iter().map(|&x| apply(b, MathOp::Trunc, x)).collect();
    let fractions: Components = x.iter().zip(&wholes).map(|(&x, &w)| sub(b, x, w)).collect();
    fractions.into_iter().chain(wholes).collect()
}

/// The members of the result: the fractions, then the exponents.
pub fn frexp(b: &mut Builder, x: &Components) -> Components {
    let fractions: Components = x.iter().map(|&x| apply(b, MathOp::FrexpFract, x)).collect();
    let exponents: Components = x
        .iter()
        .map(|&x| {
            let exponent = b.math(MathOp::FrexpExp, Scalar::I32, &[x]);
            // naga types the exponent as wide as the number.
            match b.ty(x) {
                Scalar::F64 => b.convert(Scalar::I64, exponent),
                _ => exponent,
            }
        })
        .collect();
    fractions.into_iter().chain(exponents).collect()
}

/// Through binary16 and back.
pub fn quantize(b: &mut Builder, x: Operand) -> Operand {
    let half = b.math(MathOp::PackHalf, Scalar::U32, &[x]);
    b.math(MathOp::UnpackHalf, Scalar::F32, &[half])
}
