//! Quotients and remainders of integers.
//!
//! Where PTX promises nothing, a divisor of 1 gives what WGSL wants: `x / 0 = x`, `x % 0 = 0`,
//! `MIN / -1 = MIN`, `MIN % -1 = 0`. It is chosen where the divisor is defined, which is often before the loop that
//! divides by it, and once for all who do.

use std::collections::HashMap;

use super::emitter::Emitter;
use super::expr::{arithmetic, bits};
use super::text::{Class, Reg, Val};
use crate::ir::ranges::Ranges;
use crate::ir::{BinaryOp, Body, Expr, NodeKind, Operand, Program, Scalar, ValueId};

/// The values that something unsigned is divided by and that may be 0 there.
pub fn divisors(program: &Program, ranges: &Ranges<'_>) -> HashMap<ValueId, Option<Reg>> {
    let mut found = HashMap::new();
    collect(program, ranges, &program.body, &mut found);
    found
}

fn collect(
    program: &Program,
    ranges: &Ranges<'_>,
    body: &Body,
    found: &mut HashMap<ValueId, Option<Reg>>,
) {
    for node in &body.0 {
        let inner: Vec<&Body> = match &node.kind {
            NodeKind::If { accept, reject, .. } => vec![accept, reject],
            NodeKind::Block { body, .. } => vec![body],
            NodeKind::Loop {
                body, continuing, ..
            } => vec![body, continuing],
            NodeKind::Switch { cases, default, .. } => {
                let cases = cases.iter().map(|case| &case.body);
                cases.chain([default]).collect()
            }
            NodeKind::Let { value, expr } => {
                if let Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, Operand::Value(divisor)) =
                    *expr
                    && matches!(program.value_type(*value), Scalar::U32 | Scalar::U64)
                    && !ranges.is_plain(*value)
                {
                    found.insert(divisor, None);
                }
                Vec::new()
            }
            _ => Vec::new(),
        };
        for body in inner {
            collect(program, ranges, body, found);
        }
    }
}

impl Emitter<'_> {
    /// Behind the definition of a value that is divided by. A definition that is written again goes to
    /// the same register.
    pub fn prepare_divisor(&mut self, id: ValueId, value: Val) {
        let Some(&prepared) = self.divisors.get(&id) else {
            return;
        };
        let ty = self.program.value_type(id);
        let to = prepared.unwrap_or_else(|| self.reg(Class::of(ty)));
        let is_zero = self.pred(&format!("setp.eq.{}", bits(ty)), &[value, Val::Int(0)]);
        let opcode = format!("selp.{}", bits(ty));
        self.into(to, &opcode, &[Val::Int(1), value, is_zero]);
        self.divisors.insert(id, Some(to));
    }

    pub fn divide(
        &mut self,
        value: ValueId,
        op: BinaryOp,
        ty: Scalar,
        [a, b]: [Val; 2],
        divisor: Operand,
    ) -> Val {
        if let (Operand::Const(divisor), Scalar::U32) = (divisor, ty)
            && divisor.bits != 0
        {
            return self.divide_by(op, a, divisor.bits as u32);
        }
        let b = match divisor {
            _ if self.ranges.is_plain(value) => b,
            Operand::Value(id) if !ty.is_signed() => match self.divisors.get(&id) {
                Some(&Some(prepared)) => prepared.into(),
                _ => self.harmless(ty, a, b),
            },
            Operand::Value(_) | Operand::Const(_) => self.harmless(ty, a, b),
        };
        let name = if op == BinaryOp::Div { "div" } else { "rem" };
        self.op(
            Class::of(ty),
            &format!("{name}.{}", arithmetic(ty)),
            &[a, b],
        )
        .into()
    }

    /// The divisor, or 1 where it is 0 or the quotient overflows.
    fn harmless(&mut self, ty: Scalar, a: Val, b: Val) -> Val {
        let ones = u64::MAX >> (64 - ty.bits());
        let equal = format!("setp.eq.{}", bits(ty));
        let mut bad = self.pred(&equal, &[b, Val::Int(0)]);
        if ty.is_signed() {
            let lowest = Val::Int(1 << (ty.bits() - 1));
            let lowest = self.pred(&equal, &[a, lowest]);
            let minus_one = self.pred(&equal, &[b, Val::Int(ones)]);
            let overflow = self.pred("and.pred", &[lowest, minus_one]);
            bad = self.pred("or.pred", &[bad, overflow]);
        }
        self.select(ty, bad, Val::Int(1), b)
    }

    /// By a constant, which the assembler would divide by as by any number. (Granlund and Montgomery, "Division
    /// by invariant integers using multiplication", figure 4.1.)
    fn divide_by(&mut self, op: BinaryOp, x: Val, divisor: u32) -> Val {
        if divisor.is_power_of_two() {
            return match op {
                BinaryOp::Div => {
                    let shift = Val::Int(divisor.trailing_zeros().into());
                    self.op32("shr.u32", &[x, shift])
                }
                _ => self.op32("and.b32", &[x, Val::Int(u64::from(divisor) - 1)]),
            };
        }
        let log = 32 - (divisor - 1).leading_zeros();
        let excess = (1u64 << log) - u64::from(divisor);
        let factor = (excess << 32) / u64::from(divisor) + 1;
        let high = self.op32("mul.hi.u32", &[x, Val::Int(factor)]);
        let rest = self.op32("sub.u32", &[x, high]);
        let half = self.op32("shr.u32", &[rest, Val::Int(1)]);
        let sum = self.op32("add.u32", &[half, high]);
        let quotient = self.op32("shr.u32", &[sum, Val::Int(u64::from(log) - 1)]);
        if op == BinaryOp::Div {
            return quotient;
        }
        let product = self.op32("mul.lo.u32", &[quotient, Val::Int(divisor.into())]);
        self.op32("sub.u32", &[x, product])
    }
}
