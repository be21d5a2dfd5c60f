//! Conversions and reinterpretations.

use naga::{ScalarKind, TypeInner};

use crate::front::build::Builder;
use crate::front::wgsl::types;
use crate::front::wgsl::value::Components;
use crate::ir::{CompareOp, MathOp, Operand, Scalar, UnaryOp};

pub fn cast(
    b: &mut Builder,
    from: naga::Scalar,
    kind: ScalarKind,
    convert: Option<u8>,
    args: &Components,
    _shape: &TypeInner,
) -> Result<Components, String> {
    let width = convert.unwrap_or(from.width);
    let to = types::scalar(naga::Scalar { kind, width })
        .ok_or_else(|| "16-bit integers are not supported".to_string())?;
    Ok(args
        .iter()
        .map(|&x| match convert {
            Some(_) if to == Scalar::Bool && b.ty(x) == Scalar::F32 => is_not_zero(b, x),
            Some(_) => {
                let x = clamped(b, to, x);
                b.convert(to, x)
            }
            None => b.bitcast(to, x),
        })
        .collect())
}

/// Whether a number is not zero; NaN is not. WGSL lets an implementation take a denormal number for
/// zero here, and those that its conformance suite runs on do.
fn is_not_zero(b: &mut Builder, x: Operand) -> Operand {
    let magnitude = b.math(MathOp::Abs, Scalar::F32, &[x]);
    let smallest = b.constant(Scalar::F32, f64::from(f32::MIN_POSITIVE));
    let zero = b.compare(CompareOp::Lt, magnitude, smallest);
    b.unary(UnaryOp::Not, zero)
}

/// WGSL converts a float that is out of an integer's range to the closest integer that the float
/// type can express, not to the end of the range.
fn clamped(b: &mut Builder, to: Scalar, x: Operand) -> Operand {
    let from = b.ty(x);
    let largest = match (from, to) {
        (Scalar::F16, Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64) => 65504.0,
        (Scalar::F32, Scalar::I32) => 2_147_483_520.0,
        (Scalar::F32, Scalar::U32) => 4_294_967_040.0,
        (Scalar::F32, Scalar::I64) => 9_223_371_487_098_961_920.0,
        (Scalar::F32, Scalar::U64) => 18_446_742_974_197_923_840.0,
        (Scalar::F64, Scalar::I64) => 9_223_372_036_854_774_784.0,
        (Scalar::F64, Scalar::U64) => 18_446_744_073_709_549_568.0,
        _ => return x,
    };
    let end = b.constant(from, largest);
    let above = b.compare(CompareOp::Gt, x, end);
    let x = b.select(above, end, x);
    if from != Scalar::F16 || !to.is_signed() {
        return x;
    }
    // The other types have an infinity only beyond the integers that they can express.
    let end = b.constant(from, -largest);
    let below = b.compare(CompareOp::Lt, x, end);
    b.select(below, end, x)
}
