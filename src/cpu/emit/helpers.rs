//! Functions that emitted code calls.
//!
//! Transcendental functions are computed in f64 and rounded once, which keeps f32 and f16 results
//! within one unit in the last place.

use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Type, Value, types};
use cranelift_codegen::isa::CallConv;

use super::half;
use super::segment::Emitter;
use crate::ir::{MathOp, Scalar};

/// A function's address and its C signature.
#[derive(Clone, Copy)]
pub struct Helper {
    address: usize,
    parameters: &'static [Type],
    result: Option<Type>,
}

impl Emitter<'_, '_> {
    /// The call's result; for a helper without one, its first argument.
    pub fn call(&mut self, helper: Helper, args: &[Value]) -> Value {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = helper
            .parameters
            .iter()
            .map(|&ty| AbiParam::new(ty))
            .collect();
        signature.returns = helper.result.iter().map(|&ty| AbiParam::new(ty)).collect();
        let signature = self.builder.import_signature(signature);
        let callee = self.builder.ins().iconst(types::I64, helper.address as i64);
        let call = self.builder.ins().call_indirect(signature, callee, args);
        match self.builder.inst_results(call) {
            [] => args[0],
            results => results[0],
        }
    }
}

/// Zeroes `size` bytes at `start`.
pub fn zero() -> Helper {
    extern "C" fn zero(start: *mut u8, size: u64) {
        // SAFETY: emitted code passes an array of its own frame and that array's size.
        unsafe { std::ptr::write_bytes(start, 0, size as usize) };
    }
    Helper {
        address: zero as *const () as usize,
        parameters: &[types::I64, types::I64],
        result: None,
    }
}

/// f32 to the binary16 bits in a u32.
pub fn pack_half() -> Helper {
    extern "C" fn pack_half(x: f32) -> u32 {
        u32::from(half::from_f32(x))
    }
    Helper {
        address: pack_half as *const () as usize,
        parameters: &[types::F32],
        result: Some(types::I32),
    }
}

/// The low half of a u32 as a binary16 number.
pub fn unpack_half() -> Helper {
    extern "C" fn unpack_half(bits: u32) -> f32 {
        half::to_f32(bits as u16)
    }
    Helper {
        address: unpack_half as *const () as usize,
        parameters: &[types::I32],
        result: Some(types::F32),
    }
}

/// The nearest f16 to an f32, held as f32.
pub fn round_half() -> Helper {
    extern "C" fn round_half(x: f32) -> f32 {
        half::to_f32(half::from_f32(x))
    }
    Helper {
        address: round_half as *const () as usize,
        parameters: &[types::F32],
        result: Some(types::F32),
    }
}

/// The nearest f16 to an f64, held as f32.
pub fn round_half_f64() -> Helper {
    extern "C" fn round_half_f64(x: f64) -> f32 {
        half::to_f32(half::from_f64(x))
    }
    Helper {
        address: round_half_f64 as *const () as usize,
        parameters: &[types::F64],
        result: Some(types::F32),
    }
}

/// A pair of C functions, on f32 (through f64) and on f64.
macro_rules! functions {
    ($of:expr; $($op:ident($($x:ident),+) = $body:expr;)+) => {
        match $of {
            $((MathOp::$op, Scalar::F64) => {
                extern "C" fn wide($($x: f64),+) -> f64 { $body }
                Helper {
                    address: wide as *const () as usize,
                    parameters: &[$(functions!(@f64 $x)),+],
                    result: Some(types::F64),
                }
            })+
            $((MathOp::$op, _) => {
                extern "C" fn narrow($($x: f32),+) -> f32 {
                    $(let $x = f64::from($x);)+
                    $body as f32
                }
                Helper {
                    address: narrow as *const () as usize,
                    parameters: &[$(functions!(@f32 $x)),+],
                    result: Some(types::F32),
                }
            })+
            (MathOp::FrexpFract, Scalar::F64) => {
                extern "C" fn wide(x: f64) -> f64 { frexp(x).0 }
                Helper {
                    address: wide as *const () as usize,
                    parameters: &[types::F64],
                    result: Some(types::F64),
                }
            }
            (MathOp::FrexpFract, _) => {
                extern "C" fn narrow(x: f32) -> f32 { frexp(f64::from(x)).0 as f32 }
                Helper {
                    address: narrow as *const () as usize,
                    parameters: &[types::F32],
                    result: Some(types::F32),
                }
            }
            (MathOp::FrexpExp, Scalar::F64) => {
                extern "C" fn wide(x: f64) -> i32 { frexp(x).1 }
                Helper {
                    address: wide as *const () as usize,
                    parameters: &[types::F64],
                    result: Some(types::I32),
                }
            }
            (MathOp::FrexpExp, _) => {
                extern "C" fn narrow(x: f32) -> i32 { frexp(f64::from(x)).1 }
                Helper {
                    address: narrow as *const () as usize,
                    parameters: &[types::F32],
                    result: Some(types::I32),
                }
            }
            (MathOp::Ldexp, Scalar::F64) => {
                extern "C" fn wide(x: f64, exponent: i32) -> f64 { ldexp(x, exponent) }
                Helper {
                    address: wide as *const () as usize,
                    parameters: &[types::F64, types::I32],
                    result: Some(types::F64),
                }
            }
            (MathOp::Ldexp, _) => {
                extern "C" fn narrow(x: f32, exponent: i32) -> f32 {
                    // Exact in f64 as far as f32 reaches, so that it is rounded once.
                    ldexp(f64::from(x), exponent.clamp(-400, 400)) as f32
                }
                Helper {
                    address: narrow as *const () as usize,
                    parameters: &[types::F32, types::I32],
                    result: Some(types::F32),
                }
            }
            (op, _) => unreachable!("{op:?} has instructions of its own"),
        }
    };
    (@f64 $x:ident) => { types::F64 };
    (@f32 $x:ident) => { types::F32 };
}

/// The helper of a function that has no instruction. An f16 comes and goes as an f32.
pub fn function(op: MathOp, of: Scalar) -> Helper {
    functions! { (op, of);
        InverseSqrt(x) = 1.0 / x.sqrt();
        Sin(x) = x.sin();
        Cos(x) = x.cos();
        Tan(x) = x.tan();
        Asin(x) = x.asin();
        Acos(x) = x.acos();
        Atan(x) = x.atan();
        Atan2(y, x) = y.atan2(x);
        Sinh(x) = x.sinh();
        Cosh(x) = x.cosh();
        Tanh(x) = x.tanh();
        Asinh(x) = x.asinh();
        Acosh(x) = acosh(x);
        Atanh(x) = atanh(x);
        Exp(x) = x.exp();
        Exp2(x) = x.exp2();
        Log(x) = x.ln();
        Log2(x) = x.log2();
        Pow(x, y) = x.powf(y);
    }
}

/// From how far `x` is above one, so that nothing cancels near it; NaN below.
fn acosh(x: f64) -> f64 {
    // Here the root is `x` to more digits than there are, and its square may be too large.
    if x > 2f64.powi(30) {
        return x.ln() + std::f64::consts::LN_2;
    }
    let above = x - 1.0;
    (above + (above * (above + 2.0)).sqrt()).ln_1p()
}

/// From the magnitude: with a negative `x` the quotient would cancel what is added to it.
fn atanh(x: f64) -> f64 {
    let size = x.abs();
    (0.5 * (2.0 * size / (1.0 - size)).ln_1p()).copysign(x)
}

/// Fraction in [0.5, 1) and exponent; zero, infinity and NaN come back with exponent 0.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (scaled, bias) = if x.is_subnormal() {
        (x * 2f64.powi(64), 64)
    } else {
        (x, 0)
    };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022 - bias;
    let fraction = (bits & !(0x7ff << 52)) | (1022 << 52);
    (f64::from_bits(fraction), exponent)
}

/// `x * 2^exponent`, rounded once: only the last step may leave the normal range.
fn ldexp(mut x: f64, mut exponent: i32) -> f64 {
    let power = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    // Two steps cover any exponent that can still matter.
    for _ in 0..3 {
        if exponent > 1023 {
            x *= power(1023);
            exponent -= 1023;
        } else if exponent < -1022 {
            // 53 bits short of the smallest normal number, so that the next step sees all bits.
            x *= power(-1022 + 53);
            exponent += 1022 - 53;
        }
    }
    x * power(exponent.clamp(-1022, 1023))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frexp_takes_numbers_apart_and_ldexp_puts_them_together() {
        for x in [1.0, 0.75, -3.5, 5e-324, 1e-310, f64::MAX, f64::MIN_POSITIVE] {
            let (fraction, exponent) = frexp(x);
            assert!((0.5..1.0).contains(&fraction.abs()), "{x}");
            assert_eq!(ldexp(fraction, exponent), x);
        }
        assert_eq!(frexp(0.0), (0.0, 0));
        assert_eq!(frexp(f64::INFINITY), (f64::INFINITY, 0));
    }

    #[test]
    fn inverse_hyperbolic_functions_keep_their_digits_at_the_edges() {
        // sqrt(2t) for t = 2^-52, and the logarithms of large numbers' doubles.
        assert_eq!(acosh(1f64.next_up()), 2.107_342_425_544_701_7e-8);
        assert_eq!(acosh(f64::MAX), 710.475_860_073_943_9);
        assert_eq!(acosh(1.0), 0.0);
        assert!(acosh(0.5).is_nan() && acosh(f64::NEG_INFINITY).is_nan());
        let below = 1f64.next_down();
        assert_eq!(atanh(-below), -atanh(below));
        assert_eq!(atanh(-below), -18.714_973_875_118_524);
        assert_eq!(atanh(-0.0).to_bits(), (-0f64).to_bits());
        assert_eq!(atanh(-1.0), f64::NEG_INFINITY);
        assert!(atanh(1.5).is_nan());
    }

    #[test]
    fn ldexp_rounds_once() {
        assert_eq!(ldexp(1.0, -1074), 5e-324);
        assert_eq!(ldexp(1.0, -1075), 0.0);
        assert_eq!(ldexp(1.5, -1075), 5e-324);
        assert_eq!(ldexp(1.0, i32::MIN), 0.0);
        assert_eq!(ldexp(1.0, i32::MAX), f64::INFINITY);
        assert_eq!(ldexp(5e-324, 2097), ldexp(1.0, 1023));
        // 53 bits that end in 01 just above a tie would round up twice if rounded twice.
        let x = 1.0 + 2f64.powi(-52);
        assert_eq!(ldexp(x, -1074 - 1), 5e-324);
    }
}
