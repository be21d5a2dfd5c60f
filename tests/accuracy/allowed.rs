//! Intervals of what WGSL allows as a result, operation by operation.
//!
//! This is how a bound that is "inherited from" an expression is computed: each operation takes every value
//! that those before may have given, and adds its own error. An operation that may overflow, or is outside of
//! where it has a bound, allows everything. The freedom to take denormal numbers for zero isn't used.

use std::f64::consts::PI;

use super::format::{Format, power};
use super::number::Number;

#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    pub format: Format,
    pub low: f64,
    pub high: f64,
}

impl Allowed {
    pub fn exactly(format: Format, x: f64) -> Allowed {
        Allowed {
            format,
            low: x,
            high: x,
        }
    }

    pub fn anything(self) -> Allowed {
        Allowed {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            ..self
        }
    }

    pub fn is_anything(self) -> bool {
        self.low == f64::NEG_INFINITY && self.high == f64::INFINITY
    }

    pub fn holds(self, seen: f64) -> bool {
        self.is_anything() || (self.low <= seen && seen <= self.high)
    }

    /// The real results `low..=high` with either rounding.
    fn span(self, low: f64, high: f64) -> Allowed {
        let max = self.format.max();
        if !(low >= -max && high <= max) {
            return self.anything();
        }
        Allowed {
            low: self.format.around(low).0,
            high: self.format.around(high).1,
            ..self
        }
    }

    /// With so many units in the last place more at both ends.
    fn ulps(self, low: f64, high: f64, count: f64) -> Allowed {
        let (less, more) = (count * self.format.ulp(low), count * self.format.ulp(high));
        self.within(low - less, high + more)
    }

    /// As given: an error bound is not rounded again, but for the format's own grid.
    fn within(self, low: f64, high: f64) -> Allowed {
        let max = self.format.max();
        if !(low >= -max && high <= max) {
            return self.anything();
        }
        Allowed { low, high, ..self }
    }

    /// The least and the greatest result of an operation that is monotonic in both.
    fn corners(self, other: Self, f: fn(f64, f64) -> f64) -> Option<(f64, f64)> {
        if self.is_anything() || other.is_anything() {
            return None;
        }
        let all = [
            f(self.low, other.low),
            f(self.low, other.high),
            f(self.high, other.low),
            f(self.high, other.high),
        ];
        let low = all.into_iter().fold(f64::INFINITY, f64::min);
        let high = all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        all.iter().all(|x| !x.is_nan()).then_some((low, high))
    }

    fn rounded(self, other: Self, f: fn(f64, f64) -> f64) -> Allowed {
        match self.corners(other, f) {
            Some((low, high)) => self.span(low, high),
            None => self.anything(),
        }
    }

    pub fn or(self, other: Self) -> Allowed {
        Allowed {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            ..self
        }
    }

    pub fn absolute(self, truth: f64, error: f64) -> Allowed {
        self.within(truth - error, truth + error)
    }

    pub fn units(self, truth: f64, count: f64) -> Allowed {
        self.ulps(truth, truth, count)
    }

    fn by_format(self, f32: f64, f16: f64) -> f64 {
        match self.format {
            Format::F16 => f16,
            _ => f32,
        }
    }

    fn exponential(self, f: fn(f64) -> f64) -> Allowed {
        if self.is_anything() {
            return self;
        }
        let base = self.by_format(3.0, 1.0);
        let (low, high) = (f(self.low), f(self.high));
        let less = (base + 2.0 * self.low.abs()) * self.format.ulp(low);
        let more = (base + 2.0 * self.high.abs()) * self.format.ulp(high);
        self.within(low - less, high + more)
    }

    pub fn exp(self) -> Allowed {
        self.exponential(f64::exp)
    }

    pub fn exp2(self) -> Allowed {
        self.exponential(f64::exp2)
    }

    fn logarithm(self, f: fn(f64) -> f64) -> Allowed {
        if self.low.is_nan() || self.low <= 0.0 || self.is_anything() {
            return self.anything();
        }
        let error = |x: f64| match (0.5..=2.0).contains(&x) {
            true => self.by_format(power(-21), power(-7)),
            false => 3.0 * self.format.ulp(f(x)),
        };
        let low = f(self.low) - error(self.low);
        self.within(low, f(self.high) + error(self.high))
    }

    pub fn log(self) -> Allowed {
        self.logarithm(f64::ln)
    }

    pub fn log2(self) -> Allowed {
        self.logarithm(f64::log2)
    }

    pub fn inverse_sqrt(self) -> Allowed {
        if self.low.is_nan() || self.low <= 0.0 || self.is_anything() {
            return self.anything();
        }
        let root = |x: f64| 1.0 / x.sqrt();
        self.ulps(root(self.high), root(self.low), 2.0)
    }

    /// Of one number: formulas give sine and cosine no others.
    fn circular(self, f: fn(f64) -> f64) -> Allowed {
        if self.low != self.high || self.low.abs() > PI {
            return self.anything();
        }
        let error = self.by_format(power(-11), power(-7));
        self.absolute(f(self.low), error)
    }

    pub fn sin(self) -> Allowed {
        self.circular(f64::sin)
    }

    pub fn cos(self) -> Allowed {
        self.circular(f64::cos)
    }

    /// The angle of (`x`, this).
    pub fn atan2(self, x: Self) -> Allowed {
        let (least, most) = (power(self.format.least()), power(-self.format.least()));
        let bounded = |a: f64| (least..=most).contains(&a.abs());
        let normal = |a: f64| a.is_finite() && a.abs() >= least;
        let same_side =
            x.low.signum() == x.high.signum() && self.low.signum() == self.high.signum();
        if ![x.low, x.high].into_iter().all(bounded)
            || ![self.low, self.high].into_iter().all(normal)
            || !same_side
        {
            return self.anything();
        }
        let angles = [
            self.low.atan2(x.low),
            self.low.atan2(x.high),
            self.high.atan2(x.low),
            self.high.atan2(x.high),
        ];
        let low = angles.into_iter().fold(f64::INFINITY, f64::min);
        let high = angles.into_iter().fold(f64::NEG_INFINITY, f64::max);
        self.ulps(low, high, self.by_format(4096.0, 5.0))
    }
}

impl Number for Allowed {
    fn constant(self, x: f64) -> Self {
        // A literal becomes the nearest number, or the other neighbour.
        self.span(x, x)
    }
    fn add(self, other: Self) -> Self {
        self.rounded(other, |x, y| x + y)
    }
    fn sub(self, other: Self) -> Self {
        self.rounded(other, |x, y| x - y)
    }
    fn mul(self, other: Self) -> Self {
        self.rounded(other, |x, y| x * y)
    }
    fn div(self, other: Self) -> Self {
        let (least, most) = (power(self.format.least()), power(-self.format.least()));
        let bounded = |x: f64| (least..=most).contains(&x.abs());
        if !bounded(other.low) || !bounded(other.high) || other.low.signum() != other.high.signum()
        {
            return self.anything();
        }
        match self.corners(other, |x, y| x / y) {
            Some((low, high)) => self.ulps(low, high, 2.5),
            None => self.anything(),
        }
    }
    /// `1 / inverseSqrt(x)`; of zero, whose inverse root is infinite, zero.
    fn sqrt(self) -> Self {
        if self.low == 0.0 && self.high == 0.0 {
            return self;
        }
        self.constant(1.0).div(self.inverse_sqrt())
    }
    fn floor(self) -> Self {
        self.span(self.low.floor(), self.high.floor())
    }
    fn trunc(self) -> Self {
        self.span(self.low.trunc(), self.high.trunc())
    }
    fn min(self, other: Self) -> Self {
        self.rounded(other, f64::min)
    }
    fn max(self, other: Self) -> Self {
        self.rounded(other, f64::max)
    }
    /// `x * y + z`, or that rounded once.
    fn fma(self, factor: Self, more: Self) -> Self {
        self.mul(factor).add(more)
    }
    fn neg(self) -> Self {
        Allowed {
            low: -self.high,
            high: -self.low,
            ..self
        }
    }
    fn if_negative(self, yes: Self, no: Self) -> Self {
        if self.high < 0.0 {
            yes
        } else if self.low >= 0.0 {
            no
        } else {
            yes.or(no)
        }
    }
}
