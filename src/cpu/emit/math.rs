//! Built-in functions: instructions where the machine has them, helpers where not.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::helpers;
use super::segment::Emitter;
use crate::ir::{MathOp, Scalar};

impl Emitter<'_, '_> {
    /// `of` is the type of the first operand, `ty` that of the result.
    pub fn math(&mut self, op: MathOp, of: Scalar, ty: Scalar, args: &[Value]) -> Value {
        let x = args[0];
        match op {
            MathOp::Abs if of.is_float() => self.builder.ins().fabs(x),
            MathOp::Abs if of.is_signed() => self.builder.ins().iabs(x),
            MathOp::Abs => x,
            MathOp::Min | MathOp::Max => self.min_max(op, of, x, args[1]),
            MathOp::Fma if of == Scalar::F16 => {
                // Exact as a product of f64s; the sum is too, unless a rounding at 53 bits cannot matter.
                let wide: Vec<Value> = args
                    .iter()
                    .map(|&arg| self.builder.ins().fpromote(types::F64, arg))
                    .collect();
                let product = self.builder.ins().fmul(wide[0], wide[1]);
                let sum = self.builder.ins().fadd(product, wide[2]);
                self.call(helpers::round_half_f64(), &[sum])
            }
            MathOp::Fma => self.builder.ins().fma(x, args[1], args[2]),
            MathOp::Sqrt => {
                let root = self.builder.ins().sqrt(x);
                self.rounded(of, root)
            }
            MathOp::Floor => self.builder.ins().floor(x),
            MathOp::Ceil => self.builder.ins().ceil(x),
            MathOp::Trunc => self.builder.ins().trunc(x),
            MathOp::Round => self.builder.ins().nearest(x),
            MathOp::CountOneBits => self.builder.ins().popcnt(x),
            MathOp::CountLeadingZeros => self.builder.ins().clz(x),
            MathOp::CountTrailingZeros => self.builder.ins().ctz(x),
            MathOp::ReverseBits => self.builder.ins().bitrev(x),
            MathOp::PackHalf => self.call(helpers::pack_half(), &[x]),
            MathOp::UnpackHalf => self.call(helpers::unpack_half(), &[x]),
            MathOp::FrexpFract
            | MathOp::FrexpExp
            | MathOp::Ldexp
            | MathOp::InverseSqrt
            | MathOp::Sin
            | MathOp::Cos
            | MathOp::Tan
            | MathOp::Asin
            | MathOp::Acos
            | MathOp::Atan
            | MathOp::Atan2
            | MathOp::Sinh
            | MathOp::Cosh
            | MathOp::Tanh
            | MathOp::Asinh
            | MathOp::Acosh
            | MathOp::Atanh
            | MathOp::Exp
            | MathOp::Exp2
            | MathOp::Log
            | MathOp::Log2
            | MathOp::Pow => {
                let helper = helpers::function(op, of);
                let result = self.call(helper, args);
                if ty.is_float() {
                    self.rounded(of, result)
                } else {
                    result
                }
            }
        }
    }

    /// Floats: the other operand if one is NaN, and -0 < +0. Cranelift's fmin orders the zeros and
    /// propagates NaN.
    fn min_max(&mut self, op: MathOp, of: Scalar, a: Value, b: Value) -> Value {
        let least = op == MathOp::Min;
        if !of.is_float() {
            let ins = self.builder.ins();
            return match (least, of.is_signed()) {
                (true, true) => ins.smin(a, b),
                (true, false) => ins.umin(a, b),
                (false, true) => ins.smax(a, b),
                (false, false) => ins.umax(a, b),
            };
        }
        let ordered = if least {
            self.builder.ins().fmin(a, b)
        } else {
            self.builder.ins().fmax(a, b)
        };
        let a_is_nan = self.builder.ins().fcmp(FloatCC::Unordered, a, a);
        let b_is_nan = self.builder.ins().fcmp(FloatCC::Unordered, b, b);
        let result = self.builder.ins().select(b_is_nan, a, ordered);
        self.builder.ins().select(a_is_nan, b, result)
    }
}
