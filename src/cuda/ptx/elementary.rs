//! Functions that WGSL gives an error bound: computed in f64 and rounded once.
//!
//! The formulas are Taylor series of the functions themselves on a reduced range, and the identities that
//! lead there. Each series is cut where its rest is below 2^-38 of the result, far within the rounding of an f32, so
//! that f32 and f16 results are within one unit in the last place wherever the reduction is good: everywhere,
//! but for sine, cosine and tangent beyond 2^45 (WGSL promises nothing beyond pi), whose
//! results only stay within the functions' ranges there. `inverseSqrt` of f32 is the machine's
//! approximation, within the 2 units that WGSL allows.
//!
//! An f64 would need longer series, and is refused rather than given 38 good bits.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI};

use super::emitter::Emitter;
use super::text::Val;
use crate::ir::{MathOp, Scalar};

const SIGN: Val = Val::Int(1 << 63);
const NAN: Val = Val::Int(0x7ff8 << 48);
const INFINITY: f64 = f64::INFINITY;

fn c(x: f64) -> Val {
    Val::f64(x)
}

/// An operand of an instruction on bits.
fn b(x: f64) -> Val {
    Val::Int(x.to_bits())
}

/// `1/0!, 1/1!, ...`
fn inverse_factorials() -> impl Iterator<Item = f64> {
    (0..).scan(1.0, |factorial, k| {
        if k > 0 {
            *factorial *= f64::from(k);
        }
        Some(1.0 / *factorial)
    })
}

/// Every second one, from the first or second on, with alternating signs or not.
fn every_second(first: usize, count: usize, alternate: bool) -> Vec<f64> {
    let signs = [1.0, if alternate { -1.0 } else { 1.0 }];
    (inverse_factorials().skip(first).step_by(2).take(count))
        .zip(signs.into_iter().cycle())
        .map(|(x, sign)| x * sign)
        .collect()
}

/// `1, s/3, 1/5, s/7, ...` for s = 1 or -1.
fn odd_inverses(count: u32, sign: f64) -> Vec<f64> {
    (0..count)
        .map(|k| sign.powi(k as i32) / f64::from(2 * k + 1))
        .collect()
}

impl Emitter<'_> {
    pub fn elementary(&mut self, op: MathOp, of: Scalar, args: &[Val]) -> Val {
        if op == MathOp::InverseSqrt {
            return self.inverse_sqrt(of, args[0]);
        }
        if of == Scalar::F64 {
            self.refuse(
                &format!("{op:?} of f64 is not available on CUDA"),
                "Compute it in f32, or run the program on VYRE_BACKEND_CPU.",
            );
            return args[0];
        }
        let wide: Vec<Val> = (args.iter())
            .map(|&x| self.op64("cvt.f64.f32", &[x]))
            .collect();
        let x = wide[0];
        let result = match op {
            MathOp::Sin | MathOp::Cos | MathOp::Tan => self.circular(op, x),
            MathOp::Atan => self.atan(x),
            MathOp::Atan2 => self.atan2(x, wide[1]),
            MathOp::Asin | MathOp::Acos => {
                // The square is exact; beyond 1 the root is NaN.
                let square = self.mul(x, x);
                let rest = self.sub(c(1.0), square);
                let other = self.op64("sqrt.rn.f64", &[rest]);
                match op {
                    MathOp::Asin => self.atan2(x, other),
                    _ => self.atan2(other, x),
                }
            }
            MathOp::Sinh | MathOp::Cosh | MathOp::Tanh => self.hyperbolic(op, x),
            MathOp::Asinh => self.asinh(x),
            MathOp::Acosh => self.acosh(x),
            MathOp::Atanh => {
                let a = self.magnitude(x);
                let twice = self.add(a, a);
                let rest = self.sub(c(1.0), a);
                let u = self.div(twice, rest);
                let ln = self.ln_1p(u);
                let half = self.mul(ln, c(0.5));
                self.with_sign(half, x)
            }
            MathOp::Exp => {
                let power = self.mul(x, c(LOG2_E));
                self.exp2(power)
            }
            MathOp::Exp2 => self.exp2(x),
            MathOp::Log => {
                let (exponent, ln) = self.log_parts(x, None);
                let sum = self.fma64(exponent, c(LN_2), ln);
                self.log_edges(x, sum)
            }
            MathOp::Log2 => self.log2(x),
            MathOp::Pow => self.pow(x, wide[1]),
            _ => unreachable!("{op:?} has instructions of its own"),
        };
        let narrow = self.op32("cvt.rn.f32.f64", &[result]);
        self.rounded(of, narrow)
    }

    fn inverse_sqrt(&mut self, of: Scalar, x: Val) -> Val {
        if of == Scalar::F64 {
            let root = self.op64("sqrt.rn.f64", &[x]);
            return self.div(c(1.0), root);
        }
        let result = self.op32("rsqrt.approx.f32", &[x]);
        self.rounded(of, result)
    }

    fn add(&mut self, a: Val, b: Val) -> Val {
        self.op64("add.rn.f64", &[a, b])
    }

    fn sub(&mut self, a: Val, b: Val) -> Val {
        self.op64("sub.rn.f64", &[a, b])
    }

    fn mul(&mut self, a: Val, b: Val) -> Val {
        self.op64("mul.rn.f64", &[a, b])
    }

    fn div(&mut self, a: Val, b: Val) -> Val {
        self.op64("div.rn.f64", &[a, b])
    }

    fn fma64(&mut self, a: Val, b: Val, c: Val) -> Val {
        self.op64("fma.rn.f64", &[a, b, c])
    }

    fn magnitude(&mut self, x: Val) -> Val {
        self.abs(Scalar::F64, x)
    }

    /// A magnitude with the sign of `x`.
    fn with_sign(&mut self, magnitude: Val, x: Val) -> Val {
        let sign = self.op64("and.b64", &[x, SIGN]);
        self.op64("or.b64", &[magnitude, sign])
    }

    fn choose(&mut self, relation: &str, a: Val, b: Val, yes: Val, no: Val) -> Val {
        let holds = self.pred(&format!("setp.{relation}.f64"), &[a, b]);
        self.select(Scalar::F64, holds, yes, no)
    }

    fn within(&mut self, x: Val, most: f64) -> Val {
        let x = self.op64("min.f64", &[x, c(most)]);
        self.op64("max.f64", &[x, c(-most)])
    }

    /// NaN where `x` is NaN, which `min` and `max` have dropped.
    fn unless_nan(&mut self, x: Val, result: Val) -> Val {
        self.choose("num", x, x, result, NAN)
    }

    /// A polynomial, its lowest coefficient first.
    fn polynomial(&mut self, x: Val, coefficients: &[f64]) -> Val {
        let (&highest, lower) = (coefficients.split_last()).expect("a polynomial has coefficients");
        let mut sum = c(highest);
        for &coefficient in lower.iter().rev() {
            sum = self.fma64(sum, x, c(coefficient));
        }
        sum
    }

    /// `x` times a polynomial in `x * x`.
    fn odd(&mut self, x: Val, coefficients: &[f64]) -> Val {
        let square = self.mul(x, x);
        let sum = self.polynomial(square, coefficients);
        self.mul(x, sum)
    }

    /// By the nearest integer power and e^t for t within ln(2) / 2.
    fn exp2(&mut self, x: Val) -> Val {
        let near = self.within(x, 1000.0);
        let whole = self.op64("cvt.rni.f64.f64", &[near]);
        let rest = self.sub(near, whole);
        let t = self.mul(rest, c(LN_2));
        let series: Vec<f64> = inverse_factorials().take(12).collect();
        let sum = self.polynomial(t, &series);
        let exponent = self.op32("cvt.rni.s32.f64", &[whole]);
        let result = self.times_power(sum, exponent, 1000, 1000);
        self.unless_nan(x, result)
    }

    /// Exponent and ln(m) of `x = m * 2^exponent`, m around 1: `ln m = 2 atanh((m - 1) / (m + 1))`.
    /// `above`: x - 1 where that is known better than x is.
    fn log_parts(&mut self, x: Val, above: Option<Val>) -> (Val, Val) {
        let field = self.op64("shr.u64", &[x, Val::Int(52)]);
        let field = self.op32("cvt.u32.u64", &[field]);
        let exponent = self.op32("sub.s32", &[field, Val::Int(1023)]);
        let exponent = self.op64("cvt.rn.f64.s32", &[exponent]);
        let fraction = self.op64("and.b64", &[x, Val::Int((1 << 52) - 1)]);
        let m = self.op64("or.b64", &[fraction, b(1.0)]);
        // Around 1 from both sides.
        let is_high = self.pred("setp.gt.f64", &[m, c(std::f64::consts::SQRT_2)]);
        let half = self.mul(m, c(0.5));
        let m = self.select(Scalar::F64, is_high, half, m);
        let next = self.add(exponent, c(1.0));
        let mut exponent = self.select(Scalar::F64, is_high, next, exponent);
        let mut upper = self.sub(m, c(1.0));
        let mut lower = self.add(m, c(1.0));
        if let Some(above) = above {
            let size = self.magnitude(above);
            let is_near = self.pred("setp.lt.f64", &[size, c(0.25)]);
            let sum = self.add(above, c(2.0));
            upper = self.select(Scalar::F64, is_near, above, upper);
            lower = self.select(Scalar::F64, is_near, sum, lower);
            exponent = self.select(Scalar::F64, is_near, b(0.0), exponent);
        }
        let s = self.div(upper, lower);
        let area = self.odd(s, &odd_inverses(9, 1.0));
        (exponent, self.add(area, area))
    }

    /// A logarithm's value at zero, infinity, and where there is none.
    fn log_edges(&mut self, x: Val, result: Val) -> Val {
        let result = self.choose("eq", x, c(0.0), b(-INFINITY), result);
        let result = self.choose("eq", x, c(INFINITY), b(INFINITY), result);
        self.choose("ge", x, c(0.0), result, NAN)
    }

    fn log2(&mut self, x: Val) -> Val {
        let (exponent, ln) = self.log_parts(x, None);
        let sum = self.fma64(ln, c(LOG2_E), exponent);
        self.log_edges(x, sum)
    }

    /// `ln(1 + u)`.
    fn ln_1p(&mut self, u: Val) -> Val {
        let x = self.add(u, c(1.0));
        let (exponent, ln) = self.log_parts(x, Some(u));
        let sum = self.fma64(exponent, c(LN_2), ln);
        self.log_edges(x, sum)
    }

    /// By the nearest multiple of pi/2, in two parts.
    fn circular(&mut self, op: MathOp, x: Val) -> Val {
        const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;
        let turns = self.mul(x, c(2.0 / PI));
        let k = self.op64("cvt.rni.f64.f64", &[turns]);
        let rest = self.fma64(k, c(-FRAC_PI_2), x);
        let rest = self.fma64(k, c(-FRAC_PI_2_REST), rest);
        let rest = self.within(rest, 0.8);
        let sine = self.odd(rest, &every_second(1, 8, true));
        let square = self.mul(rest, rest);
        let cosine = self.polynomial(square, &every_second(0, 9, true));
        let quadrant = self.op64("cvt.rni.s64.f64", &[k]);
        let odd = self.op64("and.b64", &[quadrant, Val::Int(1)]);
        let is_odd = self.pred("setp.ne.b64", &[odd, Val::Int(0)]);
        // Bit 1 of the quadrant, moved to the sign.
        let flip = |e: &mut Self, quadrant: Val, of: Val| {
            let half = e.op64("and.b64", &[quadrant, Val::Int(2)]);
            let sign = e.op64("shl.b64", &[half, Val::Int(62)]);
            e.op64("xor.b64", &[of, sign])
        };
        let sin = self.select(Scalar::F64, is_odd, cosine, sine);
        let sin = flip(self, quadrant, sin);
        let next = self.op64("add.u64", &[quadrant, Val::Int(1)]);
        let cos = self.select(Scalar::F64, is_odd, sine, cosine);
        let cos = flip(self, next, cos);
        let result = match op {
            MathOp::Sin => sin,
            MathOp::Cos => cos,
            _ => self.div(sin, cos),
        };
        let size = self.magnitude(x);
        let result = match op {
            MathOp::Cos => result,
            // So small a number is its own sine, with its sign when zero.
            _ => self.choose("lt", size, c(1e-9), x, result),
        };
        self.choose("lt", size, c(INFINITY), result, NAN)
    }

    /// Of a number that is not negative: `atan t = base + atan q` with q within tan(pi/8).
    fn atan_positive(&mut self, t: Val) -> Val {
        let tan = (PI / 8.0).tan();
        let middle = self.pred("setp.gt.f64", &[t, c(tan)]);
        let high = self.pred("setp.gt.f64", &[t, c(1.0 / tan)]);
        let [less, more] = [self.sub(t, c(1.0)), self.add(t, c(1.0))];
        let mut pick = |low: Val, mid: Val, top: Val| {
            let value = self.select(Scalar::F64, middle, mid, low);
            self.select(Scalar::F64, high, top, value)
        };
        let upper = pick(t, less, b(-1.0));
        let lower = pick(b(1.0), more, t);
        let base = pick(b(0.0), b(FRAC_PI_4), b(FRAC_PI_2));
        let q = self.div(upper, lower);
        let rest = self.odd(q, &odd_inverses(14, -1.0));
        self.add(base, rest)
    }

    fn atan(&mut self, x: Val) -> Val {
        let size = self.magnitude(x);
        let angle = self.atan_positive(size);
        self.with_sign(angle, x)
    }

    fn atan2(&mut self, y: Val, x: Val) -> Val {
        let (ax, ay) = (self.magnitude(x), self.magnitude(y));
        let low = self.op64("min.f64", &[ax, ay]);
        let high = self.op64("max.f64", &[ax, ay]);
        let ratio = self.div(low, high);
        // Two zeros and two infinities have no quotient, but an angle.
        let ratio = self.choose("eq", high, c(0.0), b(0.0), ratio);
        let ratio = self.choose("eq", low, c(INFINITY), b(1.0), ratio);
        let angle = self.atan_positive(ratio);
        let other = self.sub(c(FRAC_PI_2), angle);
        let angle = self.choose("gt", ay, ax, other, angle);
        let is_left = self.pred("setp.lt.s64", &[x, Val::Int(0)]);
        let other = self.sub(c(PI), angle);
        let angle = self.select(Scalar::F64, is_left, other, angle);
        let angle = self.with_sign(angle, y);
        let angle = self.unless_nan(x, angle);
        self.unless_nan(y, angle)
    }

    fn hyperbolic(&mut self, op: MathOp, x: Val) -> Val {
        // Beyond 30 the hyperbolic tangent is 1 to more digits than an f64 has.
        let near = match op {
            MathOp::Tanh => self.within(x, 30.0),
            _ => x,
        };
        let power = self.mul(near, c(LOG2_E));
        let up = self.exp2(power);
        let down = self.div(c(1.0), up);
        let sum = self.add(up, down);
        let cosh = self.mul(sum, c(0.5));
        let difference = self.sub(up, down);
        let far = self.mul(difference, c(0.5));
        // Near zero the difference loses what the series keeps.
        let series = self.odd(near, &every_second(1, 6, false));
        let size = self.magnitude(near);
        let sinh = self.choose("lt", size, c(0.5), series, far);
        let result = match op {
            MathOp::Sinh => sinh,
            MathOp::Cosh => cosh,
            _ => self.div(sinh, cosh),
        };
        self.unless_nan(x, result)
    }

    /// `ln(a + sqrt(a^2 + 1))`, written as `ln(1 + u)` so that nothing cancels near zero.
    fn asinh(&mut self, x: Val) -> Val {
        let a = self.magnitude(x);
        let square = self.mul(a, a);
        let sum = self.add(square, c(1.0));
        let root = self.op64("sqrt.rn.f64", &[sum]);
        let more = self.add(root, c(1.0));
        let part = self.div(square, more);
        let u = self.add(a, part);
        let ln = self.ln_1p(u);
        let ln = self.choose("eq", a, c(INFINITY), a, ln);
        self.with_sign(ln, x)
    }

    /// `ln(x + sqrt(x^2 - 1))`, from t = x - 1 so that nothing cancels near one.
    fn acosh(&mut self, x: Val) -> Val {
        let t = self.sub(x, c(1.0));
        let more = self.add(t, c(2.0));
        let product = self.mul(t, more);
        let root = self.op64("sqrt.rn.f64", &[product]);
        let u = self.add(t, root);
        let ln = self.ln_1p(u);
        self.choose("ge", x, c(1.0), ln, NAN)
    }

    /// `2^(y log2 |x|)`; of a negative x where y is an integer.
    fn pow(&mut self, x: Val, y: Val) -> Val {
        let size = self.magnitude(x);
        let log = self.log2(size);
        let power = self.mul(y, log);
        // One to any power is one, to infinity too.
        let power = self.choose("eq", log, c(0.0), b(0.0), power);
        let value = self.exp2(power);
        let whole = self.op64("cvt.rzi.f64.f64", &[y]);
        let half = self.mul(y, c(0.5));
        let whole_half = self.op64("cvt.rzi.f64.f64", &[half]);
        // An odd integer passes the base's sign on.
        let sign = self.op64("and.b64", &[x, SIGN]);
        let sign = self.choose("eq", half, whole_half, b(0.0), sign);
        let sign = self.choose("eq", y, whole, sign, b(0.0));
        let signed = self.op64("or.b64", &[value, sign]);
        let broken = self.choose("lt", x, c(0.0), NAN, signed);
        let broken = self.choose("eq", x, c(-INFINITY), signed, broken);
        let result = self.choose("eq", y, whole, signed, broken);
        self.choose("eq", y, c(0.0), b(1.0), result)
    }
}
