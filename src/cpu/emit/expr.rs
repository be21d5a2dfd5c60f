//! Pure computations: operators and conversions.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

use super::helpers;
use super::segment::Emitter;
use crate::ir::{BinaryOp, Builtin, CompareOp, Expr, Operand, Scalar, UnaryOp};

impl Emitter<'_, '_> {
    pub fn expr(&mut self, ty: Scalar, expr: &Expr) -> Value {
        match expr {
            Expr::Local(id) => {
                let variable = self.local(*id);
                self.builder.use_var(variable)
            }
            Expr::Builtin(builtin) => self.builtin(*builtin),
            Expr::ArrayLength(id) => self.shared.buffers[id].1,
            Expr::Unary(op, x) => {
                let x = self.operand(*x);
                self.unary(*op, ty, x)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.binary(*op, ty, a, b)
            }
            Expr::Compare(op, a, b) => {
                let of = self.source.program.operand_type(*a);
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.compare(*op, of, a, b)
            }
            Expr::Select {
                cond,
                accept,
                reject,
            } => {
                let cond = self.operand(*cond);
                let (accept, reject) = (self.operand(*accept), self.operand(*reject));
                self.builder.ins().select(cond, accept, reject)
            }
            Expr::Convert(x) => {
                let from = self.source.program.operand_type(*x);
                let x = self.operand(*x);
                self.convert(from, ty, x)
            }
            Expr::Bitcast(x) => self.bitcast(ty, *x),
            Expr::Math(op, args) => {
                let of = args
                    .first()
                    .map_or(ty, |&x| self.source.program.operand_type(x));
                let args: Vec<Value> = args.iter().map(|&x| self.operand(x)).collect();
                self.math(*op, of, ty, &args)
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin) -> Value {
        let size = self.source.program.workgroup_size;
        // The CPU's subgroups: consecutive invocations, the last one possibly shorter.
        let subgroup = i64::from(crate::cpu::SUBGROUP_SIZE);
        let shift = i64::from(crate::cpu::SUBGROUP_SIZE.trailing_zeros());
        let one = match builtin {
            Builtin::GlobalInvocationId(axis) => {
                let group = self.shared.workgroup_id[axis.index()];
                let first = self
                    .builder
                    .ins()
                    .imul_imm_u(group, i64::from(size[axis.index()]));
                let local = self.invocation.local[axis.index()];
                return self.builder.ins().iadd(first, local);
            }
            Builtin::LocalInvocationId(axis) => return self.invocation.local[axis.index()],
            Builtin::LocalInvocationIndex => return self.invocation.index,
            Builtin::SubgroupInvocationId => {
                let index = self.invocation.index;
                return self.builder.ins().band_imm_u(index, subgroup - 1);
            }
            Builtin::SubgroupId => {
                let index = self.invocation.index;
                return self.builder.ins().ushr_imm_u(index, shift);
            }
            Builtin::WorkgroupId(axis) => self.shared.workgroup_id[axis.index()],
            Builtin::NumWorkgroups(axis) => self.shared.workgroups[axis.index()],
            Builtin::SubgroupSize => self.builder.ins().iconst(types::I32, subgroup),
            Builtin::NumSubgroups => {
                let count = self.source.program.workgroup_invocations();
                let count = count.div_ceil(u64::from(crate::cpu::SUBGROUP_SIZE));
                self.builder.ins().iconst(types::I32, count as i64)
            }
        };
        self.source.lanes.splat(&mut self.builder, one)
    }

    fn unary(&mut self, op: UnaryOp, ty: Scalar, x: Value) -> Value {
        match (op, ty) {
            (UnaryOp::Neg, ty) if ty.is_float() => self.builder.ins().fneg(x),
            (UnaryOp::Neg, _) => self.builder.ins().ineg(x),
            (UnaryOp::Not, Scalar::Bool) => self.builder.ins().bxor_imm_u(x, 1),
            (UnaryOp::Not, _) => self.builder.ins().bnot(x),
        }
    }

    fn binary(&mut self, op: BinaryOp, ty: Scalar, a: Value, b: Value) -> Value {
        if ty.is_float() {
            return self.float_binary(op, ty, a, b);
        }
        match op {
            BinaryOp::Add => self.builder.ins().iadd(a, b),
            BinaryOp::Sub => self.builder.ins().isub(a, b),
            BinaryOp::Mul => self.builder.ins().imul(a, b),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, ty, a, b),
            BinaryOp::And => self.builder.ins().band(a, b),
            BinaryOp::Or => self.builder.ins().bor(a, b),
            BinaryOp::Xor => self.builder.ins().bxor(a, b),
            // Cranelift's shifts take the count modulo the width, as ours do.
            BinaryOp::Shl => self.builder.ins().ishl(a, b),
            BinaryOp::Shr if ty.is_signed() => self.builder.ins().sshr(a, b),
            BinaryOp::Shr => self.builder.ins().ushr(a, b),
        }
    }

    /// Integer division. Where the machine would trap, a divisor of 1 gives what WGSL wants:
    /// `x / 0 = x`, `x % 0 = 0`, `MIN / -1 = MIN`, `MIN % -1 = 0`.
    fn divide(&mut self, op: BinaryOp, ty: Scalar, a: Value, b: Value) -> Value {
        let ins_ty = self.source.lanes.ty(ty);
        let one = self.builder.ins().iconst(ins_ty, 1);
        let mut bad = self.builder.ins().icmp_imm_u(IntCC::Equal, b, 0);
        if ty.is_signed() {
            let min = if ty == Scalar::I32 {
                i64::from(i32::MIN)
            } else {
                i64::MIN
            };
            let lowest = self.builder.ins().icmp_imm_s(IntCC::Equal, a, min);
            let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
            let overflow = self.builder.ins().band(lowest, minus_one);
            bad = self.builder.ins().bor(bad, overflow);
        }
        let divisor = self.builder.ins().select(bad, one, b);
        match (op, ty.is_signed()) {
            (BinaryOp::Div, true) => self.builder.ins().sdiv(a, divisor),
            (BinaryOp::Div, false) => self.builder.ins().udiv(a, divisor),
            (_, true) => self.builder.ins().srem(a, divisor),
            (_, false) => self.builder.ins().urem(a, divisor),
        }
    }

    fn float_binary(&mut self, op: BinaryOp, ty: Scalar, a: Value, b: Value) -> Value {
        let result = match op {
            BinaryOp::Add => self.builder.ins().fadd(a, b),
            BinaryOp::Sub => self.builder.ins().fsub(a, b),
            BinaryOp::Mul => self.builder.ins().fmul(a, b),
            BinaryOp::Div => self.builder.ins().fdiv(a, b),
            BinaryOp::Rem => {
                let quotient = self.float_binary(BinaryOp::Div, ty, a, b);
                let whole = self.builder.ins().trunc(quotient);
                let product = self.float_binary(BinaryOp::Mul, ty, b, whole);
                return self.float_binary(BinaryOp::Sub, ty, a, product);
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                unreachable!("validated: bit operations are on integers")
            }
        };
        self.rounded(ty, result)
    }

    /// An f16 result, rounded from the f32 that holds it. One f32 operation on f16 values, rounded
    /// again, is correctly rounded: 24 >= 2 * 11 + 2 bits.
    pub fn rounded(&mut self, ty: Scalar, x: Value) -> Value {
        if ty == Scalar::F16 {
            self.call(helpers::round_half(), &[x])
        } else {
            x
        }
    }

    fn compare(&mut self, op: CompareOp, of: Scalar, a: Value, b: Value) -> Value {
        if of.is_float() {
            let cond = match op {
                CompareOp::Eq => FloatCC::Equal,
                CompareOp::Ne => FloatCC::NotEqual,
                CompareOp::Lt => FloatCC::LessThan,
                CompareOp::Le => FloatCC::LessThanOrEqual,
                CompareOp::Gt => FloatCC::GreaterThan,
                CompareOp::Ge => FloatCC::GreaterThanOrEqual,
            };
            return self.builder.ins().fcmp(cond, a, b);
        }
        let cond = match (op, of.is_signed()) {
            (CompareOp::Eq, _) => IntCC::Equal,
            (CompareOp::Ne, _) => IntCC::NotEqual,
            (CompareOp::Lt, true) => IntCC::SignedLessThan,
            (CompareOp::Le, true) => IntCC::SignedLessThanOrEqual,
            (CompareOp::Gt, true) => IntCC::SignedGreaterThan,
            (CompareOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
            (CompareOp::Lt, false) => IntCC::UnsignedLessThan,
            (CompareOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
            (CompareOp::Gt, false) => IntCC::UnsignedGreaterThan,
            (CompareOp::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.builder.ins().icmp(cond, a, b)
    }

    fn bitcast(&mut self, to: Scalar, x: Operand) -> Value {
        let from = self.source.program.operand_type(x);
        let x = self.operand(x);
        let (of, ty) = (self.source.lanes.ty(from), self.source.lanes.ty(to));
        if of == ty {
            x
        } else {
            self.builder.ins().bitcast(ty, MemFlagsData::new(), x)
        }
    }

    fn convert(&mut self, from: Scalar, to: Scalar, x: Value) -> Value {
        let ty = self.source.lanes.ty(to);
        match (from, to) {
            (from, to) if from == to => x,
            (from, Scalar::Bool) if from.is_float() => {
                let zero = self.zero(from);
                self.builder.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            (_, Scalar::Bool) => self.builder.ins().icmp_imm_u(IntCC::NotEqual, x, 0),
            (Scalar::Bool, to) if to.is_float() => {
                let wide = self.builder.ins().uextend(types::I32, x);
                self.builder.ins().fcvt_from_uint(ty, wide)
            }
            (Scalar::Bool, _) => self.builder.ins().uextend(ty, x),
            (from, to) if from.is_int() && to.is_int() => self.resize(from, to, x),
            (from, Scalar::F16) => self.narrow_to_half(from, x),
            (from, _) if from.is_int() && from.is_signed() => {
                self.builder.ins().fcvt_from_sint(ty, x)
            }
            (from, _) if from.is_int() => self.builder.ins().fcvt_from_uint(ty, x),
            (_, to) if to.is_int() && to.is_signed() => self.builder.ins().fcvt_to_sint_sat(ty, x),
            (_, to) if to.is_int() => self.builder.ins().fcvt_to_uint_sat(ty, x),
            (Scalar::F32 | Scalar::F16, Scalar::F64) => self.builder.ins().fpromote(ty, x),
            (Scalar::F64, Scalar::F32) => self.builder.ins().fdemote(ty, x),
            // An f16 is held as an f32.
            _ => x,
        }
    }

    fn resize(&mut self, from: Scalar, to: Scalar, x: Value) -> Value {
        let ty = self.source.lanes.ty(to);
        match (from.size(), to.size()) {
            (4, 8) if from.is_signed() => self.builder.ins().sextend(ty, x),
            (4, 8) => self.builder.ins().uextend(ty, x),
            (8, 4) => self.builder.ins().ireduce(ty, x),
            _ => x,
        }
    }

    /// Rounded once: through f64 where that is exact as far as an f16 can tell.
    fn narrow_to_half(&mut self, from: Scalar, x: Value) -> Value {
        let wide = match from {
            Scalar::F32 => return self.call(helpers::round_half(), &[x]),
            Scalar::F64 => x,
            from if from.is_signed() => self.builder.ins().fcvt_from_sint(types::F64, x),
            _ => self.builder.ins().fcvt_from_uint(types::F64, x),
        };
        self.call(helpers::round_half_f64(), &[wide])
    }
}
