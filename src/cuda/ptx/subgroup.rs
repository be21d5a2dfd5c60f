//! Subgroup operations: a subgroup is a warp.
//!
//! Which lanes take part is known where the place is proven to be reached by all of the subgroup or none: those
//! that exist, lanes 0 up to the end of the workgroup. Elsewhere it is who came, and lanes have ranks among these.

use super::emitter::Emitter;
use super::entry::SUBGROUP;
use super::expr::{arithmetic, as_bits, bits};
use super::text::{Class, Reg, Val};
use crate::ir::{BarrierId, BinaryOp, Builtin, Fold, MathOp, Operand, Scalar, SubgroupOp, ValueId};

const ALL: Val = Val::Int(0xffff_ffff);
const DISTANCES: [u64; 5] = [1, 2, 4, 8, 16];

#[derive(Clone, Copy, PartialEq)]
enum Who {
    /// All lanes of a warp.
    All,
    /// The lanes from 0 to that of the workgroup's last invocation.
    Existing,
    /// Any.
    Some,
}

/// Who takes part.
#[derive(Clone, Copy)]
struct Members {
    who: Who,
    /// As bits.
    mask: Val,
    /// The own lane.
    lane: Val,
}

/// A lane to get a value from, if there is one: else it is the own one.
#[derive(Clone, Copy)]
struct Source {
    lane: Val,
    is_there: Val,
}

impl Emitter<'_> {
    pub fn subgroup(
        &mut self,
        (site, op): (BarrierId, SubgroupOp),
        operands: &[Operand],
        lane: Option<Operand>,
        results: &[ValueId],
    ) {
        let of = self.program.operand_type(operands[0]);
        let members = self.members(site);
        let mask = members.mask;
        let lane = lane.map(|lane| {
            let lane = self.in_register(lane);
            self.shuffled(members, lane.into())
        });
        let first = match op {
            SubgroupOp::First | SubgroupOp::Reduce(_) => Some(self.first(members)),
            _ => None,
        };
        let neighbours = match op {
            SubgroupOp::Reduce(fold) if !self.has_instruction(fold, of) => DISTANCES
                .map(|distance| self.above(members, distance))
                .to_vec(),
            SubgroupOp::Inclusive(_) | SubgroupOp::Exclusive(_) => DISTANCES
                .map(|distance| Some(self.below(members, distance)))
                .to_vec(),
            _ => Vec::new(),
        };
        for (&operand, &result) in operands.iter().zip(results) {
            let x = self.in_register(operand).into();
            let value = match op {
                SubgroupOp::Ballot => self.op32("vote.sync.ballot.b32", &[x, mask]),
                SubgroupOp::All => self.pred("vote.sync.all.pred", &[x, mask]),
                SubgroupOp::Any => self.pred("vote.sync.any.pred", &[x, mask]),
                SubgroupOp::Reduce(fold) if self.has_instruction(fold, of) => {
                    let ty = match fold {
                        Fold::And | Fold::Or | Fold::Xor => "b32",
                        _ => arithmetic(of),
                    };
                    let opcode = format!("redux.sync.{}.{ty}", name(fold));
                    self.op32(&opcode, &[x, mask])
                }
                SubgroupOp::Reduce(fold) => {
                    let folded = self.tree(members, (fold, of), x, &neighbours);
                    match (members.who, first) {
                        (Who::Existing | Who::Some, Some(first)) => {
                            self.held_by(of, folded, first, mask)
                        }
                        // Everybody has folded all.
                        _ => folded,
                    }
                }
                SubgroupOp::Inclusive(fold) => self.scan(mask, (fold, of), x, &neighbours),
                SubgroupOp::Exclusive(fold) => {
                    let whole = self.scan(mask, (fold, of), x, &neighbours);
                    match neighbours[0] {
                        Some(below) => {
                            let before = self.held_by(of, whole, below.lane, mask);
                            self.select(of, below.is_there, before, neutral(fold, of))
                        }
                        None => whole,
                    }
                }
                SubgroupOp::First | SubgroupOp::Shuffle => match first.or(lane) {
                    Some(lane) => self.held_by(of, x, lane, mask),
                    None => x,
                },
            };
            self.define(result, value);
        }
    }

    pub fn subgroup_barrier(&mut self, site: BarrierId) {
        let mask = self.members(site).mask;
        self.put(format_args!("bar.warp.sync {mask}"));
    }

    fn members(&mut self, site: BarrierId) -> Members {
        let lane = self.builtin(Builtin::SubgroupInvocationId).into();
        let invocations = self.program.workgroup_invocations();
        let (who, mask) = match self.uniformity.is_proven(site) {
            true if invocations.is_multiple_of(SUBGROUP.into()) => (Who::All, ALL),
            true => (Who::Existing, self.existing(invocations).into()),
            false => {
                if self.target.ptx_version < (6, 2) {
                    self.refuse(
                        "this subgroup operation is where invocations may come one by one, and that needs PTX 6.2 or newer",
                        "Move it to where all invocations come, or install a newer NVIDIA driver.",
                    );
                }
                let mask = self.reg(Class::B32);
                self.put(format_args!("activemask.b32 {mask}"));
                (Who::Some, mask.into())
            }
        };
        Members { who, mask, lane }
    }

    /// The lanes of this warp that have an invocation.
    fn existing(&mut self, invocations: u64) -> Reg {
        if let Some(mask) = self.existing {
            return mask;
        }
        let index = self.builtin(Builtin::LocalInvocationIndex);
        let whole = invocations / u64::from(SUBGROUP) * u64::from(SUBGROUP);
        let mask = self.once(|e| {
            let in_last = e.pred("setp.ge.u32", &[index.into(), Val::Int(whole)]);
            let rest = (1 << (invocations - whole)) - 1;
            e.op(Class::B32, "selp.b32", &[Val::Int(rest), ALL, in_last])
        });
        self.existing = Some(mask);
        mask
    }

    /// The lane of rank 0.
    fn first(&mut self, members: Members) -> Val {
        match members.who {
            Who::All | Who::Existing => Val::Int(0),
            Who::Some => {
                let reversed = self.op32("brev.b32", &[members.mask]);
                self.op32("clz.b32", &[reversed])
            }
        }
    }

    /// The member whose rank is `distance` lower.
    fn below(&mut self, members: Members, distance: u64) -> Source {
        let Members { who, lane, .. } = members;
        if who == Who::Some {
            return self.ranked(members, -(distance as i64) - 1);
        }
        let is_there = self.pred("setp.ge.u32", &[lane, Val::Int(distance)]);
        let other = self.op32("sub.u32", &[lane, Val::Int(distance)]);
        self.if_there(members, other, is_there)
    }

    /// The member whose rank is `distance` higher; none where all lanes fold with a lane that holds the same.
    fn above(&mut self, members: Members, distance: u64) -> Option<Source> {
        let Members { who, lane, mask } = members;
        match who {
            Who::All => None,
            Who::Some => Some(self.ranked(members, distance as i64 + 1)),
            Who::Existing => {
                let other = self.op32("add.u32", &[lane, Val::Int(distance)]);
                let is_there = self.has_bit(mask, other);
                Some(self.if_there(members, other, is_there))
            }
        }
    }

    /// The member that is the `count`-th from the own lane on, which is the first; backward if negative.
    fn ranked(&mut self, members: Members, count: i64) -> Source {
        let found = self.reg(Class::B32);
        let Members { mask, lane, .. } = members;
        let count = Val::Int((count as u64) & 0xffff_ffff);
        self.into(found, "fns.b32", &[mask, lane, count]);
        let is_there = self.pred("setp.ne.u32", &[found.into(), ALL]);
        self.if_there(members, found.into(), is_there)
    }

    fn if_there(&mut self, members: Members, other: Val, is_there: Val) -> Source {
        let lane = self.op32("selp.b32", &[other, members.lane, is_there]);
        Source { lane, is_there }
    }

    /// A shift by more than the width leaves nothing.
    fn has_bit(&mut self, mask: Val, lane: Val) -> Val {
        let shifted = self.op32("shr.u32", &[mask, lane]);
        let bit = self.op32("and.b32", &[shifted, Val::Int(1)]);
        self.pred("setp.ne.u32", &[bit, Val::Int(0)])
    }

    /// `wanted` if that lane takes part, else the own one.
    fn shuffled(&mut self, members: Members, wanted: Val) -> Val {
        let is_there = match members.who {
            Who::All => self.pred("setp.lt.u32", &[wanted, Val::Int(SUBGROUP.into())]),
            Who::Existing | Who::Some => self.has_bit(members.mask, wanted),
        };
        self.if_there(members, wanted, is_there).lane
    }

    /// What another lane holds in `x`.
    fn held_by(&mut self, ty: Scalar, x: Val, lane: Val, mask: Val) -> Val {
        self.exchanged("idx", ty, x, lane, mask)
    }

    fn exchanged(&mut self, mode: &str, ty: Scalar, x: Val, by: Val, mask: Val) -> Val {
        let opcode = format!("shfl.sync.{mode}.b32");
        let most = Val::Int(u64::from(SUBGROUP) - 1);
        if Class::of(ty) == Class::B32 {
            return self.op32(&opcode, &[x, by, most, mask]);
        }
        let low = self.op32("cvt.u32.u64", &[x]);
        let high = self.op64("shr.u64", &[x, Val::Int(32)]);
        let high = self.op32("cvt.u32.u64", &[high]);
        let [low, high] = [low, high].map(|half| {
            let moved = self.op32(&opcode, &[half, by, most, mask]);
            self.op64("cvt.u64.u32", &[moved])
        });
        let high = self.op64("shl.b64", &[high, Val::Int(32)]);
        self.op64("or.b64", &[low, high])
    }

    /// Whether the machine reduces in one instruction.
    fn has_instruction(&self, fold: Fold, of: Scalar) -> bool {
        let is_new = self.target.sm >= 80 && self.target.ptx_version >= (7, 0);
        is_new && matches!(of, Scalar::I32 | Scalar::U32) && fold != Fold::Mul
    }

    /// The reduction, held by rank 0 at least.
    fn tree(
        &mut self,
        members: Members,
        (fold, ty): (Fold, Scalar),
        mut x: Val,
        above: &[Option<Source>],
    ) -> Val {
        for (distance, from) in DISTANCES.into_iter().zip(above) {
            x = match from {
                // Both lanes of a pair fold the same two values, so both go on as the lower one would.
                None => {
                    let by = Val::Int(distance);
                    let other = self.exchanged("bfly", ty, x, by, members.mask);
                    self.fold(fold, ty, x, other)
                }
                Some(from) => {
                    let other = self.held_by(ty, x, from.lane, members.mask);
                    let folded = self.fold(fold, ty, x, other);
                    self.select(ty, from.is_there, folded, x)
                }
            };
        }
        x
    }

    fn scan(
        &mut self,
        mask: Val,
        (fold, ty): (Fold, Scalar),
        mut x: Val,
        below: &[Option<Source>],
    ) -> Val {
        for from in below.iter().flatten() {
            let other = self.held_by(ty, x, from.lane, mask);
            let folded = self.fold(fold, ty, other, x);
            x = self.select(ty, from.is_there, folded, x);
        }
        x
    }

    fn fold(&mut self, fold: Fold, ty: Scalar, a: Val, b: Val) -> Val {
        let class = Class::of(ty);
        let opcode = match fold {
            Fold::Min => return self.min_max(MathOp::Min, ty, a, b),
            Fold::Max => return self.min_max(MathOp::Max, ty, a, b),
            Fold::Add if ty.is_float() => return self.float_binary(BinaryOp::Add, ty, a, b),
            Fold::Mul if ty.is_float() => return self.float_binary(BinaryOp::Mul, ty, a, b),
            Fold::Add => format!("add.{}", arithmetic(ty)),
            Fold::Mul => format!("mul.lo.{}", arithmetic(ty)),
            Fold::And | Fold::Or | Fold::Xor => format!("{}.{}", name(fold), bits(ty)),
        };
        self.op(class, &opcode, &[a, b]).into()
    }
}

fn name(fold: Fold) -> &'static str {
    match fold {
        Fold::Add => "add",
        Fold::Mul => "mul",
        Fold::Min => "min",
        Fold::Max => "max",
        Fold::And => "and",
        Fold::Or => "or",
        Fold::Xor => "xor",
    }
}

/// What changes nothing in a sum, else in a product.
fn neutral(fold: Fold, ty: Scalar) -> Val {
    as_bits(match (fold, ty) {
        (Fold::Add, _) => Val::Int(0),
        (_, Scalar::F16 | Scalar::F32) => Val::F32(1f32.to_bits()),
        (_, Scalar::F64) => Val::f64(1.0),
        _ => Val::Int(1),
    })
}
