//! Functions on the bits of integers.

use super::shorthand::{apply, min, sub};
use crate::front::build::Builder;
use crate::ir::{BinaryOp, CompareOp, Const, MathOp, Operand, Scalar, UnaryOp};

/// Where a range of bits starts and how many it has: never beyond the width, and whether it is empty.
struct Range {
    width: Operand,
    offset: Operand,
    count: Operand,
    is_empty: Operand,
}

fn range(b: &mut Builder, of: Scalar, offset: Operand, count: Operand) -> Range {
    let width: Operand = Const::u32(of.bits()).into();
    let offset = min(b, offset, width);
    let rest = sub(b, width, offset);
    let count = min(b, count, rest);
    let is_empty = b.compare(CompareOp::Eq, count, Const::u32(0).into());
    Range {
        width,
        offset,
        count,
        is_empty,
    }
}

/// The range moved to the top and from there to the bottom, which extends the sign of signed types.
pub fn extract(b: &mut Builder, x: Operand, offset: Operand, count: Operand) -> Operand {
    let ty = b.ty(x);
    let range = range(b, ty, offset, count);
    let above = sub(b, range.width, range.count);
    let up = sub(b, above, range.offset);
    let top = b.binary(BinaryOp::Shl, x, up);
    let bottom = b.binary(BinaryOp::Shr, top, above);
    // A range of at least one bit makes both shifts less than the width; WGSL's wrap at it.
    b.select(range.is_empty, Const::zero(ty).into(), bottom)
}

pub fn insert(
    b: &mut Builder,
    x: Operand,
    bits: Operand,
    offset: Operand,
    count: Operand,
) -> Operand {
    let ty = b.ty(x);
    let unsigned = match ty {
        Scalar::I32 | Scalar::U32 => Scalar::U32,
        _ => Scalar::U64,
    };
    let range = range(b, ty, offset, count);
    let above = sub(b, range.width, range.count);
    let ones = b.unary(UnaryOp::Not, Const::zero(unsigned).into());
    let mask = b.binary(BinaryOp::Shr, ones, above);
    let mask = b.binary(BinaryOp::Shl, mask, range.offset);
    let mask = b.bitcast(ty, mask);
    let bits = b.binary(BinaryOp::Shl, bits, range.offset);
    let bits = b.binary(BinaryOp::And, bits, mask);
    let kept = b.unary(UnaryOp::Not, mask);
    let kept = b.binary(BinaryOp::And, x, kept);
    let joined = b.binary(BinaryOp::Or, kept, bits);
    b.select(range.is_empty, x, joined)
}

/// The number of the lowest bit that is one, all ones if there is none.
pub fn first_trailing(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let zero = Const::zero(ty).into();
    let none = b.unary(UnaryOp::Not, zero);
    let found = apply(b, MathOp::CountTrailingZeros, x);
    let is_zero = b.compare(CompareOp::Eq, x, zero);
    b.select(is_zero, none, found)
}

/// The number of the highest bit that differs from the sign (unsigned: from zero), all ones if
/// there is none: as many zeros as the width make -1 by themselves.
pub fn first_leading(b: &mut Builder, x: Operand) -> Operand {
    let ty = b.ty(x);
    let last = Const {
        ty,
        bits: u64::from(ty.bits()) - 1,
    };
    let x = if ty.is_signed() {
        let sign = b.binary(BinaryOp::Shr, x, Const::u32(ty.bits() - 1).into());
        b.binary(BinaryOp::Xor, x, sign)
    } else {
        x
    };
    let zeros = apply(b, MathOp::CountLeadingZeros, x);
    sub(b, last.into(), zeros)
}
