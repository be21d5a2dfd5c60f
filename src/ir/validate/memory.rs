//! Accesses and atomics.

use super::{Check, Validator};
use crate::ir::{Access, AtomicOp, BufferAccess, NodeKind, Region, Scalar};

impl Validator<'_> {
    /// Checks an access to `width` consecutive scalars.
    pub(super) fn access(&self, access: &Access, width: usize, writes: bool) -> Check {
        if !matches!(width, 1 | 2 | 4) {
            return Err(format!("an access is {width} wide, expected 1, 2 or 4"));
        }
        let (name, size) = self.region(access.region, writes)?;
        if access.scalar == Scalar::Bool && matches!(access.region, Region::Buffer(_)) {
            return Err(format!("a bool in the buffer {name}"));
        }
        if let Some(index) = access.index {
            self.expect(index, Scalar::U64, "the index")?;
        }
        if let Some(guard) = access.guard {
            self.expect(guard, Scalar::Bool, "the guard")?;
        }
        let scalar = u64::from(access.scalar.size());
        if !access.offset.is_multiple_of(scalar) {
            return Err(format!(
                "offset {} into {name} is no multiple of {scalar}",
                access.offset
            ));
        }
        let end = access.offset.checked_add(scalar * width as u64);
        let always_there = access.index.is_none() && access.guard.is_none();
        if always_there && end.is_none_or(|end| end > size) {
            return Err(format!(
                "{width} x {} at offset {} end beyond the {size} bytes of {name}",
                access.scalar, access.offset
            ));
        }
        Ok(())
    }

    /// Name and smallest size of a region that may be accessed like this.
    fn region(&self, region: Region, writes: bool) -> Result<(String, u64), String> {
        let program = self.program;
        let (name, size, writable) = match region {
            Region::Buffer(id) => {
                let buffer = program
                    .buffers
                    .get(id.index())
                    .ok_or_else(|| format!("there is no buffer {}", id.0))?;
                let writable = buffer.access == BufferAccess::ReadWrite;
                (format!("`{}`", buffer.name), buffer.min_size, writable)
            }
            Region::Workgroup(id) => {
                let memory = program
                    .workgroup
                    .get(id.index())
                    .ok_or_else(|| format!("there is no workgroup variable {}", id.0))?;
                (format!("`{}`", memory.name), memory.size, true)
            }
            Region::Private(id) => {
                self.private(id)?;
                let memory = &program.private[id.index()];
                (format!("`{}`", memory.name), memory.size, true)
            }
            Region::Immediates => (
                "the immediates".into(),
                u64::from(program.immediates_size),
                false,
            ),
            Region::Constant(id) => {
                let table = program
                    .constants
                    .get(id.index())
                    .ok_or_else(|| format!("there is no constant table {}", id.0))?;
                (
                    format!("constant table {}", id.0),
                    table.len() as u64,
                    false,
                )
            }
        };
        if writes && !writable {
            return Err(format!("a write to {name}, which is read-only"));
        }
        Ok((name, size))
    }

    pub(super) fn atomic(&mut self, kind: &NodeKind) -> Check {
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
        self.access(access, 1, *op != AtomicOp::Load)?;
        let ty = access.scalar;
        if !ty.is_int() {
            return Err(format!("an atomic {ty}"));
        }
        if !matches!(access.region, Region::Buffer(_) | Region::Workgroup(_)) {
            return Err("an atomic outside of buffers and workgroup memory".into());
        }
        let exchanges = *op == AtomicOp::CompareExchange;
        let lacks = |what: &str, is_there: bool, wanted: bool| match (is_there, wanted) {
            (true, false) => Err(format!("atomic {op:?} has {what}")),
            (false, true) => Err(format!("atomic {op:?} lacks {what}")),
            _ => Ok(()),
        };
        lacks("an operand", value.is_some(), *op != AtomicOp::Load)?;
        lacks("an expected value", compare.is_some(), exchanges)?;
        if *op == AtomicOp::Store {
            lacks("a result", result.is_some(), false)?;
        }
        if !exchanges {
            lacks("a second result", exchanged.is_some(), false)?;
        }
        for operand in value.iter().chain(compare) {
            self.expect(*operand, ty, "the operand")?;
        }
        for (defined, ty) in [(result, ty), (exchanged, Scalar::Bool)] {
            if let Some(defined) = *defined {
                self.define(defined)?;
                self.expect(defined.into(), ty, "the result")?;
            }
        }
        Ok(())
    }
}
