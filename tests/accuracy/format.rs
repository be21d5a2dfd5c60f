//! The float formats: their numbers as f64s, neighbours, and units in the last place.

/// A format whose numbers are all f64s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    F16,
    F32,
    F64,
}

use Format::{F16, F32, F64};

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            F16 => 16,
            F32 => 32,
            F64 => 64,
        }
    }

    /// Bits of the fraction as stored.
    pub fn fraction(self) -> u32 {
        match self {
            F16 => 10,
            F32 => 23,
            F64 => 52,
        }
    }

    /// The exponent of the smallest normal number.
    pub fn least(self) -> i32 {
        match self {
            F16 => -14,
            F32 => -126,
            F64 => -1022,
        }
    }

    /// The exponent of the largest power of two.
    pub fn most(self) -> i32 {
        1 - self.least()
    }

    pub fn max(self) -> f64 {
        self.decode(self.infinity() - 1)
    }

    /// The bits of infinity.
    pub fn infinity(self) -> u64 {
        ((1 << (self.bits() - 1 - self.fraction())) - 1) << self.fraction()
    }

    pub fn decode(self, bits: u64) -> f64 {
        match self {
            F16 => half(bits),
            F32 => f64::from(f32::from_bits(bits as u32)),
            F64 => f64::from_bits(bits),
        }
    }

    /// The bits of the nearest number, ties to even.
    pub fn encode(self, x: f64) -> u64 {
        match self {
            F16 => half_bits(x),
            F32 => u64::from((x as f32).to_bits()),
            F64 => x.to_bits(),
        }
    }

    pub fn nearest(self, x: f64) -> f64 {
        self.decode(self.encode(x))
    }

    /// The largest number not above `x`, and the smallest not below.
    pub fn around(self, x: f64) -> (f64, f64) {
        let near = self.nearest(x);
        if near > x {
            (self.step(near, -1), near)
        } else if near < x {
            (near, self.step(near, 1))
        } else {
            (near, near)
        }
    }

    /// Numbers in their order: zero is 0, the smallest positive one 1, and so on to infinity.
    pub fn place(self, x: f64) -> i64 {
        let top = 1u64 << (self.bits() - 1);
        let bits = self.encode(x);
        let size = (bits & !top).cast_signed();
        if bits & top == 0 { size } else { -size }
    }

    pub fn at(self, place: i64) -> f64 {
        let magnitude = self.decode(place.unsigned_abs());
        if place < 0 { -magnitude } else { magnitude }
    }

    /// So many numbers up or down, to an infinity at most.
    pub fn step(self, x: f64, by: i64) -> f64 {
        let end = self.infinity().cast_signed();
        self.at(self.place(x).saturating_add(by).clamp(-end, end))
    }

    /// WGSL's unit in the last place of a real number.
    pub fn ulp(self, x: f64) -> f64 {
        let x = x.abs().min(self.max());
        let smallest = power(self.least());
        if x <= smallest {
            return power(self.least() - self.fraction().cast_signed());
        }
        let exponent = (x.to_bits() >> 52) as i32 - 1023;
        // At a power of two, the numbers below are closer.
        let is_power = x.to_bits() << 12 == 0;
        power(exponent - self.fraction().cast_signed() - i32::from(is_power))
    }
}

/// Exact, also where it is denormal.
pub fn power(exponent: i32) -> f64 {
    if exponent < -1022 {
        return f64::from_bits(1 << (exponent + 1074));
    }
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn half(bits: u64) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = (bits & 0x3ff) as f64;
    sign * match bits >> 10 & 0x1f {
        0 => fraction * power(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * power(exponent as i32 - 25),
    }
}

fn half_bits(x: f64) -> u64 {
    let sign = x.to_bits() >> 63 << 15;
    let size = x.abs();
    if size.is_nan() {
        return 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    if size < power(-14) {
        return sign | (size * power(24)).round_ties_even() as u64;
    }
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    // From 1024 to 2048, where the numbers are the integers; 2048 carries into the exponent.
    let whole = (size * power(10 - exponent)).round_ties_even() as u64;
    sign | (whole + (((exponent + 14) as u64) << 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_survive_the_trip_and_round_to_even() {
        for bits in 0..=0xffff {
            let x = F16.decode(bits);
            assert!(x.is_nan() || F16.encode(x) == bits);
            if x.is_finite() && bits < 0x7bff {
                let middle = (x + F16.step(x, 1)) / 2.0;
                assert_eq!(F16.encode(middle), bits + (bits & 1));
                assert_eq!(F16.encode(middle.next_up()), bits + 1);
            }
        }
    }

    #[test]
    fn units_and_neighbours() {
        assert_eq!(F32.ulp(1.5), power(-23));
        assert_eq!(F32.ulp(1.0), power(-24));
        assert_eq!(F32.ulp(0.0), power(-149));
        assert_eq!(F64.ulp(1e-320), power(-1074));
        assert_eq!(F16.ulp(1e9), 32.0);
        assert_eq!(F16.max(), 65504.0);
        assert_eq!(F32.step(0.0, -1), -power(-149));
        assert_eq!(F32.step(-power(-149), 2), power(-149));
        assert_eq!(F32.around(0.1).1, f64::from(0.1f32));
        assert_eq!(F16.around(1e9), (65504.0, f64::INFINITY));
    }
}
