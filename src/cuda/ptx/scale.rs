//! Taking floats apart and scaling them, by their bits.

use super::emitter::Emitter;
use super::text::{Class, Val};
use crate::ir::Scalar;

/// Where the parts of a format stand. An f16 is held as an f32, where none of its numbers is denormal.
struct Format {
    class: Class,
    bits: u32,
    fraction: u32,
    bias: u64,
}

impl Format {
    fn of(ty: Scalar) -> Format {
        match ty {
            Scalar::F64 => Format {
                class: Class::B64,
                bits: 64,
                fraction: 52,
                bias: 1023,
            },
            _ => Format {
                class: Class::B32,
                bits: 32,
                fraction: 23,
                bias: 127,
            },
        }
    }

    fn exponents(&self) -> u64 {
        2 * self.bias + 1
    }

    /// A power of two of this format.
    fn power(&self, exponent: i64) -> Val {
        let bits = (self.bias.cast_signed() + exponent).cast_unsigned() << self.fraction;
        match self.class {
            Class::B64 => Val::F64(bits),
            _ => Val::F32(bits as u32),
        }
    }
}

impl Emitter<'_> {
    /// Fraction and exponent; zero, infinity and NaN come back unchanged with exponent 0.
    pub fn frexp(&mut self, ty: Scalar, x: Val) -> (Val, Val) {
        const SCALED: u64 = 64;
        let format = Format::of(ty);
        let (bits, class, shift) = (format.bits, format.class, format.fraction);
        let exponents = Val::Int(format.exponents() << shift);
        let x = match x {
            Val::Reg(reg) => reg,
            immediate => {
                let reg = self.reg(class);
                self.mov(reg, immediate);
                reg
            }
        };
        let x = Val::from(x);
        let magnitude = self.abs(ty, x);
        let is_zero = self.pred(&format!("setp.eq.b{bits}"), &[magnitude, Val::Int(0)]);
        let is_endless = self.pred(&format!("setp.ge.u{bits}"), &[magnitude, exponents]);
        let is_special = self.pred("or.pred", &[is_zero, is_endless]);
        // Denormals are scaled first; that is exact.
        let smallest = Val::Int(1 << shift);
        let is_denormal = self.pred(&format!("setp.lt.u{bits}"), &[magnitude, smallest]);
        let power = format.power(SCALED as i64);
        let scaled = self.op(class, &format!("mul.rn.f{bits}"), &[x, power]);
        let normal = self.op(
            class,
            &format!("selp.b{bits}"),
            &[scaled.into(), x, is_denormal],
        );
        let rest = !(format.exponents() << shift) & (u64::MAX >> (64 - bits));
        let own = self.op(
            class,
            &format!("and.b{bits}"),
            &[normal.into(), Val::Int(rest)],
        );
        let half = Val::Int((format.bias - 1) << shift);
        let fraction = self.op(class, &format!("or.b{bits}"), &[own.into(), half]);
        let fraction = self.op(
            class,
            &format!("selp.b{bits}"),
            &[x, fraction.into(), is_special],
        );

        let field = self.op(
            class,
            &format!("shr.u{bits}"),
            &[normal.into(), Val::Int(shift.into())],
        );
        let field = match class {
            Class::B64 => self.op32("cvt.u32.u64", &[field.into()]),
            _ => field.into(),
        };
        let field = self.op32("and.b32", &[field, Val::Int(format.exponents())]);
        let bias = [format.bias - 1 + SCALED, format.bias - 1].map(Val::Int);
        let bias = self.op32("selp.b32", &[bias[0], bias[1], is_denormal]);
        let exponent = self.op32("sub.s32", &[field, bias]);
        let exponent = self.op32("selp.b32", &[Val::Int(0), exponent, is_special]);
        (fraction.into(), exponent)
    }

    /// `x * 2^exponent`, rounded once.
    pub fn ldexp(&mut self, ty: Scalar, x: Val, exponent: Val) -> Val {
        if ty == Scalar::F64 {
            return self.ldexp_f64(x, exponent);
        }
        // Exact in f64 as far as f32 reaches. An f16's 11 bits stay exact in f32 wherever the f16
        // is not zero.
        let wide = self.op64("cvt.f64.f32", &[x]);
        let scaled = self.times_power(wide, exponent, 400, 400);
        let narrow = self.op32("cvt.rn.f32.f64", &[scaled]);
        self.rounded(ty, narrow)
    }

    /// In four steps, which cover every exponent that can still matter: only the last may leave the
    /// normal range, and those before it stop 53 bits short of it.
    fn ldexp_f64(&mut self, x: Val, exponent: Val) -> Val {
        let format = Format::of(Scalar::F64);
        let (mut x, mut rest) = (x, exponent);
        for _ in 0..3 {
            let up = self.pred("setp.gt.s32", &[rest, Val::Int(1023)]);
            let down = self.pred("setp.lt.s32", &[rest, negative(1022)]);
            let [one, high, low] = [0, 1023, -969].map(|n| as_int(format.power(n)));
            let power = self.op64("selp.b64", &[low, one, down]);
            let power = self.op64("selp.b64", &[high, power, up]);
            let taken = self.op32("selp.b32", &[negative(969), Val::Int(0), down]);
            let taken = self.op32("selp.b32", &[Val::Int(1023), taken, up]);
            x = self.op64("mul.rn.f64", &[x, power]);
            rest = self.op32("sub.s32", &[rest, taken]);
        }
        self.times_power(x, rest, 1022, 1023)
    }

    /// An f64 times 2^exponent, the exponent taken within `-least..=most`, where the power is normal.
    pub fn times_power(&mut self, x: Val, exponent: Val, least: u64, most: u64) -> Val {
        let exponent = self.op32("max.s32", &[exponent, negative(least)]);
        let exponent = self.op32("min.s32", &[exponent, Val::Int(most)]);
        let field = self.op32("add.s32", &[exponent, Val::Int(1023)]);
        let field = self.op64("cvt.u64.u32", &[field]);
        let power = self.op64("shl.b64", &[field, Val::Int(52)]);
        self.op64("mul.rn.f64", &[x, power])
    }
}

/// `-n` as an i32.
fn negative(n: u64) -> Val {
    Val::Int(n.wrapping_neg() & 0xffff_ffff)
}

fn as_int(x: Val) -> Val {
    super::expr::as_bits(x)
}
