//! Pure computations: operators.

use super::emitter::Emitter;
use super::text::{Class, Reg, Val};
use crate::ir::{BinaryOp, CompareOp, Expr, Operand, Scalar, UnaryOp, ValueId};

/// Suffix of instructions that only care for the width.
pub fn bits(ty: Scalar) -> String {
    match ty {
        Scalar::Bool => "pred".into(),
        ty => format!("b{}", if ty == Scalar::F16 { 32 } else { ty.bits() }),
    }
}

/// Suffix of instructions that compute with the type; an f16 is computed with as the f32 it is held in.
pub fn arithmetic(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "pred",
        Scalar::I32 => "s32",
        Scalar::U32 => "u32",
        Scalar::F32 | Scalar::F16 => "f32",
        Scalar::I64 => "s64",
        Scalar::U64 => "u64",
        Scalar::F64 => "f64",
    }
}

/// A float's bits as an operand.
fn sign_bit(ty: Scalar) -> Val {
    Val::Int(if ty == Scalar::F64 { 1 << 63 } else { 1 << 31 })
}

impl Emitter<'_> {
    pub fn let_(&mut self, value: ValueId, expr: &Expr) {
        let ty = self.program.value_type(value);
        let result = self.expr(value, ty, expr);
        self.define(value, result);
        self.note_zeros(value, expr);
        self.note_low(value, expr);
        self.note_index(value, expr);
    }

    /// Gives a local a new value; flags are 0 and 1.
    pub fn assign(&mut self, local: Reg, value: Operand) {
        let value = match value {
            Operand::Const(c) if c.ty == Scalar::Bool => Val::Int(c.bits),
            value => as_bits(self.operand(value)),
        };
        match value {
            Val::Reg(flag) if flag.class == Class::Pred => {
                let args = [Val::Int(1), Val::Int(0), flag.into()];
                self.into(local, "selp.b32", &args);
            }
            value => self.mov(local, value),
        }
    }

    fn expr(&mut self, value: ValueId, ty: Scalar, expr: &Expr) -> Val {
        match expr {
            Expr::Local(id) => {
                // A copy: the local may change while the value lives.
                let local = self.locals[id.index()];
                if ty == Scalar::Bool {
                    return self.pred("setp.ne.u32", &[local.into(), Val::Int(0)]);
                }
                let to = self.reg(local.class);
                self.mov(to, local.into());
                to.into()
            }
            Expr::Builtin(builtin) => self.builtin(*builtin).into(),
            Expr::ArrayLength(id) => self.array_length(*id).into(),
            Expr::Unary(op, x) => {
                let x = self.operand(*x);
                self.unary(*op, ty, x)
            }
            Expr::Binary(op, a, b) => self.binary(value, *op, ty, *a, *b),
            Expr::Compare(op, a, b) => {
                let of = self.program.operand_type(*a);
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
                self.select(ty, cond, accept, reject)
            }
            Expr::Convert(x) => {
                let from = self.program.operand_type(*x);
                let x = self.operand(*x);
                self.convert(from, ty, x)
            }
            Expr::Bitcast(x) => match self.in_register(*x) {
                // The classes of one width are the same, and f16 has no other type of its width.
                reg if reg.class == Class::of(ty) => reg.into(),
                reg => unreachable!("validated: {reg} has as many bits as {ty}"),
            },
            Expr::Math(op, args) => {
                let of = self.program.operand_type(args[0]);
                let args: Vec<Val> = args.iter().map(|&x| self.operand(x)).collect();
                self.math(*op, of, &args)
            }
        }
    }

    pub fn select(&mut self, ty: Scalar, cond: Val, accept: Val, reject: Val) -> Val {
        if ty == Scalar::Bool {
            // There is no selection between predicates.
            let yes = self.pred("and.pred", &[accept, cond]);
            let not = self.pred("not.pred", &[cond]);
            let no = self.pred("and.pred", &[reject, not]);
            return self.pred("or.pred", &[yes, no]);
        }
        let opcode = format!("selp.{}", bits(ty));
        // An immediate of a bit type is an integer.
        let (accept, reject) = (as_bits(accept), as_bits(reject));
        self.op(Class::of(ty), &opcode, &[accept, reject, cond])
            .into()
    }

    fn unary(&mut self, op: UnaryOp, ty: Scalar, x: Val) -> Val {
        let class = Class::of(ty);
        match op {
            // The sign alone, of a NaN too, which `neg` does not promise.
            UnaryOp::Neg if ty.is_float() => {
                let opcode = format!("xor.{}", bits(ty));
                self.op(class, &opcode, &[as_bits(x), sign_bit(ty)]).into()
            }
            UnaryOp::Neg => self.negated(ty, x),
            UnaryOp::Not => self.op(class, &format!("not.{}", bits(ty)), &[x]).into(),
        }
    }

    /// The negative of an integer, as its complement and one. Given a plain negation of 32 bits, NVIDIA's assembler
    /// (12.9 and 13.0, for compute capability 9.0) makes one instruction of `max(max(a, -b), c)`, and of the like
    /// with min, and forgets the sign.
    pub fn negated(&mut self, ty: Scalar, x: Val) -> Val {
        let class = Class::of(ty);
        let complement = self.op(class, &format!("not.{}", bits(ty)), &[x]);
        let opcode = format!("add.{}", arithmetic(ty));
        self.op(class, &opcode, &[complement.into(), Val::Int(1)])
            .into()
    }

    pub fn abs(&mut self, ty: Scalar, x: Val) -> Val {
        let Val::Int(sign) = sign_bit(ty) else {
            unreachable!("a sign bit is an integer")
        };
        let rest = Val::Int(sign - 1);
        let opcode = format!("and.{}", bits(ty));
        self.op(Class::of(ty), &opcode, &[as_bits(x), rest]).into()
    }

    fn binary(&mut self, value: ValueId, op: BinaryOp, ty: Scalar, a: Operand, b: Operand) -> Val {
        if let Some(product) = self.widening_product(op, ty, a, b) {
            return product;
        }
        let divisor = b;
        let (a, b) = (self.operand(a), self.operand(b));
        if ty.is_float() {
            return self.float_binary(op, ty, a, b);
        }
        let class = Class::of(ty);
        // What the assembler sees as negations.
        let ones = u64::MAX >> (64 - ty.bits());
        match (op, a, b) {
            (BinaryOp::Sub, Val::Int(0), x) => return self.negated(ty, x),
            (BinaryOp::Mul, x, Val::Int(bits)) | (BinaryOp::Mul, Val::Int(bits), x)
                if bits == ones =>
            {
                return self.negated(ty, x);
            }
            _ => {}
        }
        let opcode = match op {
            BinaryOp::Add => format!("add.{}", arithmetic(ty)),
            BinaryOp::Sub => format!("sub.{}", arithmetic(ty)),
            BinaryOp::Mul => format!("mul.lo.{}", arithmetic(ty)),
            BinaryOp::Div | BinaryOp::Rem => {
                return self.divide(value, op, ty, [a, b], divisor);
            }
            BinaryOp::And => format!("and.{}", bits(ty)),
            BinaryOp::Or => format!("or.{}", bits(ty)),
            BinaryOp::Xor => format!("xor.{}", bits(ty)),
            BinaryOp::Shl | BinaryOp::Shr => return self.shift(op, ty, a, b),
        };
        self.op(class, &opcode, &[a, b]).into()
    }

    /// PTX clamps a count; ours is taken modulo the width.
    fn shift(&mut self, op: BinaryOp, ty: Scalar, x: Val, count: Val) -> Val {
        let most = u64::from(ty.bits()) - 1;
        let count = match count {
            Val::Int(count) => Val::Int(count & most),
            count => self.op32("and.b32", &[count, Val::Int(most)]),
        };
        let opcode = match op {
            BinaryOp::Shl => format!("shl.{}", bits(ty)),
            _ => format!("shr.{}", arithmetic(ty)),
        };
        self.op(Class::of(ty), &opcode, &[x, count]).into()
    }

    /// Each rounded to nearest even by name: what says `.rn` is never contracted to a fused operation. What does
    /// not may be, which is what fast mathematics is.
    pub fn float_binary(&mut self, op: BinaryOp, ty: Scalar, a: Val, b: Val) -> Val {
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Rem => {
                let quotient = self.float_binary(BinaryOp::Div, ty, a, b);
                let whole = self.integral("rzi", ty, quotient);
                let product = self.float_binary(BinaryOp::Mul, ty, b, whole);
                return self.float_binary(BinaryOp::Sub, ty, a, product);
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                unreachable!("validated: bit operations are on integers")
            }
        };
        let may_fuse = self.fast_math && op != BinaryOp::Div && ty != Scalar::F16;
        let rounding = if may_fuse { "" } else { ".rn" };
        let opcode = format!("{name}{rounding}.{}", arithmetic(ty));
        let result = self.op(Class::of(ty), &opcode, &[a, b]).into();
        self.rounded(ty, result)
    }

    pub fn compare(&mut self, op: CompareOp, of: Scalar, a: Val, b: Val) -> Val {
        if of == Scalar::Bool {
            let differ = self.pred("xor.pred", &[a, b]);
            return match op {
                CompareOp::Eq => self.pred("not.pred", &[differ]),
                _ => differ,
            };
        }
        let relation = match op {
            CompareOp::Eq => "eq",
            // Of floats, true when either side is NaN.
            CompareOp::Ne if of.is_float() => "neu",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        self.pred(&format!("setp.{relation}.{}", arithmetic(of)), &[a, b])
    }
}

/// An immediate as the integer of the same bits.
pub fn as_bits(x: Val) -> Val {
    match x {
        Val::F32(bits) => Val::Int(u64::from(bits)),
        Val::F64(bits) => Val::Int(bits),
        other => other,
    }
}
