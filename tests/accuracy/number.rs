//! What formulas are computed with: a format's own numbers, real numbers, and WGSL's allowed results.

use super::format::Format;

/// A kind of number that a formula can be computed with.
pub trait Number: Copy {
    fn constant(self, x: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn trunc(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn fma(self, factor: Self, more: Self) -> Self;
    fn neg(self) -> Self;
    /// `yes` where this is below zero.
    fn if_negative(self, yes: Self, no: Self) -> Self;
}

/// The smaller one; a number if one is NaN, and -0 is below +0.
pub fn least(x: f64, y: f64) -> f64 {
    if x.is_nan() || y < x || (x == y && y.is_sign_negative()) {
        y
    } else {
        x
    }
}

pub fn largest(x: f64, y: f64) -> f64 {
    -least(-x, -y)
}

/// A number of a format; each operation is rounded to nearest.
///
/// The operations are f64's, rounded again: that is correctly rounded for f32 and f16, as 53 bits are at
/// least twice theirs and two. The sum of `fma` is rounded at 53 bits by `mul_add`, and only f32 can tell.
#[derive(Clone, Copy, Debug)]
pub struct Rounded(pub Format, pub f64);

impl Rounded {
    fn of(self, x: f64) -> Rounded {
        Rounded(self.0, self.0.nearest(x))
    }
}

impl Number for Rounded {
    fn constant(self, x: f64) -> Self {
        self.of(x)
    }
    fn add(self, other: Self) -> Self {
        self.of(self.1 + other.1)
    }
    fn sub(self, other: Self) -> Self {
        self.of(self.1 - other.1)
    }
    fn mul(self, other: Self) -> Self {
        self.of(self.1 * other.1)
    }
    fn div(self, other: Self) -> Self {
        self.of(self.1 / other.1)
    }
    fn sqrt(self) -> Self {
        self.of(self.1.sqrt())
    }
    fn floor(self) -> Self {
        self.of(self.1.floor())
    }
    fn trunc(self) -> Self {
        self.of(self.1.trunc())
    }
    fn min(self, other: Self) -> Self {
        self.of(least(self.1, other.1))
    }
    fn max(self, other: Self) -> Self {
        self.of(largest(self.1, other.1))
    }
    fn fma(self, factor: Self, more: Self) -> Self {
        match self.0 {
            Format::F32 => {
                let sum = (self.1 as f32).mul_add(factor.1 as f32, more.1 as f32);
                self.of(f64::from(sum))
            }
            _ => self.of(self.1.mul_add(factor.1, more.1)),
        }
    }
    fn neg(self) -> Self {
        self.of(-self.1)
    }
    fn if_negative(self, yes: Self, no: Self) -> Self {
        if self.1 < 0.0 { yes } else { no }
    }
}

/// As good as real, for the numbers of f32 and f16: an f64, and what it misses of the value.
#[derive(Clone, Copy, Debug)]
pub struct Real {
    pub near: f64,
    pub rest: f64,
}

impl From<f64> for Real {
    fn from(near: f64) -> Real {
        Real { near, rest: 0.0 }
    }
}

/// `near + rest` with the largest part first.
fn joined(near: f64, rest: f64) -> Real {
    let sum = near + rest;
    if !sum.is_finite() {
        return sum.into();
    }
    Real {
        near: sum,
        rest: rest - (sum - near),
    }
}

impl Number for Real {
    fn constant(self, x: f64) -> Self {
        x.into()
    }
    fn add(self, other: Self) -> Self {
        // What rounding took from the sum of the large parts, exactly.
        let sum = self.near + other.near;
        if !sum.is_finite() {
            return sum.into();
        }
        let back = sum - self.near;
        let lost = (self.near - (sum - back)) + (other.near - back);
        joined(sum, lost + self.rest + other.rest)
    }
    fn sub(self, other: Self) -> Self {
        self.add(other.neg())
    }
    fn mul(self, other: Self) -> Self {
        let product = self.near * other.near;
        if !product.is_finite() {
            return product.into();
        }
        let lost = self.near.mul_add(other.near, -product);
        joined(
            product,
            lost + self.near * other.rest + self.rest * other.near,
        )
    }
    fn div(self, other: Self) -> Self {
        let first = self.near / other.near;
        if !first.is_finite() || other.near.is_infinite() {
            return first.into();
        }
        let left = self.sub(other.mul(first.into()));
        joined(first, (left.near + left.rest) / other.near)
    }
    fn sqrt(self) -> Self {
        let first = self.near.sqrt();
        if !first.is_finite() || first == 0.0 {
            return first.into();
        }
        let left = self.sub(Real::from(first).mul(first.into()));
        joined(first, (left.near + left.rest) / (2.0 * first))
    }
    fn floor(self) -> Self {
        self.near.floor().into()
    }
    fn trunc(self) -> Self {
        self.near.trunc().into()
    }
    fn min(self, other: Self) -> Self {
        if self.near <= other.near { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self.near >= other.near { self } else { other }
    }
    fn fma(self, factor: Self, more: Self) -> Self {
        self.mul(factor).add(more)
    }
    fn neg(self) -> Self {
        Real {
            near: -self.near,
            rest: -self.rest,
        }
    }
    fn if_negative(self, yes: Self, no: Self) -> Self {
        if self.near < 0.0 { yes } else { no }
    }
}

/// How far a result is off, in units in the last place. A result beyond the range is infinity, as one unit after the last number.
pub fn error(format: Format, truth: Real, seen: f64) -> f64 {
    let end = format.max() + format.ulp(format.max());
    let finite = |x: f64| if x.is_infinite() { end.copysign(x) } else { x };
    if truth.near.abs() >= end {
        return if seen == f64::INFINITY.copysign(truth.near) {
            0.0
        } else {
            (truth.near - finite(seen)).abs() / format.ulp(end)
        };
    }
    let off = (finite(seen) - truth.near) - truth.rest;
    if off.is_nan() {
        f64::INFINITY
    } else {
        off.abs() / format.ulp(truth.near)
    }
}
