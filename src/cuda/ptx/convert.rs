//! Conversions between types, and rounding to f16.

use super::emitter::Emitter;
use super::expr::arithmetic;
use super::text::{Class, Val};
use crate::ir::Scalar;

/// The f32 that a binary16 number equals.
pub fn half_to_f32(half: u16) -> f32 {
    let fraction = f32::from(half & 0x3ff);
    let magnitude = match i32::from(half >> 10) & 0x1f {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if half >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

impl Emitter<'_> {
    /// An f16 result, rounded from the f32 that holds it. One f32 operation on f16 values, rounded
    /// again, is correctly rounded: 24 >= 2 * 11 + 2 bits.
    pub fn rounded(&mut self, ty: Scalar, x: Val) -> Val {
        if ty != Scalar::F16 {
            return x;
        }
        self.through_half("f32", x)
    }

    /// The nearest f16, held as f32.
    fn through_half(&mut self, from: &str, x: Val) -> Val {
        let half = self.op(Class::B16, &format!("cvt.rn.f16.{from}"), &[x]);
        self.op32("cvt.f32.f16", &[half.into()])
    }

    pub fn convert(&mut self, from: Scalar, to: Scalar, x: Val) -> Val {
        let class = Class::of(to);
        let (of, ty) = (arithmetic(from), arithmetic(to));
        match (from, to) {
            (from, to) if from == to => x,
            // NaN is true: unordered or not equal.
            (from, Scalar::Bool) if from.is_float() => {
                let zero = if from == Scalar::F64 {
                    Val::F64(0)
                } else {
                    Val::F32(0)
                };
                self.pred(&format!("setp.neu.{of}"), &[x, zero])
            }
            (_, Scalar::Bool) => self.pred(&format!("setp.ne.{of}"), &[x, Val::Int(0)]),
            (Scalar::Bool, to) => {
                let one = match to {
                    Scalar::F64 => Val::f64(1.0),
                    to if to.is_float() => Val::F32(1f32.to_bits()),
                    _ => Val::Int(1),
                };
                self.select(to, x, one, Val::Int(0))
            }
            (from, to) if from.is_int() && to.is_int() => match (from.size(), to.size()) {
                // Extended by the source's sign.
                (4, 8) if from.is_signed() => self.op64("cvt.s64.s32", &[x]),
                (4, 8) => self.op64("cvt.u64.u32", &[x]),
                (8, 4) => self.op32("cvt.u32.u64", &[x]),
                _ => x,
            },
            (from, Scalar::F16) if from.is_int() => {
                // Exact in f32 up to 2^24, and an f16 is infinite long before.
                let wide = self.op32(&format!("cvt.rn.f32.{of}"), &[x]);
                self.through_half("f32", wide)
            }
            (Scalar::F64, Scalar::F16) => self.through_half("f64", x),
            (Scalar::F32, Scalar::F16) => self.through_half("f32", x),
            (from, _) if from.is_int() => self.op(class, &format!("cvt.rn.{ty}.{of}"), &[x]).into(),
            (_, to) if to.is_int() => {
                // Out of range it saturates by itself, but of NaN PTX makes zero only in 32 bits.
                let whole = self.op(class, &format!("cvt.rzi.{ty}.{of}"), &[x]).into();
                let number = self.pred(&format!("setp.num.{of}"), &[x, x]);
                self.select(to, number, whole, Val::Int(0))
            }
            (_, Scalar::F64) => self.op64("cvt.f64.f32", &[x]),
            (Scalar::F64, _) => self.op32("cvt.rn.f32.f64", &[x]),
            // An f16 is held as an f32.
            _ => x,
        }
    }

    /// A float rounded to an integral value of its own type; `rni` to nearest even, `rzi` toward
    /// zero, `rmi` down, `rpi` up.
    pub fn integral(&mut self, rounding: &str, ty: Scalar, x: Val) -> Val {
        let of = arithmetic(ty);
        self.op(Class::of(ty), &format!("cvt.{rounding}.{of}.{of}"), &[x])
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::half_to_f32;

    #[test]
    fn halves_are_what_they_are() {
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0x7c00, f32::INFINITY),
        ];
        for (half, x) in known {
            assert_eq!(half_to_f32(half), x);
        }
        assert!(half_to_f32(0x7e00).is_nan());
        assert!(half_to_f32(0x8000).is_sign_negative());
    }
}
