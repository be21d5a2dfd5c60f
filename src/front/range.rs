//! Upper bounds of integer values, so that indices that cannot leave their array need no guard.

use super::build::Builder;
use crate::ir::{BinaryOp, Builtin, Const, Expr, MathOp, Operand, Scalar};

/// Nothing is known, or the value may be negative.
pub const UNKNOWN: u64 = u64::MAX;

/// The largest value of an integer type.
fn type_max(ty: Scalar) -> u64 {
    match ty {
        Scalar::I32 => i32::MAX as u64,
        Scalar::U32 => u64::from(u32::MAX),
        Scalar::I64 => i64::MAX as u64,
        _ => u64::MAX,
    }
}

/// What is known of any value of a type.
fn of_type(ty: Scalar) -> u64 {
    match ty {
        Scalar::U32 => u64::from(u32::MAX),
        _ => UNKNOWN,
    }
}

/// A constant's bound: itself unless it is negative or no integer.
pub fn of_const(c: Const) -> u64 {
    if c.ty.is_int() && c.bits <= type_max(c.ty) {
        c.bits
    } else {
        UNKNOWN
    }
}

/// The largest value that an expression can have if it cannot be negative, else `UNKNOWN`.
pub fn of_expr(b: &Builder, ty: Scalar, expr: &Expr) -> u64 {
    if !ty.is_int() {
        return UNKNOWN;
    }
    let max = type_max(ty);
    let bound = match *expr {
        Expr::Builtin(builtin) => of_builtin(b.workgroup_size, builtin),
        Expr::Binary(op, x, y) => of_binary(b, max, op, x, y),
        Expr::Select { accept, reject, .. } => b.upper(accept).max(b.upper(reject)),
        Expr::Convert(x) | Expr::Bitcast(x) if b.ty(x).is_int() => b.upper(x),
        Expr::Convert(x) if b.ty(x) == Scalar::Bool => 1,
        Expr::Math(op, ref args) => of_math(b, ty, op, args),
        _ => UNKNOWN,
    };
    // A bound past the type's range says that the computation may have wrapped.
    if bound > max { of_type(ty) } else { bound }
}

fn of_builtin(size: [u32; 3], builtin: Builtin) -> u64 {
    match builtin {
        Builtin::LocalInvocationId(axis) => u64::from(size[axis.index()]).saturating_sub(1),
        Builtin::LocalInvocationIndex => size
            .iter()
            .fold(1, |n: u64, &d| n.saturating_mul(u64::from(d)))
            .saturating_sub(1),
        _ => u64::from(u32::MAX),
    }
}

fn of_binary(b: &Builder, max: u64, op: BinaryOp, x: Operand, y: Operand) -> u64 {
    let (a, c) = (b.upper(x), b.upper(y));
    let known = a != UNKNOWN && c != UNKNOWN;
    match op {
        // One operand that is not negative clears the sign.
        BinaryOp::And => a.min(c),
        // Every bit up to the highest that either may have.
        BinaryOp::Or | BinaryOp::Xor if known => {
            u64::MAX.checked_shr(a.max(c).leading_zeros()).unwrap_or(0)
        }
        BinaryOp::Add if known => a.saturating_add(c),
        BinaryOp::Mul if known => a.saturating_mul(c),
        BinaryOp::Div if a != UNKNOWN => match y {
            Operand::Const(d) if c != UNKNOWN && d.bits > 0 => a / d.bits,
            // Division by zero gives the dividend; a negative divisor a negative quotient.
            _ if c != UNKNOWN => a,
            _ => UNKNOWN,
        },
        // `x % 0` is 0, and a remainder has the sign of its dividend.
        BinaryOp::Rem if known => a.min(c.saturating_sub(1)),
        BinaryOp::Shr if a != UNKNOWN => match y {
            Operand::Const(n) if n.bits < 64 && max >> n.bits > 0 => a >> n.bits,
            _ => a,
        },
        BinaryOp::Shl if a != UNKNOWN => match y {
            Operand::Const(n) if n.bits < 32 => a.saturating_mul(1 << n.bits),
            _ => UNKNOWN,
        },
        _ => UNKNOWN,
    }
}

fn of_math(b: &Builder, ty: Scalar, op: MathOp, args: &[Operand]) -> u64 {
    let bounds = args.iter().map(|&x| b.upper(x));
    match op {
        // An unsigned unknown is its type's maximum already; a signed one may be negative.
        MathOp::Min if ty.is_signed() && args.iter().any(|&x| b.upper(x) == UNKNOWN) => UNKNOWN,
        MathOp::Min => bounds.min().unwrap_or(UNKNOWN),
        MathOp::Max if ty.is_signed() => {
            let known = args.iter().any(|&x| b.upper(x) != UNKNOWN);
            let largest = bounds.max().unwrap_or(UNKNOWN);
            if known {
                largest.min(type_max(ty))
            } else {
                UNKNOWN
            }
        }
        MathOp::Max => bounds.max().unwrap_or(UNKNOWN),
        MathOp::CountOneBits | MathOp::CountLeadingZeros | MathOp::CountTrailingZeros => {
            u64::from(ty.bits())
        }
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Axis;

    #[test]
    fn bounds_follow_the_arithmetic() {
        let mut b = Builder::new([8, 4, 1]);
        let x = b.emit(
            Scalar::U32,
            Expr::Builtin(Builtin::LocalInvocationId(Axis::X)),
        );
        let y = b.emit(
            Scalar::U32,
            Expr::Builtin(Builtin::LocalInvocationId(Axis::Y)),
        );
        assert_eq!(b.upper(x), 7);
        let row = b.binary(BinaryOp::Mul, y, Const::u32(8).into());
        let at = b.binary(BinaryOp::Add, row, x);
        assert_eq!(b.upper(at), 31);
        let wild = b.emit(
            Scalar::U32,
            Expr::Builtin(Builtin::GlobalInvocationId(Axis::X)),
        );
        assert_eq!(b.upper(wild), u64::from(u32::MAX));
        let masked = b.binary(BinaryOp::And, wild, Const::u32(15).into());
        assert_eq!(b.upper(masked), 15);
        let modulo = b.binary(BinaryOp::Rem, wild, Const::u32(10).into());
        assert_eq!(b.upper(modulo), 9);
        let wrapped = b.binary(BinaryOp::Add, wild, Const::u32(1).into());
        assert_eq!(b.upper(wrapped), u64::from(u32::MAX));
        let either = b.binary(BinaryOp::Or, x, Const::u32(8).into());
        assert_eq!(b.upper(either), 15);
    }

    #[test]
    fn signed_values_are_unknown_until_clamped() {
        let mut b = Builder::new([1, 1, 1]);
        let wild = b.emit(
            Scalar::U32,
            Expr::Builtin(Builtin::GlobalInvocationId(Axis::X)),
        );
        let i = b.bitcast(Scalar::I32, wild);
        assert_eq!(b.upper(i), UNKNOWN);
        let low = b.math(MathOp::Max, Scalar::I32, &[i, Const::i32(0).into()]);
        let clamped = b.math(MathOp::Min, Scalar::I32, &[low, Const::i32(15).into()]);
        assert_eq!(b.upper(clamped), 15);
        let only_above = b.math(MathOp::Min, Scalar::I32, &[i, Const::i32(15).into()]);
        assert_eq!(b.upper(only_above), UNKNOWN);
        let remainder = b.binary(BinaryOp::Rem, i, Const::i32(4).into());
        assert_eq!(b.upper(remainder), UNKNOWN);
    }
}
