//! Vectors and matrices; the formulas are those of the WGSL specification.

use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{BinaryOp, CompareOp, MathOp, Operand, UnaryOp};

fn mul(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    b.binary(BinaryOp::Mul, x, y)
}

fn sub(b: &mut Builder, x: Operand, y: Operand) -> Operand {
    b.binary(BinaryOp::Sub, x, y)
}

/// `x * y - z * w`.
fn cross_term(b: &mut Builder, x: Operand, y: Operand, z: Operand, w: Operand) -> Operand {
    let (left, right) = (mul(b, x, y), mul(b, z, w));
    sub(b, left, right)
}

/// Of integers too, where it wraps.
pub fn dot(b: &mut Builder, x: &[Operand], y: &[Operand]) -> Operand {
    let mut sum = mul(b, x[0], y[0]);
    for (&x, &y) in x.iter().zip(y).skip(1) {
        let term = mul(b, x, y);
        sum = b.binary(BinaryOp::Add, sum, term);
    }
    sum
}

pub fn cross(b: &mut Builder, x: &[Operand], y: &[Operand]) -> Components {
    [(1, 2), (2, 0), (0, 1)]
        .into_iter()
        .map(|(i, j)| cross_term(b, x[i], y[j], x[j], y[i]))
        .collect()
}

/// A scalar's length is its absolute value.
pub fn length(b: &mut Builder, x: &[Operand]) -> Operand {
    let ty = b.ty(x[0]);
    if let [x] = x {
        return b.math(MathOp::Abs, ty, &[*x]);
    }
    let square = dot(b, x, x);
    b.math(MathOp::Sqrt, ty, &[square])
}

pub fn normalize(b: &mut Builder, x: &[Operand]) -> Components {
    let length = length(b, x);
    x.iter()
        .map(|&x| b.binary(BinaryOp::Div, x, length))
        .collect()
}

/// `x` if `incident` comes against `reference`, else `-x`.
pub fn face_forward(
    b: &mut Builder,
    x: &[Operand],
    incident: &[Operand],
    reference: &[Operand],
) -> Components {
    let along = dot(b, incident, reference);
    let zero = b.constant(b.ty(along), 0.0);
    let against = b.compare(CompareOp::Lt, along, zero);
    x.iter()
        .map(|&x| {
            let turned = b.unary(UnaryOp::Neg, x);
            b.select(against, x, turned)
        })
        .collect()
}

/// `x - 2 * dot(n, x) * n`.
pub fn reflect(b: &mut Builder, x: &[Operand], n: &[Operand]) -> Components {
    let along = dot(b, n, x);
    let two = b.constant(b.ty(along), 2.0);
    let twice = mul(b, two, along);
    x.iter()
        .zip(n)
        .map(|(&x, &n)| {
            let back = mul(b, twice, n);
            sub(b, x, back)
        })
        .collect()
}

/// `eta * x - (eta * dot(n, x) + sqrt(k)) * n` with `k = 1 - eta^2 * (1 - dot(n, x)^2)`; zero if k < 0.
pub fn refract(b: &mut Builder, x: &[Operand], n: &[Operand], eta: Operand) -> Components {
    let ty = b.ty(eta);
    let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
    let along = dot(b, n, x);
    let square = mul(b, along, along);
    let across = sub(b, one, square);
    let eta_square = mul(b, eta, eta);
    let bent = mul(b, eta_square, across);
    let k = sub(b, one, bent);
    let total = b.compare(CompareOp::Lt, k, zero);
    let root = b.math(MathOp::Sqrt, ty, &[k]);
    let scaled = mul(b, eta, along);
    let depth = b.binary(BinaryOp::Add, scaled, root);
    x.iter()
        .zip(n)
        .map(|(&x, &n)| {
            let (forward, inward) = (mul(b, eta, x), mul(b, depth, n));
            let through = sub(b, forward, inward);
            b.select(total, zero, through)
        })
        .collect()
}

/// Column by column.
pub fn outer(b: &mut Builder, column: &[Operand], row: &[Operand]) -> Components {
    row.iter()
        .flat_map(|&y| column.iter().map(move |&x| (x, y)))
        .map(|(x, y)| mul(b, x, y))
        .collect()
}

pub fn transpose(x: &[Operand], (columns, rows): (usize, usize)) -> Components {
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| x[column * rows + row]))
        .collect()
}

/// Of a square matrix of up to 4 columns, along its first column.
pub fn determinant(b: &mut Builder, x: &[Operand], size: usize) -> Operand {
    match size {
        1 => x[0],
        2 => cross_term(b, x[0], x[3], x[2], x[1]),
        _ => {
            let mut sum = None;
            for row in 0..size {
                let minor: Components = (1..size)
                    .flat_map(|column| {
                        let rows = (0..size).filter(move |&other| other != row);
                        rows.map(move |other| x[column * size + other])
                    })
                    .collect();
                let minor = determinant(b, &minor, size - 1);
                let term = mul(b, x[row], minor);
                sum = Some(match sum {
                    None => term,
                    Some(sum) if row % 2 == 1 => sub(b, sum, term),
                    Some(sum) => b.binary(BinaryOp::Add, sum, term),
                });
            }
            sum.unwrap_or(x[0])
        }
    }
}
