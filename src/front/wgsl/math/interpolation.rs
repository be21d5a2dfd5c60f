//! Functions that keep numbers in a range, move them between ranges, or scale them.

use super::shorthand::{add, div, max, min, mul, sub};
use crate::front::build::Builder;
use crate::ir::{CompareOp, Operand};

pub fn clamp(b: &mut Builder, x: Operand, low: Operand, high: Operand) -> Operand {
    let x = max(b, x, low);
    min(b, x, high)
}

pub fn saturate(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
    clamp(b, x, zero, one)
}

/// `x * (1 - t) + y * t`: exact at both ends.
pub fn mix(b: &mut Builder, x: Operand, y: Operand, t: Operand) -> Operand {
    let one = b.constant(b.ty(t), 1.0);
    let rest = sub(b, one, t);
    let x = mul(b, x, rest);
    let y = mul(b, y, t);
    add(b, x, y)
}

pub fn step(b: &mut Builder, edge: Operand, x: Operand) -> Operand {
    let ty = b.ty(x);
    let (zero, one) = (b.constant(ty, 0.0), b.constant(ty, 1.0));
    let reached = b.compare(CompareOp::Le, edge, x);
    b.select(reached, one, zero)
}

/// `t * t * (3 - 2 * t)`, where `t` is how far `x` is from `low` to `high`.
pub fn smoothstep(b: &mut Builder, low: Operand, high: Operand, x: Operand) -> Operand {
    let ty = b.ty(x);
    let (two, three) = (b.constant(ty, 2.0), b.constant(ty, 3.0));
    let way = sub(b, x, low);
    let width = sub(b, high, low);
    let t = div(b, way, width);
    let t = saturate(b, t);
    let twice = mul(b, two, t);
    let slope = sub(b, three, twice);
    let square = mul(b, t, t);
    mul(b, square, slope)
}

pub fn scale(b: &mut Builder, x: Operand, factor: f64) -> Operand {
    let factor = b.constant(b.ty(x), factor);
    mul(b, x, factor)
}
