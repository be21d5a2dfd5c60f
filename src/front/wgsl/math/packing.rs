//! Functions between vectors and u32s that hold their components side by side, the first one lowest.

use naga::MathFunction;
use smallvec::smallvec;

use super::geometry::dot;
use super::interpolation::clamp;
use super::shorthand::{add, apply, div, max, min, mul};
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{BinaryOp, Const, MathOp, Operand, Scalar};

/// `None`: not a function of this family.
pub fn packing(b: &mut Builder, fun: MathFunction, args: &[Components]) -> Option<Components> {
    let x = &args[0];
    Some(match fun {
        MathFunction::Pack4x8snorm => pack(b, 8, x, |b, x| to_normalized(b, x, Scalar::I32, 127.0)),
        MathFunction::Pack4x8unorm => pack(b, 8, x, |b, x| to_normalized(b, x, Scalar::U32, 255.0)),
        MathFunction::Pack2x16snorm => {
            pack(b, 16, x, |b, x| to_normalized(b, x, Scalar::I32, 32767.0))
        }
        MathFunction::Pack2x16unorm => {
            pack(b, 16, x, |b, x| to_normalized(b, x, Scalar::U32, 65535.0))
        }
        MathFunction::Pack2x16float => {
            pack(b, 16, x, |b, x| b.math(MathOp::PackHalf, Scalar::U32, &[x]))
        }
        MathFunction::Pack4xI8 | MathFunction::Pack4xU8 => pack(b, 8, x, |_, x| x),
        MathFunction::Pack4xI8Clamp => pack(b, 8, x, |b, x| {
            clamp(b, x, Const::i32(-128).into(), Const::i32(127).into())
        }),
        MathFunction::Pack4xU8Clamp => pack(b, 8, x, |b, x| min(b, x, Const::u32(255).into())),

        MathFunction::Unpack4x8snorm => unpack_normalized(b, x[0], 8, Scalar::I32, 127.0),
        MathFunction::Unpack4x8unorm => unpack_normalized(b, x[0], 8, Scalar::U32, 255.0),
        MathFunction::Unpack2x16snorm => unpack_normalized(b, x[0], 16, Scalar::I32, 32767.0),
        MathFunction::Unpack2x16unorm => unpack_normalized(b, x[0], 16, Scalar::U32, 65535.0),
        MathFunction::Unpack2x16float => unpack(b, x[0], 16, Scalar::U32)
            .iter()
            .map(|&half| b.math(MathOp::UnpackHalf, Scalar::F32, &[half]))
            .collect(),
        MathFunction::Unpack4xI8 => unpack(b, x[0], 8, Scalar::I32),
        MathFunction::Unpack4xU8 => unpack(b, x[0], 8, Scalar::U32),

        MathFunction::Dot4I8Packed => smallvec![packed_dot(b, args, Scalar::I32)],
        MathFunction::Dot4U8Packed => smallvec![packed_dot(b, args, Scalar::U32)],
        _ => return None,
    })
}

/// The low `width` bits of what `convert` makes of each component.
fn pack(
    b: &mut Builder,
    width: u32,
    x: &Components,
    convert: impl Fn(&mut Builder, Operand) -> Operand,
) -> Components {
    let mut joined: Operand = Const::u32(0).into();
    let mask = Const::u32((1 << width) - 1);
    for (at, &x) in (0..).zip(x) {
        let x = convert(b, x);
        let x = b.bitcast(Scalar::U32, x);
        let x = b.binary(BinaryOp::And, x, mask.into());
        let x = b.binary(BinaryOp::Shl, x, Const::u32(at * width).into());
        joined = b.binary(BinaryOp::Or, joined, x);
    }
    smallvec![joined]
}

/// `floor(0.5 + scale * x)` as an integer, `x` clamped to what the integer's type has a code for.
pub fn to_normalized(b: &mut Builder, x: Operand, to: Scalar, scale: f64) -> Operand {
    let low = if to.is_signed() { -1.0 } else { 0.0 };
    let [low, one, half, scale] = [low, 1.0, 0.5, scale].map(|x| b.constant(Scalar::F32, x));
    let x = clamp(b, x, low, one);
    let x = mul(b, scale, x);
    let x = add(b, half, x);
    let x = apply(b, MathOp::Floor, x);
    b.convert(to, x)
}

/// The fields of `width` bits, extended as `to` is signed.
fn unpack(b: &mut Builder, x: Operand, width: u32, to: Scalar) -> Components {
    let above: Operand = Const::u32(32 - width).into();
    (1..=32 / width)
        .map(|upto| {
            let x = b.binary(BinaryOp::Shl, x, Const::u32(32 - upto * width).into());
            let x = b.bitcast(to, x);
            b.binary(BinaryOp::Shr, x, above)
        })
        .collect()
}

fn unpack_normalized(
    b: &mut Builder,
    x: Operand,
    width: u32,
    from: Scalar,
    scale: f64,
) -> Components {
    unpack(b, x, width, from)
        .iter()
        .map(|&x| from_normalized(b, x, scale))
        .collect()
}

/// The number that an integer stands for. The most negative one has no number of its own and means -1, as its
/// neighbour does.
pub fn from_normalized(b: &mut Builder, x: Operand, scale: f64) -> Operand {
    let is_signed = b.ty(x).is_signed();
    let [minus, scale] = [-1.0, scale].map(|x| b.constant(Scalar::F32, x));
    let x = b.convert(Scalar::F32, x);
    let x = div(b, x, scale);
    if is_signed { max(b, x, minus) } else { x }
}

fn packed_dot(b: &mut Builder, args: &[Components], of: Scalar) -> Operand {
    let x = unpack(b, args[0][0], 8, of);
    let y = unpack(b, args[1][0], 8, of);
    dot(b, &x, &y)
}
