//! binary16, by bit operations.

/// The binary16 nearest to `x`, ties to even; overflow gives infinity, NaN a quiet NaN.
pub fn from_f64(x: f64) -> u16 {
    let bits = x.to_bits();
    let sign = ((bits >> 48) & 0x8000) as u16;
    let magnitude = bits & !(1 << 63);
    const INFINITY: u64 = 0x7ff0_0000_0000_0000;
    if magnitude > INFINITY {
        return sign | 0x7e00;
    }
    let exponent = (magnitude >> 52) as i32 - 1023;
    if exponent > 15 {
        return sign | 0x7c00;
    }
    if exponent < -25 {
        return sign;
    }
    let significand = (magnitude & ((1 << 52) - 1)) | (1 << 52);
    // Normal numbers keep 10 bits behind the point, denormal ones fewer.
    let (base, shift) = if exponent >= -14 {
        (((exponent + 14) as u64) << 10, 42)
    } else {
        (0, (42 - 14 - exponent) as u32)
    };
    let kept = significand >> shift;
    let rest = significand & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    let up = rest > half || (rest == half && kept & 1 == 1);
    // A carry out of the significand moves the exponent on by itself, to infinity at the end.
    sign | (base + kept + u64::from(up)) as u16
}

pub fn from_f32(x: f32) -> u16 {
    from_f64(f64::from(x))
}

/// Exact.
pub fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10) & 0x1f;
    let fraction = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => (fraction as f32 * 2f32.powi(-24)).to_bits(),
        31 => 0x7f80_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_round_trip() {
        for half in 0..=u16::MAX {
            let x = to_f32(half);
            let back = from_f32(x);
            if x.is_nan() {
                assert!(to_f32(back).is_nan());
            } else {
                assert_eq!(back, half, "{x}");
            }
        }
    }

    #[test]
    fn rounding_goes_to_the_nearest_and_ties_to_even() {
        for half in 0..0x7bffu16 {
            let (low, high) = (f64::from(to_f32(half)), f64::from(to_f32(half + 1)));
            let middle = (low + high) / 2.0;
            let even = if half & 1 == 0 { half } else { half + 1 };
            assert_eq!(from_f64(middle), even);
            assert_eq!(from_f64(middle.next_down()), half);
            assert_eq!(from_f64(middle.next_up()), half + 1);
            assert_eq!(from_f64(-middle), 0x8000 | even);
        }
        assert_eq!(from_f64(65519.99), 0x7bff);
        assert_eq!(from_f64(65520.0), 0x7c00);
        assert_eq!(from_f64(1e300), 0x7c00);
        assert_eq!(from_f64(f64::MIN_POSITIVE), 0);
        assert_eq!(from_f64(-0.0), 0x8000);
    }
}
