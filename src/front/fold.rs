//! Constant folding, only where every backend computes the same bits.

use crate::ir::{BinaryOp, CompareOp, Const, MathOp, Operand, Scalar, UnaryOp};

/// A literal; `value` is exact or gets rounded to nearest even.
pub fn literal(ty: Scalar, value: f64) -> Const {
    convert(ty, Const::f64(value))
}

fn int(ty: Scalar, wide: i128) -> Const {
    let mask = if ty.bits() == 64 {
        u64::MAX
    } else {
        (1 << ty.bits()) - 1
    };
    // The wanted bits are the low ones, whatever the sign: wrapping is WGSL's rule.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let bits = wide as u64 & mask;
    Const { ty, bits }
}

/// An integer or bool as a number.
fn wide(c: Const) -> i128 {
    match c.ty {
        Scalar::I32 => i128::from((c.bits as u32).cast_signed()),
        Scalar::I64 => i128::from(c.bits.cast_signed()),
        _ => i128::from(c.bits),
    }
}

fn float(c: Const) -> f64 {
    match c.ty {
        Scalar::F16 => from_f16(c.bits as u16),
        Scalar::F32 => f64::from(f32::from_bits(c.bits as u32)),
        _ => f64::from_bits(c.bits),
    }
}

pub fn from_f16(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff);
    match bits >> 10 & 0x1f {
        0 => sign * fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    }
}

/// Rounded to nearest even.
pub fn to_f16(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let x = x.abs();
    if x.is_nan() {
        return 0x7e00;
    }
    if x >= 65520.0 {
        return sign | 0x7c00;
    }
    // The unit in the last place: that of the exponent, not below that of the denormals.
    let exponent = if x < 2f64.powi(-14) {
        -14
    } else {
        i32::try_from(x.to_bits() >> 52).expect("11 bits") - 1023
    };
    // Scaling by a power of two is exact, so this rounds once. Carries move into the exponent.
    let units = (x * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    let base = u16::try_from(exponent + 14).expect("at least the denormals' exponent") << 10;
    sign | (base + units)
}

pub fn convert(to: Scalar, c: Const) -> Const {
    if c.ty == to {
        return c;
    }
    if !c.ty.is_float() {
        let x = wide(c);
        return match to {
            Scalar::Bool => Const::bool(x != 0),
            Scalar::F16 => Const {
                ty: to,
                bits: u64::from(to_f16(x as f64)),
            },
            Scalar::F32 => Const::f32(x as f32),
            Scalar::F64 => Const::f64(x as f64),
            _ => int(to, x),
        };
    }
    let x = float(c);
    match to {
        Scalar::Bool => Const::bool(x != 0.0),
        Scalar::I32 => Const::i32(x as i32),
        Scalar::U32 => Const::u32(x as u32),
        Scalar::I64 => Const::i64(x as i64),
        Scalar::U64 => Const::u64(x as u64),
        Scalar::F16 => Const {
            ty: to,
            bits: u64::from(to_f16(x)),
        },
        Scalar::F32 => Const::f32(x as f32),
        Scalar::F64 => Const::f64(x),
    }
}

pub fn unary(op: UnaryOp, x: Operand) -> Option<Const> {
    let Operand::Const(c) = x else { return None };
    Some(match op {
        UnaryOp::Neg if c.ty.is_float() => Const {
            ty: c.ty,
            bits: c.bits ^ 1 << (c.ty.bits() - 1),
        },
        UnaryOp::Neg => int(c.ty, -wide(c)),
        UnaryOp::Not => int(c.ty, !wide(c)),
    })
}

/// Also the identities that need one constant only; floats have none that keep NaN and -0.
pub fn binary(op: BinaryOp, a: Operand, b: Operand) -> Option<Operand> {
    match (a, b) {
        (Operand::Const(a), Operand::Const(b)) if a.ty.is_float() => {
            float_binary(op, a, b).map(Operand::Const)
        }
        (Operand::Const(a), Operand::Const(b)) => Some(int_binary(op, a, b)?.into()),
        (x, Operand::Const(c)) if !c.ty.is_float() => right_identity(op, x, c),
        (Operand::Const(c), x) if !c.ty.is_float() => left_identity(op, c, x),
        _ => None,
    }
}

fn ones(ty: Scalar) -> u64 {
    int(ty, -1).bits
}

fn right_identity(op: BinaryOp, x: Operand, c: Const) -> Option<Operand> {
    use BinaryOp::*;
    match op {
        Add | Sub | Or | Xor | Shl | Shr if c.bits == 0 => Some(x),
        Mul | Div if c.bits == 1 => Some(x),
        And if c.bits == ones(c.ty) => Some(x),
        Mul | And if c.bits == 0 => Some(c.into()),
        Or if c.bits == ones(c.ty) => Some(c.into()),
        _ => None,
    }
}

fn left_identity(op: BinaryOp, c: Const, x: Operand) -> Option<Operand> {
    use BinaryOp::*;
    match op {
        // The others are not commutative.
        Add | Or | Xor | Mul | And => right_identity(op, x, c),
        _ => None,
    }
}

fn float_binary(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    // The bits of a NaN that comes out of an operation are the machine's choice.
    match a.ty {
        Scalar::F32 => {
            let (x, y) = (f32::from_bits(a.bits as u32), f32::from_bits(b.bits as u32));
            let r = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                _ => return None,
            };
            (!r.is_nan()).then(|| Const::f32(r))
        }
        Scalar::F64 => {
            let (x, y) = (f64::from_bits(a.bits), f64::from_bits(b.bits));
            let r = match op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                _ => return None,
            };
            (!r.is_nan()).then(|| Const::f64(r))
        }
        _ => None,
    }
}

fn int_binary(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    let ty = a.ty;
    let (x, y) = (wide(a), wide(b));
    let count = (b.bits % u64::from(ty.bits())) as u32;
    Some(int(
        ty,
        match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x.wrapping_mul(y),
            // MIN / -1 leaves the type's range by one and wraps back to MIN.
            BinaryOp::Div if y == 0 => x,
            BinaryOp::Div => x / y,
            BinaryOp::Rem if y == 0 => 0,
            BinaryOp::Rem => x % y,
            BinaryOp::And => x & y,
            BinaryOp::Or => x | y,
            BinaryOp::Xor => x ^ y,
            BinaryOp::Shl | BinaryOp::Shr if ty == Scalar::Bool => return None,
            BinaryOp::Shl => x << count,
            BinaryOp::Shr => x >> count,
        },
    ))
}

pub fn compare(op: CompareOp, a: Operand, b: Operand) -> Option<Const> {
    let (Operand::Const(a), Operand::Const(b)) = (a, b) else {
        return None;
    };
    let order = if a.ty.is_float() {
        float(a).partial_cmp(&float(b))
    } else {
        Some(wide(a).cmp(&wide(b)))
    };
    Some(Const::bool(match op {
        CompareOp::Eq => order.is_some_and(|o| o.is_eq()),
        CompareOp::Ne => order.is_none_or(|o| o.is_ne()),
        CompareOp::Lt => order.is_some_and(|o| o.is_lt()),
        CompareOp::Le => order.is_some_and(|o| o.is_le()),
        CompareOp::Gt => order.is_some_and(|o| o.is_gt()),
        CompareOp::Ge => order.is_some_and(|o| o.is_ge()),
    }))
}

/// Integers only.
pub fn math(op: MathOp, args: &[Operand]) -> Option<Const> {
    let mut constants = args.iter().map(|&x| match x {
        Operand::Const(c) if c.ty.is_int() => Some(c),
        _ => None,
    });
    let a = constants.next()??;
    let b = constants.next();
    let bits = a.ty.bits();
    let from_top = a.bits.leading_zeros() - (64 - bits);
    Some(match (op, b) {
        (MathOp::Abs, None) => int(a.ty, wide(a).abs()),
        (MathOp::Min, Some(b)) => int(a.ty, wide(a).min(wide(b?))),
        (MathOp::Max, Some(b)) => int(a.ty, wide(a).max(wide(b?))),
        (MathOp::CountOneBits, None) => int(a.ty, i128::from(a.bits.count_ones())),
        (MathOp::CountLeadingZeros, None) => int(a.ty, i128::from(from_top)),
        (MathOp::CountTrailingZeros, None) => {
            int(a.ty, i128::from(a.bits.trailing_zeros().min(bits)))
        }
        (MathOp::ReverseBits, None) => Const {
            ty: a.ty,
            bits: a.bits.reverse_bits() >> (64 - bits),
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_trip_through_f64() {
        for bits in 0..=u16::MAX {
            let x = from_f16(bits);
            if x.is_nan() {
                assert_eq!(to_f16(x) & 0x7fff, 0x7e00);
            } else {
                assert_eq!(to_f16(x), bits, "{x}");
            }
        }
    }

    #[test]
    fn halves_round_to_nearest_even() {
        assert_eq!(to_f16(65519.9), 0x7bff);
        assert_eq!(to_f16(65520.0), 0x7c00);
        assert_eq!(to_f16(1.0 + 2f64.powi(-11)), 0x3c00);
        assert_eq!(to_f16(1.0 + 3.0 * 2f64.powi(-11)), 0x3c02);
        assert_eq!(to_f16(2f64.powi(-25)), 0);
        assert_eq!(to_f16(2f64.powi(-25) * 1.0001), 1);
        assert_eq!(to_f16(-2f64.powi(-14) * 0.99999), 0x8400);
    }

    #[test]
    fn integers_follow_wgsl() {
        let two = |op, a: Const, b: Const| match binary(op, a.into(), b.into()) {
            Some(Operand::Const(c)) => c,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            two(BinaryOp::Div, Const::i32(7), Const::i32(0)),
            Const::i32(7)
        );
        assert_eq!(
            two(BinaryOp::Rem, Const::i32(7), Const::i32(0)),
            Const::i32(0)
        );
        assert_eq!(
            two(BinaryOp::Div, Const::i32(i32::MIN), Const::i32(-1)),
            Const::i32(i32::MIN)
        );
        assert_eq!(
            two(BinaryOp::Rem, Const::i64(i64::MIN), Const::i64(-1)),
            Const::i64(0)
        );
        assert_eq!(
            two(BinaryOp::Mul, Const::u64(u64::MAX), Const::u64(u64::MAX)),
            Const::u64(1)
        );
        assert_eq!(
            two(BinaryOp::Shl, Const::u32(3), Const::u32(33)),
            Const::u32(6)
        );
        assert_eq!(
            two(BinaryOp::Shr, Const::i32(-8), Const::u32(1)),
            Const::i32(-4)
        );
        assert_eq!(
            unary(UnaryOp::Not, Const::bool(true).into()),
            Some(Const::bool(false))
        );
        assert_eq!(
            math(MathOp::CountLeadingZeros, &[Const::u32(1).into()]),
            Some(Const::u32(31))
        );
        assert_eq!(
            math(MathOp::ReverseBits, &[Const::u32(1).into()]),
            Some(Const::u32(1 << 31))
        );
    }

    #[test]
    fn conversions_saturate_and_wrap() {
        assert_eq!(convert(Scalar::I32, Const::f32(f32::NAN)), Const::i32(0));
        assert_eq!(convert(Scalar::U32, Const::f32(-3.0)), Const::u32(0));
        assert_eq!(convert(Scalar::U32, Const::i32(-1)), Const::u32(u32::MAX));
        assert_eq!(convert(Scalar::I64, Const::i32(-1)), Const::i64(-1));
        assert_eq!(convert(Scalar::U64, Const::u32(u32::MAX)).bits, 0xffff_ffff);
        assert_eq!(
            convert(Scalar::Bool, Const::f32(f32::NAN)),
            Const::bool(true)
        );
    }

    #[test]
    fn floats_fold_unless_the_result_is_nan() {
        let inf = Const::f32(f32::INFINITY);
        assert_eq!(binary(BinaryOp::Sub, inf.into(), inf.into()), None);
        assert_eq!(
            binary(
                BinaryOp::Add,
                Const::f32(1.5).into(),
                Const::f32(2.0).into()
            ),
            Some(Const::f32(3.5).into())
        );
        assert_eq!(
            compare(CompareOp::Ne, Const::f32(f32::NAN).into(), inf.into()),
            Some(Const::bool(true))
        );
    }
}
