//! Straight-line statements.

use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::half;
use super::segment::{Def, Emitter};
use crate::ir::{Const, Node, NodeKind, Operand, Scalar, ValueId};

impl Emitter<'_, '_> {
    pub fn node(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Let { value, expr } => {
                // Already computed at the start, from what never changes.
                if self.is_settled(*value) {
                    return;
                }
                let ty = self.source.program.value_type(*value);
                let result = self.expr(ty, expr);
                self.define(*value, result);
            }
            NodeKind::Load { values, access } => {
                if values.iter().all(|&value| self.is_settled(value)) {
                    return;
                }
                self.load(values, access);
            }
            NodeKind::Store { access, values } => self.store(access, values),
            NodeKind::Atomic {
                op,
                access,
                value,
                compare,
                result,
                exchanged,
            } => {
                let (old, stored) = self.atomic(*op, access, *value, *compare);
                if let (Some(id), Some(old)) = (*result, old) {
                    self.define(id, old);
                }
                if let (Some(id), Some(stored)) = (*exchanged, stored) {
                    self.define(id, stored);
                }
            }
            NodeKind::Assign { local, value } => {
                let value = self.operand(*value);
                let variable = self.local(*local);
                self.builder.def_var(variable, value);
            }
            NodeKind::Clear(memory) => self.clear(*memory),
            NodeKind::Subgroup { results, .. } => self.take(results),
            NodeKind::If { .. }
            | NodeKind::Block { .. }
            | NodeKind::Loop { .. }
            | NodeKind::Switch { .. }
            | NodeKind::Break(_)
            | NodeKind::Continue(_)
            | NodeKind::Return
            | NodeKind::Barrier(_) => unreachable!("blocks hold straight-line nodes only"),
        }
    }

    /// Whether a recomputable value has its one definition already.
    fn is_settled(&self, id: ValueId) -> bool {
        self.source.phases.recompute[id.index()].is_some() && self.values.contains_key(&id)
    }

    pub fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Value(id) => self.value(id),
            Operand::Const(c) => self.constant(c),
        }
    }

    pub fn value(&mut self, id: ValueId) -> Value {
        match self.values.get(&id) {
            Some(Def::Fixed(value)) => *value,
            Some(Def::Variable(variable)) => self.builder.use_var(*variable),
            None => unreachable!("validated: {id:?} is defined before its use"),
        }
    }

    pub fn constant(&mut self, c: Const) -> Value {
        let ins = self.builder.ins();
        let one = match c.ty {
            Scalar::Bool => ins.iconst(types::I8, c.bits as i64),
            Scalar::I32 | Scalar::U32 => ins.iconst(types::I32, c.bits as i64),
            Scalar::I64 | Scalar::U64 => ins.iconst(types::I64, c.bits.cast_signed()),
            Scalar::F32 => ins.f32const(f32::from_bits(c.bits as u32)),
            Scalar::F16 => ins.f32const(half::to_f32(c.bits as u16)),
            Scalar::F64 => ins.f64const(f64::from_bits(c.bits)),
        };
        self.source.lanes.splat(&mut self.builder, one)
    }

    pub fn zero(&mut self, ty: Scalar) -> Value {
        self.constant(Const::zero(ty))
    }
}
