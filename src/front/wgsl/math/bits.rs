//! Bit fields and first bits.

use crate::front::build::Builder;
use crate::ir::{BinaryOp, CompareOp, Const, MathOp, Operand, Scalar, UnaryOp};

fn integer(ty: Scalar, value: u64) -> Operand {
    let mask = u64::MAX >> (64 - ty.bits());
    Const {
        ty,
        bits: value & mask,
    }
    .into()
}

/// A field's offset and size, cut to the bits that are there.
fn field(b: &mut Builder, width: u32, offset: Operand, count: Operand) -> (Operand, Operand) {
    let width = Const::u32(width).into();
    let offset = b.math(MathOp::Min, Scalar::U32, &[offset, width]);
    let room = b.binary(BinaryOp::Sub, width, offset);
    let count = b.math(MathOp::Min, Scalar::U32, &[count, room]);
    (offset, count)
}

/// `extractBits`: the field moved to the top and back, which extends its sign or zeros.
pub fn extract(b: &mut Builder, x: Operand, offset: Operand, count: Operand) -> Operand {
    let ty = b.ty(x);
    let width: Operand = Const::u32(ty.bits()).into();
    let (offset, count) = field(b, ty.bits(), offset, count);
    let unused = b.binary(BinaryOp::Sub, width, count);
    let above = b.binary(BinaryOp::Sub, unused, offset);
    let top = b.binary(BinaryOp::Shl, x, above);
    let value = b.binary(BinaryOp::Shr, top, unused);
    // A shift by the whole width would be one by none.
    let empty = b.compare(CompareOp::Eq, count, Const::u32(0).into());
    b.select(empty, integer(ty, 0), value)
}

/// `insertBits`.
pub fn insert(
    b: &mut Builder,
    x: Operand,
    new: Operand,
    offset: Operand,
    count: Operand,
) -> Operand {
    let ty = b.ty(x);
    let (offset, count) = field(b, ty.bits(), offset, count);
    let power = b.binary(BinaryOp::Shl, integer(ty, 1), count);
    let ones = b.binary(BinaryOp::Sub, power, integer(ty, 1));
    let all = b.compare(CompareOp::Eq, count, Const::u32(ty.bits()).into());
    let ones = b.select(all, integer(ty, u64::MAX), ones);
    let mask = b.binary(BinaryOp::Shl, ones, offset);
    let moved = b.binary(BinaryOp::Shl, new, offset);
    let inside = b.binary(BinaryOp::And, moved, mask);
    let others = b.unary(UnaryOp::Not, mask);
    let outside = b.binary(BinaryOp::And, x, others);
    b.binary(BinaryOp::Or, outside, inside)
}

/// `firstTrailingBit`: all ones if no bit is set.
pub fn first_trailing(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let zeros = b.math(MathOp::CountTrailingZeros, ty, &[x]);
    let none = b.compare(CompareOp::Eq, x, integer(ty, 0));
    b.select(none, integer(ty, u64::MAX), zeros)
}

/// `firstLeadingBit`: of a negative number the first zero; all ones if there is none.
pub fn first_leading(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let x = if ty.is_signed() {
        let negative = b.compare(CompareOp::Lt, x, integer(ty, 0));
        let inverted = b.unary(UnaryOp::Not, x);
        b.select(negative, inverted, x)
    } else {
        x
    };
    let zeros = b.math(MathOp::CountLeadingZeros, ty, &[x]);
    let top = integer(ty, u64::from(ty.bits()) - 1);
    b.binary(BinaryOp::Sub, top, zeros)
}
