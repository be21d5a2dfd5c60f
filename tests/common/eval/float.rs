//! Floats as bit patterns of three formats, by exact integers and one rounding.

use vyre::ir::Scalar;

/// A binary format of IEEE 754.
#[derive(Clone, Copy)]
pub struct Format {
    /// Stored bits of the fraction.
    pub fraction: u32,
    pub exponent: u32,
}

impl Format {
    pub fn of(ty: Scalar) -> Format {
        let (fraction, exponent) = match ty {
            Scalar::F16 => (10, 5),
            Scalar::F32 => (23, 8),
            Scalar::F64 => (52, 11),
            _ => panic!("{ty} is no float"),
        };
        Format { fraction, exponent }
    }

    fn sign_bit(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    pub fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    /// The exponent of the last bit of the smallest numbers.
    fn smallest(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction as i32
    }

    pub fn is_negative(self, bits: u64) -> bool {
        bits & self.sign_bit() != 0
    }

    pub fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign_bit() > self.infinity()
    }

    pub fn is_finite(self, bits: u64) -> bool {
        bits & !self.sign_bit() < self.infinity()
    }

    pub fn abs(self, bits: u64) -> u64 {
        bits & !self.sign_bit()
    }

    pub fn neg(self, bits: u64) -> u64 {
        bits ^ self.sign_bit()
    }

    /// A finite number's magnitude as `m * 2^e`.
    pub fn parts(self, bits: u64) -> (u64, i32) {
        let fraction = bits & ((1 << self.fraction) - 1);
        let exponent = (self.abs(bits) >> self.fraction) as i32;
        match exponent {
            0 => (fraction, self.smallest()),
            e => (fraction | 1 << self.fraction, self.smallest() + e - 1),
        }
    }

    /// `m * 2^e`, rounded to nearest even.
    pub fn round(self, negative: bool, m: u128, e: i32) -> u64 {
        let sign = if negative { self.sign_bit() } else { 0 };
        if m == 0 {
            return sign;
        }
        let width = (128 - m.leading_zeros()) as i32;
        // The last bit that the format keeps of this number.
        let last = (e + width - 1 - self.fraction as i32).max(self.smallest());
        let drop = last - e;
        let kept = match drop {
            i32::MIN..=0 => m << -drop,
            // Less than half of the last bit.
            d if d > width => 0,
            128 => u128::from(m > 1 << 127),
            d => {
                let (kept, rest, half) = (m >> d, m & ((1 << d) - 1), 1 << (d - 1));
                let up = rest > half || rest == half && kept & 1 == 1;
                kept + u128::from(up)
            }
        };
        // A carry out of the fraction lands in the exponent, where it belongs.
        let normal = kept >> self.fraction != 0;
        let exponent = if normal { last - self.smallest() } else { 0 };
        let bits = (kept as u64).wrapping_add((exponent as u64) << self.fraction);
        match exponent >= 1 << self.exponent || bits >= self.infinity() {
            true => sign | self.infinity(),
            false => sign | bits,
        }
    }
}

/// Any float as f64; exact.
pub fn to_f64(ty: Scalar, bits: u64) -> f64 {
    match ty {
        Scalar::F64 => f64::from_bits(bits),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F16 => {
            let format = Format::of(ty);
            let magnitude = if format.is_nan(bits) {
                f64::NAN
            } else if format.is_finite(bits) {
                let (m, e) = format.parts(bits);
                // A power of two within range: exact.
                m as f64 * f64::powi(2.0, e)
            } else {
                f64::INFINITY
            };
            magnitude.copysign(if format.is_negative(bits) { -1.0 } else { 1.0 })
        }
        _ => panic!("{ty} is no float"),
    }
}

/// Rounded to nearest even.
pub fn from_f64(ty: Scalar, x: f64) -> u64 {
    match ty {
        Scalar::F64 => x.to_bits(),
        Scalar::F32 => u64::from((x as f32).to_bits()),
        Scalar::F16 => {
            let format = Format::of(ty);
            let sign = if x.is_sign_negative() {
                format.sign_bit()
            } else {
                0
            };
            if x.is_nan() {
                sign | format.nan()
            } else if x.is_infinite() {
                sign | format.infinity()
            } else {
                let (m, e) = Format::of(Scalar::F64).parts(x.to_bits());
                format.round(sign != 0, u128::from(m), e)
            }
        }
        _ => panic!("{ty} is no float"),
    }
}
