//! Several small numbers in one u32, the first in the lowest bits.

use super::functions::clamp;
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{BinaryOp, Const, MathOp, Operand, Scalar};

fn u32(value: u32) -> Operand {
    Const::u32(value).into()
}

/// The low `bits` of each u32, one above the other.
fn join(b: &mut Builder, parts: &[Operand], bits: u32) -> Operand {
    let mask = u32(u32::MAX >> (32 - bits));
    let mut joined = u32(0);
    for (&part, i) in parts.iter().zip(0..) {
        let low = b.binary(BinaryOp::And, part, mask);
        let moved = b.binary(BinaryOp::Shl, low, u32(i * bits));
        joined = b.binary(BinaryOp::Or, joined, moved);
    }
    joined
}

/// The u32 cut into fields of `bits`.
fn fields(b: &mut Builder, x: Operand, (count, bits): (u32, u32)) -> Components {
    let mask = u32(u32::MAX >> (32 - bits));
    (0..count)
        .map(|i| {
            let moved = b.binary(BinaryOp::Shr, x, u32(i * bits));
            b.binary(BinaryOp::And, moved, mask)
        })
        .collect()
}

/// The same with their signs, as i32.
fn fields_signed(b: &mut Builder, x: Operand, (count, bits): (u32, u32)) -> Components {
    (0..count)
        .map(|i| {
            let top = b.binary(BinaryOp::Shl, x, u32(32 - bits - i * bits));
            let top = b.bitcast(Scalar::I32, top);
            b.binary(BinaryOp::Shr, top, u32(32 - bits))
        })
        .collect()
}

pub fn bytes(b: &mut Builder, x: Operand) -> Components {
    fields(b, x, (4, 8))
}

pub fn bytes_signed(b: &mut Builder, x: Operand) -> Components {
    fields_signed(b, x, (4, 8))
}

/// The sum of the products of four bytes.
pub fn dot(
    b: &mut Builder,
    x: Operand,
    y: Operand,
    cut: impl Fn(&mut Builder, Operand) -> Components,
) -> Operand {
    let (x, y) = (cut(b, x), cut(b, y));
    super::geometry::dot(b, &x, &y)
}

/// `floor(0.5 + largest * clamp(x, low, 1))` of each.
pub fn norm(b: &mut Builder, x: &[Operand], bits: u32, largest: f64, low: f64) -> Operand {
    let [low, one, half, largest] =
        [low, 1.0, 0.5, largest].map(|value| b.constant(Scalar::F32, value));
    let parts: Components = x
        .iter()
        .map(|&x| {
            let inside = clamp(b, x, low, one);
            let scaled = b.binary(BinaryOp::Mul, largest, inside);
            let up = b.binary(BinaryOp::Add, half, scaled);
            let whole = b.math(MathOp::Floor, Scalar::F32, &[up]);
            let signed = b.convert(Scalar::I32, whole);
            b.bitcast(Scalar::U32, signed)
        })
        .collect();
    join(b, &parts, bits)
}

pub fn unpack_norm(b: &mut Builder, x: Operand, cut: (u32, u32), signed: bool) -> Components {
    let parts = if signed {
        fields_signed(b, x, cut)
    } else {
        fields(b, x, cut)
    };
    let largest = u32::MAX >> (32 - cut.1 + u32::from(signed));
    let largest = b.constant(Scalar::F32, f64::from(largest));
    let low = b.constant(Scalar::F32, -1.0);
    parts
        .into_iter()
        .map(|part| {
            let value = b.convert(Scalar::F32, part);
            let ratio = b.binary(BinaryOp::Div, value, largest);
            if signed {
                // The lowest number lies one beyond -1.
                b.math(MathOp::Max, Scalar::F32, &[ratio, low])
            } else {
                ratio
            }
        })
        .collect()
}

pub fn halves(b: &mut Builder, x: &[Operand]) -> Operand {
    let parts: Components = x
        .iter()
        .map(|&x| b.math(MathOp::PackHalf, Scalar::U32, &[x]))
        .collect();
    join(b, &parts, 16)
}

pub fn unpack_halves(b: &mut Builder, x: Operand) -> Components {
    fields(b, x, (2, 16))
        .into_iter()
        .map(|half| b.math(MathOp::UnpackHalf, Scalar::F32, &[half]))
        .collect()
}

/// The low bytes of four integers.
pub fn low_bytes(b: &mut Builder, x: &[Operand]) -> Operand {
    let parts: Components = x.iter().map(|&x| b.bitcast(Scalar::U32, x)).collect();
    join(b, &parts, 8)
}

pub fn clamped_bytes(b: &mut Builder, x: &[Operand], low: f64, high: f64) -> Operand {
    let parts: Components = x
        .iter()
        .map(|&x| {
            let ty = b.ty(x);
            let (low, high) = (b.constant(ty, low), b.constant(ty, high));
            clamp(b, x, low, high)
        })
        .collect();
    low_bytes(b, &parts)
}
