//! Built-in functions by name; most work component by component.

use naga::{MathFunction, TypeInner};
use smallvec::smallvec;

use super::{bits, dimensions, geometry, packing};
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{BinaryOp, CompareOp, MathOp, Operand, Scalar};

/// naga's `Expression::Math`. `shape` is the first argument's type. Of functions that give a structure,
/// the members' components one after the other.
pub fn math(
    b: &mut Builder,
    fun: MathFunction,
    shape: &TypeInner,
    args: &[Components],
) -> Result<Components, String> {
    use MathFunction as F;
    let x = &args[0];
    if let Some(op) = operation(fun) {
        return Ok(each(args, |x| {
            let ty = b.ty(x[0]);
            b.math(op, ty, x)
        }));
    }
    Ok(match fun {
        F::Clamp => each(args, |x| clamp(b, x[0], x[1], x[2])),
        F::Saturate => each(args, |x| saturate(b, x[0])),
        F::Radians => each(args, |x| scaled(b, x[0], std::f64::consts::PI / 180.0)),
        F::Degrees => each(args, |x| scaled(b, x[0], 180.0 / std::f64::consts::PI)),
        F::Fract => each(args, |x| without(b, x[0], MathOp::Floor)),
        F::Modf => {
            let fractions = each(args, |x| without(b, x[0], MathOp::Trunc));
            let wholes = each(args, |x| b.math(MathOp::Trunc, b.ty(x[0]), x));
            fractions.into_iter().chain(wholes).collect()
        }
        F::Frexp => {
            let fractions = each(args, |x| b.math(MathOp::FrexpFract, b.ty(x[0]), x));
            let exponents = each(args, |x| b.math(MathOp::FrexpExp, Scalar::I32, x));
            fractions.into_iter().chain(exponents).collect()
        }
        F::Sign => each(args, |x| sign(b, x[0])),
        F::Mix => each(args, |x| mix(b, x[0], x[1], x[2])),
        F::Step => each(args, |x| {
            let ty = b.ty(x[1]);
            let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
            let reached = b.compare(CompareOp::Le, x[0], x[1]);
            b.select(reached, one, zero)
        }),
        F::SmoothStep => each(args, |x| smooth_step(b, x[0], x[1], x[2])),
        F::QuantizeToF16 => each(args, |x| {
            let half = b.math(MathOp::PackHalf, Scalar::U32, x);
            b.math(MathOp::UnpackHalf, Scalar::F32, &[half])
        }),

        F::ExtractBits => each(args, |x| bits::extract(b, x[0], x[1], x[2])),
        F::InsertBits => each(args, |x| bits::insert(b, x[0], x[1], x[2], x[3])),
        F::FirstTrailingBit => each(args, |x| bits::first_trailing(b, x[0])),
        F::FirstLeadingBit => each(args, |x| bits::first_leading(b, x[0])),

        F::Dot => smallvec![geometry::dot(b, x, &args[1])],
        F::Cross => geometry::cross(b, x, &args[1]),
        F::Length => smallvec![geometry::length(b, x)],
        F::Distance => {
            let difference = each(args, |x| b.binary(BinaryOp::Sub, x[0], x[1]));
            smallvec![geometry::length(b, &difference)]
        }
        F::Normalize => geometry::normalize(b, x),
        F::FaceForward => geometry::face_forward(b, x, &args[1], &args[2]),
        F::Reflect => geometry::reflect(b, x, &args[1]),
        F::Refract => geometry::refract(b, x, &args[1], args[2][0]),
        F::Outer => geometry::outer(b, x, &args[1]),
        F::Transpose => geometry::transpose(x, dimensions(shape)),
        F::Determinant => smallvec![geometry::determinant(b, x, dimensions(shape).0)],

        F::Dot4I8Packed => smallvec![packing::dot(b, x[0], args[1][0], packing::bytes_signed)],
        F::Dot4U8Packed => smallvec![packing::dot(b, x[0], args[1][0], packing::bytes)],
        F::Pack4x8snorm => smallvec![packing::norm(b, x, 8, 127.0, -1.0)],
        F::Pack4x8unorm => smallvec![packing::norm(b, x, 8, 255.0, 0.0)],
        F::Pack2x16snorm => smallvec![packing::norm(b, x, 16, 32767.0, -1.0)],
        F::Pack2x16unorm => smallvec![packing::norm(b, x, 16, 65535.0, 0.0)],
        F::Pack2x16float => smallvec![packing::halves(b, x)],
        F::Pack4xI8 | F::Pack4xU8 => smallvec![packing::low_bytes(b, x)],
        F::Pack4xI8Clamp => smallvec![packing::clamped_bytes(b, x, -128.0, 127.0)],
        F::Pack4xU8Clamp => smallvec![packing::clamped_bytes(b, x, 0.0, 255.0)],
        F::Unpack4x8snorm => packing::unpack_norm(b, x[0], (4, 8), true),
        F::Unpack4x8unorm => packing::unpack_norm(b, x[0], (4, 8), false),
        F::Unpack2x16snorm => packing::unpack_norm(b, x[0], (2, 16), true),
        F::Unpack2x16unorm => packing::unpack_norm(b, x[0], (2, 16), false),
        F::Unpack2x16float => packing::unpack_halves(b, x[0]),
        F::Unpack4xI8 => packing::bytes_signed(b, x[0]),
        F::Unpack4xU8 => packing::bytes(b, x[0]),
        other => return Err(format!("the built-in function {other:?} is not supported")),
    })
}

/// Functions that are one operation, with a result of the first argument's type.
fn operation(fun: MathFunction) -> Option<MathOp> {
    use MathFunction as F;
    Some(match fun {
        F::Abs => MathOp::Abs,
        F::Min => MathOp::Min,
        F::Max => MathOp::Max,
        F::Cos => MathOp::Cos,
        F::Cosh => MathOp::Cosh,
        F::Sin => MathOp::Sin,
        F::Sinh => MathOp::Sinh,
        F::Tan => MathOp::Tan,
        F::Tanh => MathOp::Tanh,
        F::Acos => MathOp::Acos,
        F::Asin => MathOp::Asin,
        F::Atan => MathOp::Atan,
        F::Atan2 => MathOp::Atan2,
        F::Asinh => MathOp::Asinh,
        F::Acosh => MathOp::Acosh,
        F::Atanh => MathOp::Atanh,
        F::Ceil => MathOp::Ceil,
        F::Floor => MathOp::Floor,
        F::Round => MathOp::Round,
        F::Trunc => MathOp::Trunc,
        F::Ldexp => MathOp::Ldexp,
        F::Exp => MathOp::Exp,
        F::Exp2 => MathOp::Exp2,
        F::Log => MathOp::Log,
        F::Log2 => MathOp::Log2,
        F::Pow => MathOp::Pow,
        F::Fma => MathOp::Fma,
        F::Sqrt => MathOp::Sqrt,
        F::InverseSqrt => MathOp::InverseSqrt,
        F::CountTrailingZeros => MathOp::CountTrailingZeros,
        F::CountLeadingZeros => MathOp::CountLeadingZeros,
        F::CountOneBits => MathOp::CountOneBits,
        F::ReverseBits => MathOp::ReverseBits,
        _ => return None,
    })
}

/// Component by component; a scalar among vectors goes with each component.
fn each(args: &[Components], mut f: impl FnMut(&[Operand]) -> Operand) -> Components {
    let count = args.iter().map(|arg| arg.len()).max().unwrap_or(0);
    (0..count)
        .map(|i| {
            let one: Components = args.iter().map(|arg| arg[i % arg.len()]).collect();
            f(&one)
        })
        .collect()
}

/// `min(max(x, low), high)`, of floats and of integers.
pub fn clamp(b: &mut Builder, x: Operand, low: Operand, high: Operand) -> Operand {
    let ty = b.ty(x);
    let above = b.math(MathOp::Max, ty, &[x, low]);
    b.math(MathOp::Min, ty, &[above, high])
}

fn saturate(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
    clamp(b, x, zero, one)
}

fn scaled(b: &mut Builder, x: Operand, factor: f64) -> Operand {
    let factor = b.constant(b.ty(x), factor);
    b.binary(BinaryOp::Mul, x, factor)
}

/// `x - round(x)` with a rounding of one's choice.
fn without(b: &mut Builder, x: Operand, round: MathOp) -> Operand {
    let whole = b.math(round, b.ty(x), &[x]);
    b.binary(BinaryOp::Sub, x, whole)
}

/// 1, -1, or 0 (of a NaN too).
fn sign(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|value| b.constant(ty, value));
    let above = b.compare(CompareOp::Gt, x, zero);
    let below = b.compare(CompareOp::Lt, x, zero);
    let result = b.select(above, one, zero);
    b.select(below, minus_one, result)
}

/// `x * (1 - t) + y * t`.
fn mix(b: &mut Builder, x: Operand, y: Operand, t: Operand) -> Operand {
    let one = b.constant(b.ty(t), 1.0);
    let rest = b.binary(BinaryOp::Sub, one, t);
    let from = b.binary(BinaryOp::Mul, x, rest);
    let to = b.binary(BinaryOp::Mul, y, t);
    b.binary(BinaryOp::Add, from, to)
}

/// `t * t * (3 - 2 * t)` with `t = saturate((x - low) / (high - low))`.
fn smooth_step(b: &mut Builder, low: Operand, high: Operand, x: Operand) -> Operand {
    let ty = b.ty(x);
    let done = b.binary(BinaryOp::Sub, x, low);
    let all = b.binary(BinaryOp::Sub, high, low);
    let ratio = b.binary(BinaryOp::Div, done, all);
    let t = saturate(b, ratio);
    let twice = scaled(b, t, 2.0);
    let three = b.constant(ty, 3.0);
    let slope = b.binary(BinaryOp::Sub, three, twice);
    let square = b.binary(BinaryOp::Mul, t, t);
    b.binary(BinaryOp::Mul, square, slope)
}
