//! What the invocations of a subgroup make of their operands, once they have all stopped.

use super::emit::half;
use super::frame::Exchange;
use crate::ir::phases::Phases;
use crate::ir::{Fold, NodeKind, Program, Scalar, SubgroupOp};

/// One subgroup operation of a program.
#[derive(Clone, Copy, Debug)]
pub struct Collective {
    op: SubgroupOp,
    of: Scalar,
    width: usize,
}

/// By barrier id: the operation there, if it is one.
pub fn collectives(program: &Program, phases: &Phases<'_>) -> Vec<Option<Collective>> {
    let mut found = vec![None; program.barriers.len()];
    for node in phases.cfg.blocks.iter().flat_map(|block| &block.nodes) {
        if let NodeKind::Subgroup {
            site, op, operands, ..
        } = &node.kind
        {
            found[site.index()] = Some(Collective {
                op: *op,
                of: program.operand_type(operands[0]),
                width: operands.len(),
            });
        }
    }
    found
}

/// Invocations of one subgroup, at most.
const SIZE: usize = super::SUBGROUP_SIZE as usize;

/// The active invocations, by rank: their subgroup invocation ids.
struct Active {
    lanes: [u8; SIZE],
    count: usize,
}

impl Collective {
    /// Has one subgroup exchange its values: the active invocations are `first + i` for each bit i of `active`.
    ///
    /// # Safety
    /// `scratch` is a frame with this exchange area and nobody else's for now; the invocations that are named exist.
    pub unsafe fn run(self, exchange: Exchange, scratch: *mut u8, first: u64, active: u32) {
        let mut members = Active {
            lanes: [0; SIZE],
            count: 0,
        };
        for lane in (0..32).filter(|lane| active >> lane & 1 == 1) {
            members.lanes[members.count] = lane;
            members.count += 1;
        }
        let lanes = &members.lanes[..members.count];
        let place = |column: usize, lane: u8| {
            let at = exchange.column(column);
            // SAFETY: the column has eight bytes for each invocation of the workgroup, this one included.
            unsafe { scratch.add((at.offset + (first + u64::from(lane)) * at.stride) as usize) }
        };
        for column in 0..self.width {
            let mut values = [0; SIZE];
            for (value, &lane) in values.iter_mut().zip(lanes) {
                // SAFETY: emitted code has stored an operand of this type at this place.
                *value = unsafe { load(place(column, lane), self.of) };
            }
            let values = &mut values[..members.count];
            let mut sources = [0; SIZE];
            if self.op == SubgroupOp::Shuffle {
                for (source, &lane) in sources.iter_mut().zip(lanes) {
                    // SAFETY: the lanes follow the operands, as u32.
                    *source = unsafe { load(place(self.width, lane), Scalar::U32) };
                }
            }
            self.exchange(values, lanes, &sources);
            let ty = self.op.result(self.of).unwrap_or(self.of);
            for (&value, &lane) in values.iter().zip(lanes) {
                // SAFETY: a place of eight bytes takes a scalar of any type.
                unsafe { store(place(column, lane), ty, value) };
            }
        }
    }

    /// From operands to results, both by rank.
    fn exchange(self, values: &mut [u64], lanes: &[u8], sources: &[u64]) {
        match self.op {
            SubgroupOp::Ballot => {
                let votes = values.iter().zip(lanes);
                let ballot = votes.fold(0, |all, (vote, lane)| all | vote << lane);
                values.fill(ballot);
            }
            SubgroupOp::All => {
                let all = values.iter().all(|&vote| vote != 0);
                values.fill(u64::from(all));
            }
            SubgroupOp::Any => {
                let any = values.iter().any(|&vote| vote != 0);
                values.fill(u64::from(any));
            }
            SubgroupOp::First => {
                let first = values[0];
                values.fill(first);
            }
            SubgroupOp::Shuffle => {
                let held = values.to_vec();
                for (value, source) in values.iter_mut().zip(sources) {
                    let rank = lanes.iter().position(|&lane| u64::from(lane) == *source);
                    if let Some(rank) = rank {
                        *value = held[rank];
                    }
                }
            }
            SubgroupOp::Reduce(fold) => {
                for distance in [1, 2, 4, 8, 16] {
                    for rank in (0..values.len().saturating_sub(distance)).step_by(2 * distance) {
                        values[rank] =
                            combine(fold, self.of, values[rank], values[rank + distance]);
                    }
                }
                let root = values[0];
                values.fill(root);
            }
            SubgroupOp::Inclusive(fold) => scan(fold, self.of, values),
            SubgroupOp::Exclusive(fold) => {
                scan(fold, self.of, values);
                values.rotate_right(1);
                values[0] = neutral(fold, self.of);
            }
        }
    }
}

fn scan(fold: Fold, ty: Scalar, values: &mut [u64]) {
    for distance in [1, 2, 4, 8, 16] {
        for rank in (distance..values.len()).rev() {
            values[rank] = combine(fold, ty, values[rank - distance], values[rank]);
        }
    }
}

/// The bits of what `Add` starts from, else of what `Mul` does.
fn neutral(fold: Fold, ty: Scalar) -> u64 {
    match (fold, ty) {
        (Fold::Add, _) => 0,
        (_, Scalar::F16 | Scalar::F32) => u64::from(1f32.to_bits()),
        (_, Scalar::F64) => 1f64.to_bits(),
        _ => 1,
    }
}

fn combine(fold: Fold, ty: Scalar, a: u64, b: u64) -> u64 {
    match ty {
        Scalar::Bool => unreachable!("validated: bools are voted on"),
        Scalar::I32 | Scalar::U32 => {
            let (a, b) = (a as u32, b as u32);
            let (x, y) = (a.cast_signed(), b.cast_signed());
            u64::from(match fold {
                Fold::Add => a.wrapping_add(b),
                Fold::Mul => a.wrapping_mul(b),
                Fold::Min if ty == Scalar::I32 => x.min(y).cast_unsigned(),
                Fold::Max if ty == Scalar::I32 => x.max(y).cast_unsigned(),
                Fold::Min => a.min(b),
                Fold::Max => a.max(b),
                Fold::And => a & b,
                Fold::Or => a | b,
                Fold::Xor => a ^ b,
            })
        }
        Scalar::I64 | Scalar::U64 => {
            let (x, y) = (a.cast_signed(), b.cast_signed());
            match fold {
                Fold::Add => a.wrapping_add(b),
                Fold::Mul => a.wrapping_mul(b),
                Fold::Min if ty == Scalar::I64 => x.min(y).cast_unsigned(),
                Fold::Max if ty == Scalar::I64 => x.max(y).cast_unsigned(),
                Fold::Min => a.min(b),
                Fold::Max => a.max(b),
                Fold::And => a & b,
                Fold::Or => a | b,
                Fold::Xor => a ^ b,
            }
        }
        // An f16 is held as the f32 that it equals, and rounded to one after each operation.
        Scalar::F16 => {
            let wide = combine_f32(fold, f32::from_bits(a as u32), f32::from_bits(b as u32));
            u64::from(half::to_f32(half::from_f32(wide)).to_bits())
        }
        Scalar::F32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            u64::from(combine_f32(fold, a, b).to_bits())
        }
        Scalar::F64 => combine_f64(fold, f64::from_bits(a), f64::from_bits(b)).to_bits(),
    }
}

/// Defines the fold of one float type.
macro_rules! combine_float {
    ($name:ident, $float:ty) => {
        fn $name(fold: Fold, a: $float, b: $float) -> $float {
            // The other one of a NaN, and -0 below +0.
            let first_is_smaller = || a < b || (a == b && a.is_sign_negative());
            match fold {
                Fold::Add => a + b,
                Fold::Mul => a * b,
                Fold::Min | Fold::Max if a.is_nan() => b,
                Fold::Min | Fold::Max if b.is_nan() => a,
                Fold::Min if first_is_smaller() => a,
                Fold::Max if !first_is_smaller() => a,
                Fold::Min | Fold::Max => b,
                Fold::And | Fold::Or | Fold::Xor => {
                    unreachable!("validated: bit operations are on integers")
                }
            }
        }
    };
}

combine_float!(combine_f32, f32);
combine_float!(combine_f64, f64);

/// # Safety
/// A scalar as emitted code holds it is at `from`, aligned.
unsafe fn load(from: *const u8, ty: Scalar) -> u64 {
    match ty {
        // SAFETY: as above.
        Scalar::Bool => u64::from(unsafe { from.read() }),
        Scalar::I64 | Scalar::U64 | Scalar::F64 => {
            // SAFETY: as above.
            unsafe { from.cast::<u64>().read() }
        }
        Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F16 => {
            // SAFETY: as above.
            u64::from(unsafe { from.cast::<u32>().read() })
        }
    }
}

/// # Safety
/// There is room for eight aligned bytes at `to`.
unsafe fn store(to: *mut u8, ty: Scalar, value: u64) {
    match ty {
        // SAFETY: as above.
        Scalar::Bool => unsafe { to.write(value as u8) },
        Scalar::I64 | Scalar::U64 | Scalar::F64 => {
            // SAFETY: as above.
            unsafe { to.cast::<u64>().write(value) }
        }
        Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F16 => {
            // SAFETY: as above.
            unsafe { to.cast::<u32>().write(value as u32) }
        }
    }
}
