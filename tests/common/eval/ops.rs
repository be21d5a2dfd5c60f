//! Unary and binary operations, comparisons and conversions.

use super::float::{Format, from_f64, to_f64};
use vyre::ir::{BinaryOp, CompareOp, Scalar, UnaryOp};

/// The low bits that a type keeps.
pub fn mask(ty: Scalar, bits: u64) -> u64 {
    match ty.bits() {
        64 => bits,
        width => bits & ((1 << width) - 1),
    }
}

/// An integer's value; bool counts as unsigned.
pub fn int(ty: Scalar, bits: u64) -> i128 {
    match ty {
        Scalar::I32 => i128::from((bits as u32).cast_signed()),
        Scalar::I64 => i128::from(bits.cast_signed()),
        _ => i128::from(bits),
    }
}

pub fn unary(op: UnaryOp, ty: Scalar, x: u64) -> u64 {
    match op {
        UnaryOp::Neg if ty.is_float() => Format::of(ty).neg(x),
        UnaryOp::Neg => mask(ty, x.wrapping_neg()),
        UnaryOp::Not => mask(ty, !x),
    }
}

pub fn binary(op: BinaryOp, ty: Scalar, a: u64, b: u64) -> u64 {
    if ty.is_float() {
        return float_binary(op, ty, a, b);
    }
    let (x, y) = (int(ty, a), int(ty, b));
    let overflows = ty.is_signed() && y == -1 && x == -(1 << (ty.bits() - 1));
    let result = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if y == 0 || overflows => a,
        BinaryOp::Rem if y == 0 || overflows => 0,
        BinaryOp::Div => (x / y) as u64,
        BinaryOp::Rem => (x % y) as u64,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << (b % u64::from(ty.bits())),
        BinaryOp::Shr => (x >> (b % u64::from(ty.bits()))) as u64,
    };
    mask(ty, result)
}

fn float_binary(op: BinaryOp, ty: Scalar, a: u64, b: u64) -> u64 {
    if op == BinaryOp::Rem {
        let quotient = to_f64(ty, float_binary(BinaryOp::Div, ty, a, b)).trunc();
        let product = float_binary(BinaryOp::Mul, ty, b, from_f64(ty, quotient));
        return float_binary(BinaryOp::Sub, ty, a, product);
    }
    // f64 is wide enough that rounding its result to f32 or f16 equals rounding once.
    let (x, y) = (to_f64(ty, a), to_f64(ty, b));
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        _ => panic!("{op:?} does not take {ty}"),
    };
    from_f64(ty, result)
}

pub fn compare(op: CompareOp, ty: Scalar, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match ty.is_float() {
        true => to_f64(ty, a).partial_cmp(&to_f64(ty, b)),
        false => Some(int(ty, a).cmp(&int(ty, b))),
    };
    match op {
        CompareOp::Eq => order == Some(Equal),
        CompareOp::Ne => order != Some(Equal),
        CompareOp::Lt => order == Some(Less),
        CompareOp::Le => matches!(order, Some(Less | Equal)),
        CompareOp::Gt => order == Some(Greater),
        CompareOp::Ge => matches!(order, Some(Greater | Equal)),
    }
}

pub fn convert(from: Scalar, to: Scalar, x: u64) -> u64 {
    match (from.is_float(), to) {
        (true, Scalar::Bool) => u64::from(to_f64(from, x) != 0.0),
        (false, Scalar::Bool) => u64::from(x != 0),
        (true, Scalar::I32) => mask(to, (to_f64(from, x) as i32) as u64),
        (true, Scalar::U32) => u64::from(to_f64(from, x) as u32),
        (true, Scalar::I64) => (to_f64(from, x) as i64) as u64,
        (true, Scalar::U64) => to_f64(from, x) as u64,
        (true, _) if from == to => x,
        (true, _) => from_f64(to, to_f64(from, x)),
        (false, _) if !to.is_float() => mask(to, int(from, x) as u64),
        (false, _) => {
            let value = int(from, x);
            Format::of(to).round(value < 0, value.unsigned_abs(), 0)
        }
    }
}
