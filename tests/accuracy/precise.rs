//! Functions of f64 in 128 bits and more, by a library that rounds correctly at any number of bits.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};

use super::format::{Format, power};

pub type Big = BigFloat;

/// Enough for the 53 bits of an f64 and the error to be seen to 2^-70 of its last place.
const BITS: usize = 128;
/// For what is computed on the way: a power has 11 bits less than its exponent.
const MORE: usize = 192;
const NEAREST: RoundingMode = RoundingMode::ToEven;

/// A function of the library: operand, bits, rounding, its constants.
type Function = fn(&Big, usize, RoundingMode, &mut Consts) -> Big;

pub struct Precise {
    constants: Consts,
}

impl Precise {
    pub fn new() -> Precise {
        Precise {
            constants: Consts::new().expect("memory for constants"),
        }
    }

    pub fn of(&mut self, x: f64, f: Function) -> Big {
        f(&big(x), BITS, NEAREST, &mut self.constants)
    }

    // The library's own power and logarithm to base 2 look for the rounding of exact results without end.
    pub fn exp2(&mut self, x: f64) -> Big {
        self.pow(2.0, x)
    }

    pub fn log2(&mut self, x: f64) -> Big {
        let c = &mut self.constants;
        let (log, two) = (big(x).ln(MORE, NEAREST, c), c.ln_2(MORE, NEAREST));
        log.div(&two, MORE, NEAREST)
    }

    /// NaN where x isn't positive.
    pub fn pow(&mut self, x: f64, y: f64) -> Big {
        if x > 0.0 {
            let c = &mut self.constants;
            let log = big(x).ln(MORE, NEAREST, c);
            big(y).mul(&log, MORE, NEAREST).exp(BITS, NEAREST, c)
        } else {
            Big::nan(None)
        }
    }

    /// The angle of (x, y).
    pub fn atan2(&mut self, y: f64, x: f64) -> Big {
        let ratio = big(y).div(&big(x), BITS, NEAREST);
        let c = &mut self.constants;
        if x == 0.0 || ratio.is_inf() {
            let half = c.pi(BITS, NEAREST).div(&big(2.0), BITS, NEAREST);
            return half.mul(&big(y.signum()), BITS, NEAREST);
        }
        let angle = ratio.atan(BITS, NEAREST, c);
        if x > 0.0 {
            return angle;
        }
        let turn = c.pi(BITS, NEAREST).mul(&big(y.signum()), BITS, NEAREST);
        angle.add(&turn, BITS, NEAREST)
    }
}

/// Exact.
fn big(x: f64) -> Big {
    if x == 0.0 || !x.is_subnormal() {
        return Big::from_f64(x, BITS);
    }
    // The library halves denormal numbers.
    let mut number = Big::from_f64(x * power(100), BITS);
    let exponent = number.exponent().expect("a number");
    number.set_exponent(exponent - 100);
    number
}

/// The nearest f64 of `x * 2^scale`, or one next to it; denormal ones are truncated.
fn scaled(x: &Big, scale: i32) -> f64 {
    if x.is_nan() || x.is_inf() {
        let infinity = if x.is_negative() {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        return if x.is_nan() { f64::NAN } else { infinity };
    }
    if x.is_zero() {
        return 0.0;
    }
    let (words, _, sign, exponent, _) = x.as_raw_parts().expect("a number");
    // The words are a fraction, the highest one last.
    let mut fraction = 0.0;
    for (at, &word) in words.iter().rev().take(2).enumerate() {
        fraction += word as f64 * power(-64 * (at as i32 + 1));
    }
    let exponent = exponent.saturating_add(scale);
    let size = match exponent {
        1025.. => f64::INFINITY,
        1024 => fraction * 2.0 * power(1023),
        -1074.. => fraction * power(exponent),
        _ => 0.0,
    };
    if sign == Sign::Neg { -size } else { size }
}

pub fn nearest(x: &Big) -> f64 {
    scaled(x, 0)
}

/// By how many units in the last place of f64 `seen` is off; infinitely many if it is no number.
pub fn error(truth: &Big, seen: f64) -> f64 {
    if !seen.is_finite() {
        return f64::INFINITY;
    }
    let near = nearest(truth);
    let unit = Format::F64.ulp(near);
    let exponent = if unit < power(-1022) {
        (unit.to_bits().trailing_zeros()).cast_signed() - 1074
    } else {
        (unit.to_bits() >> 52) as i32 - 1023
    };
    let difference = big(seen).sub(truth, 4 * BITS, NEAREST);
    scaled(&difference, -exponent).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_errors() {
        let mut precise = Precise::new();
        let pi = precise.atan2(0.0, -1.0);
        assert_eq!(nearest(&pi), std::f64::consts::PI);
        // Pi is 1.2246e-16 above the nearest f64, whose last place is 4.4e-16.
        let off = error(&pi, std::f64::consts::PI);
        assert!((off - 1.2246 / 4.4409).abs() < 1e-3, "{off}");
        let off = error(&pi, std::f64::consts::PI.next_up());
        assert!((off - (1.0 - 1.2246 / 4.4409)).abs() < 1e-3, "{off}");
        let tiny = precise.exp2(-1074.5);
        let off = error(&tiny, 5e-324);
        assert!((off - (1.0 - 0.5f64.sqrt())).abs() < 1e-9, "{off}");
        assert!(nearest(&precise.pow(-1.0, 2.0)).is_nan());
        assert_eq!(error(&precise.exp2(3.0), 8.0), 0.0);
    }
}
