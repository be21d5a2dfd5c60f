//! Built-in functions that are exact, but for the scaling ones.

use super::emitter::Emitter;
use super::expr::{arithmetic, as_bits, bits};
use super::text::{Class, Val};
use crate::ir::{MathOp, Scalar};

impl Emitter<'_> {
    /// `of` is the type of the first operand.
    pub fn math(&mut self, op: MathOp, of: Scalar, args: &[Val]) -> Val {
        let x = args[0];
        match op {
            MathOp::Abs if of.is_float() => self.abs(of, x),
            // The larger of both signs; the lowest number is its own negative.
            MathOp::Abs if of.is_signed() => {
                let class = Class::of(of);
                let negative = self.negated(of, x);
                self.op(class, &format!("max.{}", arithmetic(of)), &[x, negative])
                    .into()
            }
            MathOp::Abs => x,
            MathOp::Min | MathOp::Max => self.min_max(op, of, x, args[1]),
            MathOp::Fma => self.fma(of, args),
            MathOp::Sqrt => {
                let opcode = format!("sqrt.rn.{}", arithmetic(of));
                let root = self.op(Class::of(of), &opcode, &[x]).into();
                self.rounded(of, root)
            }
            MathOp::Floor => self.integral("rmi", of, x),
            MathOp::Ceil => self.integral("rpi", of, x),
            MathOp::Trunc => self.integral("rzi", of, x),
            MathOp::Round => self.integral("rni", of, x),
            MathOp::CountOneBits => self.count_bits("popc", of, x),
            MathOp::CountLeadingZeros => self.count_bits("clz", of, x),
            MathOp::CountTrailingZeros => {
                let reversed = self.op(Class::of(of), &format!("brev.{}", bits(of)), &[x]);
                self.count_bits("clz", of, reversed.into())
            }
            MathOp::ReverseBits => self
                .op(Class::of(of), &format!("brev.{}", bits(of)), &[x])
                .into(),
            MathOp::PackHalf => {
                let half = self.op(Class::B16, "cvt.rn.f16.f32", &[x]);
                self.op32("cvt.u32.u16", &[half.into()])
            }
            MathOp::UnpackHalf => {
                let half = self.op(Class::B16, "cvt.u16.u32", &[x]);
                self.op32("cvt.f32.f16", &[half.into()])
            }
            MathOp::FrexpFract => self.frexp(of, x).0,
            MathOp::FrexpExp => self.frexp(of, x).1,
            MathOp::Ldexp => self.ldexp(of, x, args[1]),
            MathOp::InverseSqrt
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
            | MathOp::Pow => self.elementary(op, of, args),
        }
    }

    /// A count has the operand's type.
    fn count_bits(&mut self, name: &str, of: Scalar, x: Val) -> Val {
        let count = self.op32(&format!("{name}.{}", bits(of)), &[x]);
        match Class::of(of) {
            Class::B64 => self.op64("cvt.u64.u32", &[count]),
            _ => count,
        }
    }

    fn fma(&mut self, of: Scalar, args: &[Val]) -> Val {
        if of != Scalar::F16 {
            let opcode = format!("fma.rn.{}", arithmetic(of));
            return self.op(Class::of(of), &opcode, args).into();
        }
        // The product of two f16s is exact in f64, and so is the sum as far as an f16 can tell.
        let wide: Vec<Val> = (args.iter())
            .map(|&arg| self.op64("cvt.f64.f32", &[arg]))
            .collect();
        let sum = self.op64("fma.rn.f64", &wide);
        self.convert(Scalar::F64, Scalar::F16, sum)
    }

    /// Floats: PTX gives the operand that is a number, as it should be. Equal operands have the same
    /// bits unless they are zeros, so that joining the signs orders those: -0 < +0.
    pub fn min_max(&mut self, op: MathOp, of: Scalar, a: Val, b: Val) -> Val {
        let (name, join) = match op {
            MathOp::Min => ("min", "or"),
            _ => ("max", "and"),
        };
        let class = Class::of(of);
        let chosen = self
            .op(class, &format!("{name}.{}", arithmetic(of)), &[a, b])
            .into();
        if !of.is_float() {
            return chosen;
        }
        let equal = self.pred(&format!("setp.eq.{}", arithmetic(of)), &[a, b]);
        let joined = self.op(
            class,
            &format!("{join}.{}", bits(of)),
            &[as_bits(a), as_bits(b)],
        );
        self.select(of, equal, joined.into(), chosen)
    }
}
