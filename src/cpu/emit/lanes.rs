//! How many invocations one emitted value stands for.
//!
//! Everything that depends on it goes through here: the type of a value, the step of the
//! invocation loop, what a value shared by all looks like, and how an invocation's slot is
//! addressed. With one lane these are the scalar forms; vectors of invocations need the other
//! forms and a mask at branches, and nothing else.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::ir::Scalar;

#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    width: u32,
}

impl Lanes {
    /// One invocation per value.
    pub const ONE: Lanes = Lanes { width: 1 };

    /// Invocations that one turn of the loop runs.
    pub fn step(self) -> i64 {
        i64::from(self.width)
    }

    /// The type that carries a scalar: bool as a byte of 0 or 1, f16 as the f32 that it equals.
    pub fn ty(self, scalar: Scalar) -> Type {
        let one = match scalar {
            Scalar::Bool => types::I8,
            Scalar::I32 | Scalar::U32 => types::I32,
            Scalar::F32 | Scalar::F16 => types::F32,
            Scalar::I64 | Scalar::U64 => types::I64,
            Scalar::F64 => types::F64,
        };
        self.of(one)
    }

    fn of(self, one: Type) -> Type {
        match self.width {
            1 => one,
            width => one
                .by(width)
                .expect("lane widths are powers of two that the target has"),
        }
    }

    /// A value that all lanes share.
    pub fn splat(self, builder: &mut FunctionBuilder<'_>, one: Value) -> Value {
        if self.width == 1 {
            return one;
        }
        let ty = self.of(builder.func.dfg.value_type(one));
        builder.ins().splat(ty, one)
    }

    /// Byte offset of an invocation's copy in an array of `stride` bytes each.
    pub fn slot_offset(
        self,
        builder: &mut FunctionBuilder<'_>,
        invocation: Value,
        stride: u64,
    ) -> Value {
        if stride.is_power_of_two() {
            builder
                .ins()
                .ishl_imm_u(invocation, i64::from(stride.trailing_zeros()))
        } else {
            builder.ins().imul_imm_u(invocation, stride as i64)
        }
    }
}
