//! Operators and built-in functions on components.
//!
//! Operators and conversions are here. `functions` knows every built-in function: those that the IR has
//! an operation for, and simple compositions; `bits`, `packing` and `geometry` hold the longer ones.

mod bits;
mod functions;
mod geometry;
mod packing;

pub use functions::math;

use naga::{BinaryOperator, RelationalFunction, ScalarKind, TypeInner, UnaryOperator};
use smallvec::smallvec;

use super::types;
use super::value::Components;
use crate::front::build::Builder;
use crate::ir::{BinaryOp, CompareOp, MathOp, Operand, Scalar, UnaryOp};

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

/// Columns and rows; a vector is one column.
fn dimensions(shape: &TypeInner) -> (usize, usize) {
    match *shape {
        TypeInner::Matrix { columns, rows, .. } => (columns as usize, rows as usize),
        TypeInner::Vector { size, .. } => (1, size as usize),
        _ => (1, 1),
    }
}

pub fn binary(
    b: &mut Builder,
    op: BinaryOperator,
    left: (&TypeInner, &Components),
    right: (&TypeInner, &Components),
) -> Result<Components, String> {
    let is_matrix = |shape: &TypeInner| matches!(shape, TypeInner::Matrix { .. });
    let is_scalar = |shape: &TypeInner| matches!(shape, TypeInner::Scalar(_));
    if op == BinaryOperator::Multiply
        && (is_matrix(left.0) || is_matrix(right.0))
        && !is_scalar(left.0)
        && !is_scalar(right.0)
    {
        return Ok(product(b, left, right));
    }
    let count = left.1.len().max(right.1.len());
    Ok((0..count)
        .map(|i| component(b, op, left.1[i % left.1.len()], right.1[i % right.1.len()]))
        .collect())
}

/// A product with a matrix; a vector on the left is a row.
fn product(
    b: &mut Builder,
    left: (&TypeInner, &Components),
    right: (&TypeInner, &Components),
) -> Components {
    let (inner, rows) = match left.0 {
        TypeInner::Vector { size, .. } => (*size as usize, 1),
        other => dimensions(other),
    };
    let (columns, _) = dimensions(right.0);
    let mut result = Components::new();
    for column in 0..columns {
        for row in 0..rows {
            let term = |b: &mut Builder, k: usize| {
                let (x, y) = (left.1[k * rows + row], right.1[column * inner + k]);
                b.binary(BinaryOp::Mul, x, y)
            };
            let mut sum = term(b, 0);
            for k in 1..inner {
                let next = term(b, k);
                sum = b.binary(BinaryOp::Add, sum, next);
            }
            result.push(sum);
        }
    }
    result
}

fn component(b: &mut Builder, op: BinaryOperator, x: Operand, y: Operand) -> Operand {
    match op {
        BinaryOperator::Add => b.binary(BinaryOp::Add, x, y),
        BinaryOperator::Subtract => b.binary(BinaryOp::Sub, x, y),
        BinaryOperator::Multiply => b.binary(BinaryOp::Mul, x, y),
        BinaryOperator::Divide => b.binary(BinaryOp::Div, x, y),
        BinaryOperator::Modulo => b.binary(BinaryOp::Rem, x, y),
        BinaryOperator::Equal => b.compare(CompareOp::Eq, x, y),
        BinaryOperator::NotEqual => b.compare(CompareOp::Ne, x, y),
        BinaryOperator::Less => b.compare(CompareOp::Lt, x, y),
        BinaryOperator::LessEqual => b.compare(CompareOp::Le, x, y),
        BinaryOperator::Greater => b.compare(CompareOp::Gt, x, y),
        BinaryOperator::GreaterEqual => b.compare(CompareOp::Ge, x, y),
        BinaryOperator::And | BinaryOperator::LogicalAnd => b.binary(BinaryOp::And, x, y),
        BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => b.binary(BinaryOp::Or, x, y),
        BinaryOperator::ExclusiveOr => b.binary(BinaryOp::Xor, x, y),
        BinaryOperator::ShiftLeft => b.binary(BinaryOp::Shl, x, y),
        BinaryOperator::ShiftRight => b.binary(BinaryOp::Shr, x, y),
    }
}

pub fn unary(b: &mut Builder, op: UnaryOperator, x: &Components) -> Result<Components, String> {
    let op = match op {
        UnaryOperator::Negate => UnaryOp::Neg,
        UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot => UnaryOp::Not,
    };
    Ok(x.iter().map(|&x| b.unary(op, x)).collect())
}

pub fn relational(
    b: &mut Builder,
    fun: RelationalFunction,
    x: &Components,
) -> Result<Components, String> {
    let op = match fun {
        RelationalFunction::All => BinaryOp::And,
        RelationalFunction::Any => BinaryOp::Or,
        RelationalFunction::IsNan | RelationalFunction::IsInf => {
            return Err(format!("the built-in function {fun:?} is not supported"));
        }
    };
    debug_assert!(x.iter().all(|&x| b.ty(x) == Scalar::Bool));
    let (&first, rest) = x.split_first().expect("at least one component");
    let joined = rest.iter().fold(first, |all, &x| b.binary(op, all, x));
    Ok(smallvec![joined])
}
