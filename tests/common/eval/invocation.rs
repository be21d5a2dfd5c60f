//! One invocation, which can stop at a barrier and go on later.

use super::memory::Shared;
use super::{EvalError, STEP_LIMIT, SUBGROUP_SIZE, math, ops};
use vyre::ir::{
    Access, AtomicOp, BarrierId, Body, Builtin, Expr, Label, Node, NodeKind, Operand, Program,
    Region, Scalar, ValueId,
};

/// Where an invocation stands in the launch.
#[derive(Clone, Copy)]
pub struct Ids {
    pub workgroups: [u32; 3],
    pub workgroup: [u32; 3],
    pub local: [u32; 3],
    pub index: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    Barrier(BarrierId),
    Done,
}

#[derive(Clone, Copy)]
enum Kind<'p> {
    Branch,
    Block(Label),
    Body {
        label: Label,
        body: &'p Body,
        continuing: &'p Body,
    },
    Continuing {
        label: Label,
        body: &'p Body,
        continuing: &'p Body,
    },
}

struct Frame<'p> {
    nodes: &'p [Node],
    next: usize,
    kind: Kind<'p>,
}

pub struct Invocation<'p> {
    program: &'p Program,
    ids: Ids,
    values: Vec<u64>,
    locals: Vec<u64>,
    private: Vec<Vec<u8>>,
    stack: Vec<Frame<'p>>,
}

impl<'p> Invocation<'p> {
    pub fn new(program: &'p Program, ids: Ids) -> Invocation<'p> {
        let private = program.private.iter().map(|m| vec![0; m.size as usize]);
        let mut invocation = Invocation {
            program,
            ids,
            values: vec![0; program.values.len()],
            locals: vec![0; program.locals.len()],
            private: private.collect(),
            stack: Vec::new(),
        };
        invocation.enter(&program.body, Kind::Branch);
        invocation
    }

    fn enter(&mut self, body: &'p Body, kind: Kind<'p>) {
        self.stack.push(Frame {
            nodes: &body.0,
            next: 0,
            kind,
        });
    }

    /// Runs to the next barrier or to the end.
    pub fn resume(&mut self, shared: &mut Shared<'_>) -> Result<Stop, EvalError> {
        for _ in 0..STEP_LIMIT {
            let Some(frame) = self.stack.last_mut() else {
                return Ok(Stop::Done);
            };
            if let Some(node) = frame.nodes.get(frame.next) {
                frame.next += 1;
                if let Some(barrier) = self.node(node, shared)? {
                    return Ok(Stop::Barrier(barrier));
                }
            } else if let Some(ended) = self.stack.pop() {
                self.ended(ended.kind);
            }
        }
        Err(EvalError::StepLimit)
    }

    fn ended(&mut self, kind: Kind<'p>) {
        match kind {
            Kind::Branch | Kind::Block(_) => {}
            Kind::Body {
                label,
                body,
                continuing,
            } => self.enter(
                continuing,
                Kind::Continuing {
                    label,
                    body,
                    continuing,
                },
            ),
            Kind::Continuing {
                label,
                body,
                continuing,
            } => self.enter(
                body,
                Kind::Body {
                    label,
                    body,
                    continuing,
                },
            ),
        }
    }

    fn node(
        &mut self,
        node: &'p Node,
        shared: &mut Shared<'_>,
    ) -> Result<Option<BarrierId>, EvalError> {
        match &node.kind {
            NodeKind::Let { value, expr } => {
                let result = self.expr(*value, expr, shared);
                self.define(*value, result);
            }
            NodeKind::Load { values, access } => {
                let (guard, start) = self.address(access);
                for (i, &value) in (0..).zip(values) {
                    let at = start.wrapping_add(i * u64::from(access.scalar.size()));
                    let bits = match guard {
                        true => {
                            let memory = self.bytes(access.region, shared);
                            super::memory::load(memory, at, access.scalar)?
                        }
                        false => 0,
                    };
                    self.define(value, bits);
                }
            }
            NodeKind::Store { access, values } => {
                let (guard, start) = self.address(access);
                for (i, &value) in (0..).zip(values) {
                    let at = start.wrapping_add(i * u64::from(access.scalar.size()));
                    let bits = self.operand(value);
                    if guard {
                        let memory = self.bytes_mut(access.region, shared);
                        super::memory::store(memory, at, access.scalar, bits)?;
                    }
                }
            }
            NodeKind::Atomic { .. } => self.atomic(&node.kind, shared)?,
            NodeKind::Assign { local, value } => {
                self.locals[local.index()] = self.operand(*value);
            }
            NodeKind::Clear(memory) => self.private[memory.index()].fill(0),
            NodeKind::If {
                cond,
                accept,
                reject,
            } => match self.operand(*cond) {
                0 => self.enter(reject, Kind::Branch),
                _ => self.enter(accept, Kind::Branch),
            },
            NodeKind::Block { label, body } => self.enter(body, Kind::Block(*label)),
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => self.enter(
                body,
                Kind::Body {
                    label: *label,
                    body,
                    continuing,
                },
            ),
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => {
                let selected = self.operand(*selector);
                let case = (cases.iter()).find(|c| c.values.iter().any(|v| v.bits == selected));
                self.enter(case.map_or(default, |c| &c.body), Kind::Branch);
            }
            NodeKind::Break(target) => {
                while let Some(frame) = self.stack.pop() {
                    match frame.kind {
                        Kind::Block(label)
                        | Kind::Body { label, .. }
                        | Kind::Continuing { label, .. }
                            if label == *target =>
                        {
                            break;
                        }
                        _ => {}
                    }
                }
            }
            NodeKind::Continue(target) => {
                while let Some(frame) = self.stack.pop() {
                    if matches!(frame.kind, Kind::Body { label, .. } if label == *target) {
                        self.ended(frame.kind);
                        break;
                    }
                }
            }
            NodeKind::Return => self.stack.clear(),
            NodeKind::Barrier(id) | NodeKind::Subgroup { site: id, .. } => return Ok(Some(*id)),
        }
        Ok(None)
    }

    /// The node at which it stopped.
    pub fn stopped_at(&self) -> Option<&'p NodeKind> {
        let frame = self.stack.last()?;
        Some(&frame.nodes.get(frame.next.checked_sub(1)?)?.kind)
    }

    pub fn define(&mut self, value: ValueId, bits: u64) {
        let width = self.program.value_type(value).bits();
        assert!(width == 64 || bits >> width == 0, "stray bits in {value:?}");
        self.values[value.index()] = bits;
    }

    pub fn operand(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Value(id) => self.values[id.index()],
            Operand::Const(c) => c.bits,
        }
    }

    /// Whether the access is done at all, and where.
    fn address(&self, access: &Access) -> (bool, u64) {
        let guard = access.guard.is_none_or(|guard| self.operand(guard) != 0);
        let index = access.index.map_or(0, |index| self.operand(index));
        (guard, index.wrapping_add(access.offset))
    }

    fn bytes<'m>(&'m self, region: Region, shared: &'m Shared<'_>) -> &'m [u8] {
        match region {
            Region::Private(id) => &self.private[id.index()],
            _ => shared.bytes(region),
        }
    }

    fn bytes_mut<'m>(&'m mut self, region: Region, shared: &'m mut Shared<'_>) -> &'m mut [u8] {
        match region {
            Region::Private(id) => &mut self.private[id.index()],
            _ => shared.bytes_mut(region),
        }
    }

    fn atomic(&mut self, kind: &NodeKind, shared: &mut Shared<'_>) -> Result<(), EvalError> {
        let NodeKind::Atomic {
            op,
            access,
            value,
            compare,
            result,
            exchanged,
        } = kind
        else {
            return Ok(());
        };
        let ty = access.scalar;
        let (guard, at) = self.address(access);
        let value = value.map_or(0, |value| self.operand(value));
        let expected = compare.map_or(0, |compare| self.operand(compare));
        let mut old = 0;
        let mut stored = false;
        if guard {
            old = super::memory::load(self.bytes(access.region, shared), at, ty)?;
            stored = *op == AtomicOp::CompareExchange && old == expected;
            if let Some(new) = updated(*op, ty, old, value, expected) {
                super::memory::store(self.bytes_mut(access.region, shared), at, ty, new)?;
            }
        }
        if let Some(result) = *result {
            self.define(result, old);
        }
        if let Some(exchanged) = *exchanged {
            self.define(exchanged, u64::from(stored));
        }
        Ok(())
    }

    fn expr(&self, value: ValueId, expr: &Expr, shared: &Shared<'_>) -> u64 {
        let ty = self.program.value_type(value);
        let of = |x: &Operand| self.operand(*x);
        let type_of = |x: &Operand| self.program.operand_type(*x);
        match expr {
            Expr::Local(local) => self.locals[local.index()],
            Expr::Builtin(builtin) => u64::from(self.builtin(*builtin)),
            Expr::ArrayLength(id) => {
                let bound = shared.bytes(Region::Buffer(*id)).len();
                u64::from(self.program.buffer(*id).array_length(bound as u64))
            }
            Expr::Unary(op, x) => ops::unary(*op, ty, of(x)),
            Expr::Binary(op, a, b) => ops::binary(*op, ty, of(a), of(b)),
            Expr::Compare(op, a, b) => u64::from(ops::compare(*op, type_of(a), of(a), of(b))),
            Expr::Select {
                cond,
                accept,
                reject,
            } => match of(cond) {
                0 => of(reject),
                _ => of(accept),
            },
            Expr::Convert(x) => ops::convert(type_of(x), ty, of(x)),
            Expr::Bitcast(x) => of(x),
            Expr::Math(op, operands) => {
                let args: Vec<u64> = operands.iter().map(of).collect();
                math::math(*op, type_of(&operands[0]), &args)
            }
        }
    }

    fn builtin(&self, builtin: Builtin) -> u32 {
        let ids = &self.ids;
        let size = self.program.workgroup_size;
        match builtin {
            Builtin::GlobalInvocationId(axis) => {
                let i = axis.index();
                (ids.workgroup[i].wrapping_mul(size[i])).wrapping_add(ids.local[i])
            }
            Builtin::LocalInvocationId(axis) => ids.local[axis.index()],
            Builtin::LocalInvocationIndex => ids.index,
            Builtin::WorkgroupId(axis) => ids.workgroup[axis.index()],
            Builtin::NumWorkgroups(axis) => ids.workgroups[axis.index()],
            Builtin::SubgroupSize => SUBGROUP_SIZE,
            Builtin::SubgroupInvocationId => ids.index % SUBGROUP_SIZE,
            Builtin::SubgroupId => ids.index / SUBGROUP_SIZE,
            Builtin::NumSubgroups => size.iter().product::<u32>().div_ceil(SUBGROUP_SIZE),
        }
    }
}

/// What an atomic stores, if it does.
fn updated(op: AtomicOp, ty: Scalar, old: u64, value: u64, expected: u64) -> Option<u64> {
    use vyre::ir::{BinaryOp, MathOp};
    let binary = |op| Some(ops::binary(op, ty, old, value));
    match op {
        AtomicOp::Load => None,
        AtomicOp::Store | AtomicOp::Exchange => Some(value),
        AtomicOp::Add => binary(BinaryOp::Add),
        AtomicOp::Sub => binary(BinaryOp::Sub),
        AtomicOp::And => binary(BinaryOp::And),
        AtomicOp::Or => binary(BinaryOp::Or),
        AtomicOp::Xor => binary(BinaryOp::Xor),
        AtomicOp::Min => Some(math::math(MathOp::Min, ty, &[old, value])),
        AtomicOp::Max => Some(math::math(MathOp::Max, ty, &[old, value])),
        AtomicOp::CompareExchange => (old == expected).then_some(value),
    }
}
