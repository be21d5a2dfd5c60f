//! Between a texel's u32s and its components, as WGSL's table of channel formats says.

use smallvec::SmallVec;

use super::format::{Format, Kind};
use crate::front::build::Builder;
use crate::front::wgsl::math;
use crate::front::wgsl::value::Components;
use crate::ir::{BinaryOp, Const, MathOp, Operand, Scalar};

/// Red, green, blue and alpha. `alpha` is that of formats without one; their other components are zero.
pub fn unpack(b: &mut Builder, format: Format, words: &[Operand], alpha: Operand) -> Components {
    let zero: Operand = Const::zero(format.scalar()).into();
    let mut components: Components = SmallVec::from_slice(&[zero, zero, zero, alpha]);
    for (component, (word, from, width)) in components.iter_mut().zip(format.places()) {
        *component = decode(b, format.kind, words[word], from, width);
    }
    if format.is_bgra {
        components.swap(0, 2);
    }
    components
}

/// The u32s of a texel; components that the format lacks are left out.
pub fn pack(b: &mut Builder, format: Format, components: &[Operand]) -> SmallVec<[Operand; 4]> {
    let mut components: Components = SmallVec::from_slice(components);
    if format.is_bgra {
        components.swap(0, 2);
    }
    let mut words: SmallVec<[Operand; 4]> = SmallVec::new();
    for (&component, (word, from, width)) in components.iter().zip(format.places()) {
        let bits = encode(b, format.kind, component, width);
        let bits = b.binary(BinaryOp::Shl, bits, Const::u32(from).into());
        match words.get_mut(word) {
            Some(word) => *word = b.binary(BinaryOp::Or, *word, bits),
            None => words.push(bits),
        }
    }
    words
}

/// The largest number that `width` bits hold.
fn largest(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

fn decode(b: &mut Builder, kind: Kind, word: Operand, from: u32, width: u32) -> Operand {
    let is_signed = matches!(kind, Kind::Sint | Kind::Snorm);
    let integer = if is_signed { Scalar::I32 } else { Scalar::U32 };
    // To the top and down again: the bits above become copies of the sign, or zeros.
    let x = b.binary(BinaryOp::Shl, word, Const::u32(32 - from - width).into());
    let x = b.bitcast(integer, x);
    let x = b.binary(BinaryOp::Shr, x, Const::u32(32 - width).into());
    match kind {
        Kind::Uint | Kind::Sint => x,
        Kind::Unorm => math::from_normalized(b, x, f64::from(largest(width))),
        Kind::Snorm => math::from_normalized(b, x, f64::from(largest(width - 1))),
        Kind::Float if width == 16 => b.math(MathOp::UnpackHalf, Scalar::F32, &[x]),
        Kind::Float => b.bitcast(Scalar::F32, x),
    }
}

/// The component's bits in the low `width` of a u32 whose others are zero.
fn encode(b: &mut Builder, kind: Kind, x: Operand, width: u32) -> Operand {
    let low = |b: &mut Builder, x: Operand| {
        let x = b.bitcast(Scalar::U32, x);
        b.binary(BinaryOp::And, x, Const::u32(largest(width)).into())
    };
    match kind {
        Kind::Unorm => math::to_normalized(b, x, Scalar::U32, f64::from(largest(width))),
        Kind::Snorm => {
            let scale = f64::from(largest(width - 1));
            let x = math::to_normalized(b, x, Scalar::I32, scale);
            low(b, x)
        }
        Kind::Float if width == 16 => b.math(MathOp::PackHalf, Scalar::U32, &[x]),
        Kind::Uint if width < 32 => b.math(
            MathOp::Min,
            Scalar::U32,
            &[x, Const::u32(largest(width)).into()],
        ),
        Kind::Sint if width < 32 => {
            let most = largest(width - 1).cast_signed();
            let x = b.math(MathOp::Max, Scalar::I32, &[x, Const::i32(-most - 1).into()]);
            let x = b.math(MathOp::Min, Scalar::I32, &[x, Const::i32(most).into()]);
            low(b, x)
        }
        Kind::Uint | Kind::Sint | Kind::Float => b.bitcast(Scalar::U32, x),
    }
}
