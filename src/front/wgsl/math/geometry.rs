//! Functions on vectors as arrows.

use super::shorthand::{add, apply, div, mul, sub};
use crate::front::build::Builder;
use crate::front::wgsl::value::Components;
use crate::ir::{CompareOp, MathOp, Operand, UnaryOp};

pub fn dot(b: &mut Builder, x: &Components, y: &Components) -> Operand {
    let mut sum = mul(b, x[0], y[0]);
    for (&x, &y) in x.iter().zip(y).skip(1) {
        let term = mul(b, x, y);
        sum = add(b, sum, term);
    }
    sum
}

pub fn cross(b: &mut Builder, x: &Components, y: &Components) -> Components {
    [(1, 2), (2, 0), (0, 1)]
        .into_iter()
        .map(|(i, j)| {
            let ahead = mul(b, x[i], y[j]);
            let back = mul(b, x[j], y[i]);
            sub(b, ahead, back)
        })
        .collect()
}

/// Of a number, its absolute value, which the root of its square is only while that is finite.
pub fn length(b: &mut Builder, x: &Components) -> Operand {
    if let [x] = x[..] {
        return apply(b, MathOp::Abs, x);
    }
    let square = dot(b, x, x);
    apply(b, MathOp::Sqrt, square)
}

pub fn distance(b: &mut Builder, x: &Components, y: &Components) -> Operand {
    let way: Components = x.iter().zip(y).map(|(&x, &y)| sub(b, x, y)).collect();
    length(b, &way)
}

pub fn normalize(b: &mut Builder, x: &Components) -> Components {
    let length = length(b, x);
    x.iter().map(|&x| div(b, x, length)).collect()
}

/// `x`, turned around unless `incident` meets `normal` head on.
pub fn face_forward(
    b: &mut Builder,
    x: &Components,
    incident: &Components,
    normal: &Components,
) -> Components {
    let along = dot(b, incident, normal);
    let zero = b.constant(b.ty(along), 0.0);
    let meets = b.compare(CompareOp::Lt, along, zero);
    x.iter()
        .map(|&x| {
            let turned = b.unary(UnaryOp::Neg, x);
            b.select(meets, x, turned)
        })
        .collect()
}

/// `x - 2 * dot(normal, x) * normal`
pub fn reflect(b: &mut Builder, x: &Components, normal: &Components) -> Components {
    let along = dot(b, normal, x);
    let two = b.constant(b.ty(along), 2.0);
    let twice = mul(b, two, along);
    x.iter()
        .zip(normal)
        .map(|(&x, &n)| {
            let back = mul(b, twice, n);
            sub(b, x, back)
        })
        .collect()
}

/// `ratio * x - (ratio * d + sqrt(k)) * normal`, where `d` is `dot(normal, x)` and `k` is
/// `1 - ratio * ratio * (1 - d * d)`; zero if `k` is negative (a total reflection).
pub fn refract(b: &mut Builder, x: &Components, normal: &Components, ratio: Operand) -> Components {
    let ty = b.ty(ratio);
    let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
    let along = dot(b, normal, x);
    let square = mul(b, along, along);
    let sine = sub(b, one, square);
    let ratios = mul(b, ratio, ratio);
    let bent = mul(b, ratios, sine);
    let k = sub(b, one, bent);
    let total = b.compare(CompareOp::Lt, k, zero);
    let root = apply(b, MathOp::Sqrt, k);
    let share = mul(b, ratio, along);
    let share = add(b, share, root);
    x.iter()
        .zip(normal)
        .map(|(&x, &n)| {
            let x = mul(b, ratio, x);
            let n = mul(b, share, n);
            let through = sub(b, x, n);
            b.select(total, zero, through)
        })
        .collect()
}
