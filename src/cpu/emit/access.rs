//! Loads, stores and atomics.

use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Value, types};

use super::helpers;
use super::segment::Emitter;
use crate::cpu::frame::head;
use crate::ir::{
    Access, AtomicOp, BufferAccess, BufferSpace, Const, Operand, Region, Scalar, ValueId,
};

/// An address and the guard that chose it.
struct Target {
    address: Value,
    offset: i32,
    guard: Option<Value>,
}

impl Emitter<'_, '_> {
    /// Where an access goes. Out of bounds it goes to `otherwise`, without a branch: a branch would end
    /// the basic block, and a select costs one cycle.
    fn target(&mut self, access: &Access, otherwise: Option<Value>) -> Target {
        let base = self.region_base(access.region);
        let mut address = match access.index {
            None => base,
            Some(index) => {
                let index = self.operand(index);
                self.builder.ins().iadd(base, index)
            }
        };
        let guard = match self.guard(access) {
            None => None,
            Some(Operand::Const(Const { bits: 1, .. })) => None,
            Some(guard) => Some(self.operand(guard)),
        };
        let mut offset = i32::try_from(access.offset).unwrap_or(-1);
        if offset < 0 || guard.is_some() {
            address = self
                .builder
                .ins()
                .iadd_imm_u(address, access.offset.cast_signed());
            offset = 0;
        }
        if let (Some(guard), Some(otherwise)) = (guard, otherwise) {
            address = self.builder.ins().select(guard, address, otherwise);
        }
        Target {
            address,
            offset,
            guard,
        }
    }

    fn flags(&self, region: Region) -> MemFlagsData {
        let flags = MemFlagsData::new().with_notrap();
        match self.is_never_written(region) {
            true => flags.with_readonly(),
            false => flags,
        }
    }

    fn is_never_written(&self, region: Region) -> bool {
        match region {
            Region::Buffer(id) => {
                let buffer = self.source.program.buffer(id);
                buffer.space == BufferSpace::Uniform || buffer.access == BufferAccess::Read
            }
            Region::Immediates | Region::Constant(_) => true,
            Region::Workgroup(_) | Region::Private(_) => false,
        }
    }

    /// The guard, unless it is proven. The proof may rest on a test that leads to the access, but a load of what
    /// nobody writes is repeated where the invocation goes on behind a barrier, which may lie behind no test.
    fn guard(&self, access: &Access) -> Option<Operand> {
        match self.is_never_written(access.region) {
            true => access.guard,
            false => self.source.ranges.guard(access),
        }
    }

    fn sink(&mut self) -> Value {
        self.builder
            .ins()
            .iadd_imm_u(self.shared.scratch, head::SINK as i64)
    }

    pub fn load(&mut self, values: &[ValueId], access: &Access) {
        let zeros = self.shared.zeros;
        let target = self.target(access, Some(zeros));
        let flags = self.flags(access.region);
        for (lane, &id) in values.iter().enumerate() {
            let offset = target.offset + lane as i32 * access.scalar.size() as i32;
            let value = match access.scalar {
                Scalar::F16 => {
                    let bits =
                        self.builder
                            .ins()
                            .uload16(types::I32, flags, target.address, offset);
                    self.call(helpers::unpack_half(), &[bits])
                }
                scalar => {
                    let ty = self.source.lanes.ty(scalar);
                    self.builder.ins().load(ty, flags, target.address, offset)
                }
            };
            self.define(id, value);
        }
    }

    pub fn store(&mut self, access: &Access, values: &[Operand]) {
        let sink = self.sink();
        let target = self.target(access, Some(sink));
        let flags = self.flags(access.region);
        for (lane, &value) in values.iter().enumerate() {
            let offset = target.offset + lane as i32 * access.scalar.size() as i32;
            let value = self.operand(value);
            if access.scalar == Scalar::F16 {
                let bits = self.call(helpers::pack_half(), &[value]);
                self.builder
                    .ins()
                    .istore16(flags, bits, target.address, offset);
            } else {
                self.builder
                    .ins()
                    .store(flags, value, target.address, offset);
            }
        }
    }

    /// The old value, and whether a compare-exchange stored.
    pub fn atomic(
        &mut self,
        op: AtomicOp,
        access: &Access,
        value: Option<Operand>,
        compare: Option<Operand>,
    ) -> (Option<Value>, Option<Value>) {
        let otherwise = match op {
            AtomicOp::Load => self.shared.zeros,
            _ => self.sink(),
        };
        let mut target = self.target(access, Some(otherwise));
        if target.offset != 0 {
            target.address = self
                .builder
                .ins()
                .iadd_imm_u(target.address, i64::from(target.offset));
        }
        let ty = self.source.lanes.ty(access.scalar);
        // Not `notrap`-free of order: these are never merged with or moved across each other.
        let flags = MemFlagsData::trusted();
        let operand = value.map(|value| self.operand(value));
        let compare = compare.map(|compare| self.operand(compare));
        let signed = access.scalar.is_signed();
        let address = target.address;
        let rmw = |op| {
            Some(match op {
                AtomicOp::Add => AtomicRmwOp::Add,
                AtomicOp::Sub => AtomicRmwOp::Sub,
                AtomicOp::And => AtomicRmwOp::And,
                AtomicOp::Or => AtomicRmwOp::Or,
                AtomicOp::Xor => AtomicRmwOp::Xor,
                AtomicOp::Exchange => AtomicRmwOp::Xchg,
                AtomicOp::Min if signed => AtomicRmwOp::Smin,
                AtomicOp::Min => AtomicRmwOp::Umin,
                AtomicOp::Max if signed => AtomicRmwOp::Smax,
                AtomicOp::Max => AtomicRmwOp::Umax,
                AtomicOp::Load | AtomicOp::Store | AtomicOp::CompareExchange => return None,
            })
        };
        let (old, stored) = match (op, operand, compare) {
            (AtomicOp::Load, ..) => {
                let old = self.builder.ins().atomic_load(ty, flags, address);
                return (Some(old), None);
            }
            // WGSL's atomics are relaxed, and an aligned store is one access.
            (AtomicOp::Store, Some(value), _) => {
                self.builder.ins().store(flags, value, address, 0);
                return (None, None);
            }
            (AtomicOp::CompareExchange, Some(value), Some(expected)) => {
                let old = self
                    .builder
                    .ins()
                    .atomic_cas(flags, address, expected, value);
                let equal = cranelift_codegen::ir::condcodes::IntCC::Equal;
                let stored = self.builder.ins().icmp(equal, old, expected);
                (old, Some(stored))
            }
            (op, Some(value), _) => {
                let op = rmw(op).expect("loads, stores and exchanges were handled");
                let old = self.builder.ins().atomic_rmw(ty, flags, op, address, value);
                (old, None)
            }
            (_, None, _) => unreachable!("validated: this atomic has an operand"),
        };
        let Some(guard) = target.guard else {
            return (Some(old), stored);
        };
        // The sink holds garbage: an atomic out of bounds gives zero.
        let zero = self.zero(access.scalar);
        let old = self.builder.ins().select(guard, old, zero);
        let stored = stored.map(|stored| self.builder.ins().band(stored, guard));
        (Some(old), stored)
    }
}
