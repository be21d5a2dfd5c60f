//! Operators, and the functions on vectors of bool.

use naga::{BinaryOperator, RelationalFunction, TypeInner, UnaryOperator};
use smallvec::smallvec;

use super::matrix::dimensions;
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{BinaryOp, CompareOp, Operand, Scalar, UnaryOp};

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
