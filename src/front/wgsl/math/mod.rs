//! Operators, conversions and built-in functions, on components.
//!
//! `operators` and `cast` lower what has a syntax of its own; the built-in functions are here where
//! the IR has an operation for them, else composed in the file of their family, each with WGSL's
//! own formula so that its error bounds hold.

mod bits;
mod cast;
mod geometry;
mod interpolation;
mod matrix;
mod operators;
mod packing;
mod parts;
mod shorthand;

use naga::{MathFunction, TypeInner};
use smallvec::smallvec;

pub use cast::cast;
pub use operators::{binary, relational, unary};
pub use packing::{from_normalized, to_normalized};

use super::value::Components;
use crate::front::build::Builder;
use crate::ir::{MathOp, Operand};

/// A built-in function; `shape` is the type of the first argument.
pub fn math(
    b: &mut Builder,
    fun: MathFunction,
    shape: &TypeInner,
    args: &[Components],
) -> Result<Components, String> {
    if let Some(op) = operation(fun) {
        return Ok(each(args, |x| {
            let ty = b.ty(x[0]);
            b.math(op, ty, x)
        }));
    }
    Ok(match fun {
        MathFunction::Clamp => each(args, |x| interpolation::clamp(b, x[0], x[1], x[2])),
        MathFunction::Saturate => each(args, |x| interpolation::saturate(b, x[0])),
        MathFunction::Mix => each(args, |x| interpolation::mix(b, x[0], x[1], x[2])),
        MathFunction::Step => each(args, |x| interpolation::step(b, x[0], x[1])),
        MathFunction::SmoothStep => each(args, |x| interpolation::smoothstep(b, x[0], x[1], x[2])),
        MathFunction::Degrees => each(args, |x| interpolation::scale(b, x[0], 1f64.to_degrees())),
        MathFunction::Radians => each(args, |x| interpolation::scale(b, x[0], 1f64.to_radians())),

        MathFunction::Sign => each(args, |x| parts::sign(b, x[0])),
        MathFunction::Fract => each(args, |x| parts::fract(b, x[0])),
        MathFunction::Modf => parts::modf(b, &args[0]),
        MathFunction::Frexp => parts::frexp(b, &args[0]),
        MathFunction::QuantizeToF16 => each(args, |x| parts::quantize(b, x[0])),

        MathFunction::Dot => smallvec![geometry::dot(b, &args[0], &args[1])],
        MathFunction::Cross => geometry::cross(b, &args[0], &args[1]),
        MathFunction::Length => smallvec![geometry::length(b, &args[0])],
        MathFunction::Distance => smallvec![geometry::distance(b, &args[0], &args[1])],
        MathFunction::Normalize => geometry::normalize(b, &args[0]),
        MathFunction::FaceForward => geometry::face_forward(b, &args[0], &args[1], &args[2]),
        MathFunction::Reflect => geometry::reflect(b, &args[0], &args[1]),
        MathFunction::Refract => geometry::refract(b, &args[0], &args[1], args[2][0]),

        MathFunction::Transpose => matrix::transpose(shape, &args[0]),
        MathFunction::Determinant => smallvec![matrix::determinant(b, shape, &args[0])],

        MathFunction::ExtractBits => each(args, |x| bits::extract(b, x[0], x[1], x[2])),
        MathFunction::InsertBits => each(args, |x| bits::insert(b, x[0], x[1], x[2], x[3])),
        MathFunction::FirstTrailingBit => each(args, |x| bits::first_trailing(b, x[0])),
        MathFunction::FirstLeadingBit => each(args, |x| bits::first_leading(b, x[0])),

        // WGSL has no name for them.
        MathFunction::Outer | MathFunction::Inverse => {
            return Err(format!("the built-in function {fun:?} is not supported"));
        }
        _ => packing::packing(b, fun, args)
            .ok_or_else(|| format!("the built-in function {fun:?} is not supported"))?,
    })
}

/// Component by component; a scalar among vectors goes with each of their components.
fn each(args: &[Components], mut f: impl FnMut(&[Operand]) -> Operand) -> Components {
    (0..args[0].len())
        .map(|i| {
            let operands: Components = args.iter().map(|x| x[i % x.len()]).collect();
            f(&operands)
        })
        .collect()
}

/// The IR's operation, if one does all of it with the first operand's type as its result's.
fn operation(fun: MathFunction) -> Option<MathOp> {
    Some(match fun {
        MathFunction::Abs => MathOp::Abs,
        MathFunction::Min => MathOp::Min,
        MathFunction::Max => MathOp::Max,
        MathFunction::Fma => MathOp::Fma,
        MathFunction::Sqrt => MathOp::Sqrt,
        MathFunction::InverseSqrt => MathOp::InverseSqrt,
        MathFunction::Floor => MathOp::Floor,
        MathFunction::Ceil => MathOp::Ceil,
        MathFunction::Trunc => MathOp::Trunc,
        MathFunction::Round => MathOp::Round,
        MathFunction::Sin => MathOp::Sin,
        MathFunction::Cos => MathOp::Cos,
        MathFunction::Tan => MathOp::Tan,
        MathFunction::Asin => MathOp::Asin,
        MathFunction::Acos => MathOp::Acos,
        MathFunction::Atan => MathOp::Atan,
        MathFunction::Atan2 => MathOp::Atan2,
        MathFunction::Sinh => MathOp::Sinh,
        MathFunction::Cosh => MathOp::Cosh,
        MathFunction::Tanh => MathOp::Tanh,
        MathFunction::Asinh => MathOp::Asinh,
        MathFunction::Acosh => MathOp::Acosh,
        MathFunction::Atanh => MathOp::Atanh,
        MathFunction::Exp => MathOp::Exp,
        MathFunction::Exp2 => MathOp::Exp2,
        MathFunction::Log => MathOp::Log,
        MathFunction::Log2 => MathOp::Log2,
        MathFunction::Pow => MathOp::Pow,
        MathFunction::Ldexp => MathOp::Ldexp,
        MathFunction::CountOneBits => MathOp::CountOneBits,
        MathFunction::CountLeadingZeros => MathOp::CountLeadingZeros,
        MathFunction::CountTrailingZeros => MathOp::CountTrailingZeros,
        MathFunction::ReverseBits => MathOp::ReverseBits,
        _ => return None,
    })
}
