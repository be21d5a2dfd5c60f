//! Built-in functions. What WGSL leaves inexact is computed in f64 and rounded.

use super::float::{Format, from_f64, to_f64};
use super::ops::{int, mask};
use vyre::ir::{MathOp, Scalar};

/// `ty` is the first operand's type.
pub fn math(op: MathOp, ty: Scalar, args: &[u64]) -> u64 {
    match op {
        MathOp::PackHalf => from_f64(Scalar::F16, to_f64(ty, args[0])),
        MathOp::UnpackHalf => from_f64(Scalar::F32, to_f64(Scalar::F16, args[0] & 0xffff)),
        _ if ty.is_float() => float(op, ty, args),
        _ => integer(op, ty, args),
    }
}

fn integer(op: MathOp, ty: Scalar, args: &[u64]) -> u64 {
    let x = args[0];
    let width = ty.bits();
    let value = int(ty, x);
    let result = match op {
        MathOp::Abs => value.unsigned_abs() as u64,
        MathOp::Min => value.min(int(ty, args[1])) as u64,
        MathOp::Max => value.max(int(ty, args[1])) as u64,
        MathOp::CountOneBits => u64::from(x.count_ones()),
        MathOp::CountLeadingZeros => u64::from(x.leading_zeros() - (64 - width)),
        MathOp::CountTrailingZeros => u64::from(x.trailing_zeros().min(width)),
        MathOp::ReverseBits => x.reverse_bits() >> (64 - width),
        _ => panic!("{op:?} does not take {ty}"),
    };
    mask(ty, result)
}

fn float(op: MathOp, ty: Scalar, args: &[u64]) -> u64 {
    let format = Format::of(ty);
    let bits = args[0];
    let x = to_f64(ty, bits);
    let y = || to_f64(ty, args[1]);
    let result = match op {
        MathOp::Abs => return format.abs(bits),
        MathOp::Min | MathOp::Max => return extreme(op == MathOp::Min, ty, bits, args[1]),
        MathOp::Fma => return fma(ty, args),
        MathOp::FrexpFract => return frexp(format, bits).0,
        MathOp::FrexpExp => return mask(Scalar::I32, i64::from(frexp(format, bits).1) as u64),
        MathOp::Ldexp => return ldexp(format, bits, (args[1] as u32).cast_signed()),
        MathOp::Sqrt => x.sqrt(),
        MathOp::Floor => x.floor(),
        MathOp::Ceil => x.ceil(),
        MathOp::Trunc => x.trunc(),
        MathOp::Round => x.round_ties_even(),
        MathOp::InverseSqrt => 1.0 / x.sqrt(),
        MathOp::Sin => x.sin(),
        MathOp::Cos => x.cos(),
        MathOp::Tan => x.tan(),
        MathOp::Asin => x.asin(),
        MathOp::Acos => x.acos(),
        MathOp::Atan => x.atan(),
        MathOp::Atan2 => x.atan2(y()),
        MathOp::Sinh => x.sinh(),
        MathOp::Cosh => x.cosh(),
        MathOp::Tanh => x.tanh(),
        MathOp::Asinh => x.asinh(),
        MathOp::Acosh => x.acosh(),
        MathOp::Atanh => x.atanh(),
        MathOp::Exp => x.exp(),
        MathOp::Exp2 => x.exp2(),
        MathOp::Log => x.ln(),
        MathOp::Log2 => x.log2(),
        MathOp::Pow => x.powf(y()),
        _ => panic!("{op:?} does not take {ty}"),
    };
    from_f64(ty, result)
}

fn extreme(smallest: bool, ty: Scalar, a: u64, b: u64) -> u64 {
    let format = Format::of(ty);
    if format.is_nan(a) {
        return b;
    }
    if format.is_nan(b) {
        return a;
    }
    // -0 before +0.
    let key = |bits| (to_f64(ty, bits), !format.is_negative(bits));
    match (key(a) <= key(b)) == smallest {
        true => a,
        false => b,
    }
}

fn fma(ty: Scalar, args: &[u64]) -> u64 {
    let [x, y, z] = [0, 1, 2].map(|i| to_f64(ty, args[i]));
    match ty {
        Scalar::F64 => x.mul_add(y, z).to_bits(),
        Scalar::F32 => u64::from((x as f32).mul_add(y as f32, z as f32).to_bits()),
        _ => {
            // In units of 2^-48 everything finite is an integer.
            let fixed = |v: f64, unit: i32| (v * f64::powi(2.0, unit)) as i128;
            if ![x, y, z].iter().all(|v| v.is_finite()) {
                return from_f64(ty, x * y + z);
            }
            let sum = fixed(x, 24) * fixed(y, 24) + (fixed(z, 24) << 24);
            match sum {
                // The sign of a zero sum is the float addition's own affair.
                0 => from_f64(ty, x * y + z),
                _ => Format::of(ty).round(sum < 0, sum.unsigned_abs(), -48),
            }
        }
    }
}

fn frexp(format: Format, bits: u64) -> (u64, i32) {
    if !format.is_finite(bits) || format.abs(bits) == 0 {
        return (bits, 0);
    }
    let (m, e) = format.parts(bits);
    let width = (64 - m.leading_zeros()) as i32;
    let fraction = format.round(format.is_negative(bits), u128::from(m), -width);
    (fraction, e + width)
}

fn ldexp(format: Format, bits: u64, by: i32) -> u64 {
    if !format.is_finite(bits) || format.abs(bits) == 0 {
        return bits;
    }
    let (m, e) = format.parts(bits);
    // Beyond this everything is zero or infinite anyway.
    let by = by.clamp(-10_000, 10_000);
    format.round(format.is_negative(bits), u128::from(m), e + by)
}
