//! Writes of a load's own barrier interval that cannot touch what it reads.
//!
//! The usual exit of an iteration reads `flags[i]` behind a barrier, while the next round, in the same
//! interval, writes `flags[i]` with an `i` one higher. Relative to what `i` held when the interval
//! began, which is the same for all who met at the barrier, the load reads element i and the write goes
//! to element i + 1: different words, whatever i is. (That `i` agrees is what the load's address
//! depends on anyway.)
//!
//! And a member in front of an array is not what a write to the array touches.

use std::collections::HashMap;

use crate::ir::phases::{BlockId, Cfg, End};
use crate::ir::{
    Access, AtomicOp, BinaryOp, Expr, LocalId, Node, NodeKind, Operand, Program, Region, Scalar,
    Scope, ValueId,
};

/// `(local + add) * stride + offset` bytes, where `local` is what it held when the interval began and
/// the sum wraps at 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine {
    local: LocalId,
    add: u32,
    /// Absent before it is widened to an address.
    scaled: Option<(u64, u64)>,
}

/// What each local holds, as a sum with what one held at the start; absent when it is anything else.
type State = HashMap<LocalId, Affine>;

/// Whether no write of an interval that contains `load` can touch the bytes that it reads. Nothing is proven once
/// `budget`, the number of locals and nodes that may still be looked at, is spent: each block has all locals.
pub fn proves(
    program: &Program,
    cfg: &Cfg<'_>,
    load: &Node,
    access: &Access,
    budget: &mut usize,
) -> bool {
    let Some(home) = (0..cfg.blocks.len()).find(|&b| {
        cfg.blocks[b]
            .nodes
            .iter()
            .any(|&node| std::ptr::eq(node, load))
    }) else {
        return false;
    };
    // Workgroup memory is in order after every barrier, buffers after those of the grid.
    let cuts = |block: usize| match cfg.blocks[block].end {
        End::Barrier { barrier, .. } => match program.barriers[barrier.index()].scope {
            Scope::Subgroup => false,
            Scope::Workgroup => matches!(access.region, Region::Workgroup(_)),
            Scope::Grid => true,
        },
        _ => false,
    };
    let starts = (0..cfg.blocks.len()).filter(|&b| cuts(b)).filter_map(|b| {
        let mut start = None;
        cfg.blocks[b].end.successors(|next| start = Some(next));
        start
    });
    for start in std::iter::once(BlockId::ENTRY).chain(starts) {
        let Some(interval) = Interval::from(program, cfg, start, cuts, budget) else {
            return false;
        };
        if interval.state[home].is_some() && !interval.keeps_apart(load, access) {
            return false;
        }
    }
    true
}

struct Interval<'a, 'p> {
    program: &'a Program,
    cfg: &'a Cfg<'p>,
    /// At the start of each block; absent where the interval does not reach.
    state: Vec<Option<State>>,
}

impl<'a, 'p> Interval<'a, 'p> {
    /// Follows the locals from `start` to the next cuts, until nothing changes or the budget is spent.
    fn from(
        program: &'a Program,
        cfg: &'a Cfg<'p>,
        start: BlockId,
        cuts: impl Fn(usize) -> bool,
        budget: &mut usize,
    ) -> Option<Interval<'a, 'p>> {
        *budget = budget.checked_sub(cfg.blocks.len())?;
        let mut interval = Interval {
            program,
            cfg,
            state: vec![None; cfg.blocks.len()],
        };
        let untouched = |local| Affine {
            local,
            add: 0,
            scaled: None,
        };
        let locals = (0..program.locals.len()).map(|i| LocalId(i as u32));
        let narrow =
            |&local: &LocalId| matches!(program.local_type(local), Scalar::U32 | Scalar::I32);
        interval.state[start.index()] = Some(
            locals
                .filter(narrow)
                .map(|local| (local, untouched(local)))
                .collect(),
        );
        let mut open = vec![start.index()];
        while let Some(block) = open.pop() {
            let Some(state) = &interval.state[block] else {
                continue;
            };
            let nodes = &cfg.blocks[block].nodes;
            // A copy takes as long as the table is wide, however little is left in it.
            *budget = budget.checked_sub(state.capacity() + nodes.len())?;
            let mut state = state.clone();
            let mut values = HashMap::new();
            for node in nodes {
                interval.step(node, &mut state, &mut values);
            }
            if cuts(block) {
                continue;
            }
            if state.capacity() > 16 + 4 * state.len() {
                state.shrink_to_fit();
            }
            cfg.blocks[block].end.successors(|next| {
                let known = &mut interval.state[next.index()];
                let changed = match known {
                    None => {
                        *known = Some(state.clone());
                        true
                    }
                    Some(known) => {
                        let before = known.len();
                        known.retain(|local, affine| state.get(local) == Some(affine));
                        known.len() != before
                    }
                };
                if changed {
                    open.push(next.index());
                }
            });
        }
        Some(interval)
    }

    fn step(&self, node: &Node, state: &mut State, values: &mut HashMap<ValueId, Affine>) {
        match &node.kind {
            NodeKind::Assign { local, value } => {
                let affine = match value {
                    Operand::Value(value) => values.get(value).copied(),
                    Operand::Const(_) => None,
                };
                match affine.filter(|affine| affine.scaled.is_none()) {
                    Some(affine) => state.insert(*local, affine),
                    None => state.remove(local),
                };
            }
            NodeKind::Let { value, expr } => {
                if let Some(affine) = self.expr(*value, expr, state, values) {
                    values.insert(*value, affine);
                }
            }
            _ => {}
        }
    }

    fn expr(
        &self,
        value: ValueId,
        expr: &Expr,
        state: &State,
        values: &HashMap<ValueId, Affine>,
    ) -> Option<Affine> {
        let of = |operand: &Operand| match operand {
            Operand::Value(value) => values.get(value).copied(),
            Operand::Const(_) => None,
        };
        let constant = |operand: &Operand| match operand {
            Operand::Const(c) => Some(c.bits),
            Operand::Value(_) => None,
        };
        if !self.program.value_type(value).is_int() {
            return None;
        }
        match expr {
            Expr::Local(local) => state.get(local).copied(),
            Expr::Bitcast(x) => of(x),
            Expr::Convert(x) => {
                let affine = of(x).filter(|affine| affine.scaled.is_none())?;
                match (
                    self.program.operand_type(*x),
                    self.program.value_type(value),
                ) {
                    // Zeros or the sign in front: different numbers stay different.
                    (Scalar::U32 | Scalar::I32, Scalar::U64 | Scalar::I64) => Some(Affine {
                        scaled: Some((1, 0)),
                        ..affine
                    }),
                    (Scalar::U32 | Scalar::I32, Scalar::U32 | Scalar::I32) => Some(affine),
                    _ => None,
                }
            }
            Expr::Binary(op, a, b) => {
                let (affine, c) = match (of(a), constant(b), constant(a), of(b)) {
                    (Some(affine), Some(c), ..) => (affine, c),
                    (_, _, Some(c), Some(affine))
                        if matches!(op, BinaryOp::Add | BinaryOp::Mul) =>
                    {
                        (affine, c)
                    }
                    _ => return None,
                };
                combine(*op, affine, c)
            }
            _ => None,
        }
    }

    /// Whether every write of the interval goes elsewhere than `load`.
    fn keeps_apart(&self, load: &Node, read: &Access) -> bool {
        let lanes = match &load.kind {
            NodeKind::Load { values, .. } => values.len(),
            // An atomic load reads one.
            _ => 1,
        };
        let mut target = None;
        let mut writes = Vec::new();
        let may_meet =
            |write: &Access| write.region == read.region && !lies_before(read, lanes, write);
        for (block, state) in self.state.iter().enumerate() {
            let Some(mut state) = state.clone() else {
                continue;
            };
            let mut values = HashMap::new();
            for &node in &self.cfg.blocks[block].nodes {
                if std::ptr::eq(node, load) {
                    target = self.element(read, lanes, &values);
                }
                match &node.kind {
                    NodeKind::Store {
                        access,
                        values: lanes,
                    } if may_meet(access) => {
                        writes.push(self.element(access, lanes.len(), &values));
                    }
                    NodeKind::Atomic { op, access, .. }
                        if *op != AtomicOp::Load && may_meet(access) =>
                    {
                        writes.push(self.element(access, 1, &values));
                    }
                    _ => {}
                }
                self.step(node, &mut state, &mut values);
            }
        }
        if writes.is_empty() {
            return true;
        }
        let Some(read) = target else { return false };
        writes
            .into_iter()
            .all(|write| write.is_some_and(|write| write.is_apart_from(read)))
    }

    /// The array element that an access stays within.
    fn element(
        &self,
        access: &Access,
        lanes: usize,
        values: &HashMap<ValueId, Affine>,
    ) -> Option<Element> {
        let Some(Operand::Value(index)) = access.index else {
            return None;
        };
        let affine = values.get(&index)?;
        let (stride, offset) = affine.scaled?;
        let offset = offset.checked_add(access.offset)?;
        let size = u64::from(access.scalar.size()) * lanes as u64;
        let inside = stride > 0 && offset % stride + size <= stride;
        inside.then_some(Element {
            local: affine.local,
            add: affine.add,
            stride,
            first: offset / stride,
        })
    }
}

/// Whether what is read lies at a fixed place before all that the write can reach: its index only adds to its
/// offset, since an address that wraps is out of bounds, and then nothing is written. So sizes in front of an array
/// stay what they are while the array is written.
fn lies_before(read: &Access, lanes: usize, write: &Access) -> bool {
    let size = u64::from(read.scalar.size()) * lanes as u64;
    let end = read.offset.checked_add(size);
    read.index.is_none() && end.is_some_and(|end| end <= write.offset)
}

/// `affine op c`.
fn combine(op: BinaryOp, affine: Affine, c: u64) -> Option<Affine> {
    let scaled = match (op, affine.scaled) {
        (BinaryOp::Add, None) => {
            let add = affine.add.wrapping_add(c as u32);
            return Some(Affine { add, ..affine });
        }
        (BinaryOp::Sub, None) => {
            let add = affine.add.wrapping_sub(c as u32);
            return Some(Affine { add, ..affine });
        }
        (BinaryOp::Add, Some((stride, offset))) => (stride, offset.checked_add(c)?),
        (BinaryOp::Mul, Some((stride, offset))) => (stride.checked_mul(c)?, offset.checked_mul(c)?),
        (BinaryOp::Shl, Some((stride, offset))) if c < 32 => {
            (stride.checked_mul(1 << c)?, offset.checked_mul(1 << c)?)
        }
        _ => return None,
    };
    // Elements that lie 2^32 strides apart must not meet by wrapping at 64 bits.
    (scaled.0 < 1 << 31).then_some(Affine {
        scaled: Some(scaled),
        ..affine
    })
}

/// Element `local + add` of an array that starts `first` elements into its region.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Element {
    local: LocalId,
    add: u32,
    stride: u64,
    first: u64,
}

impl Element {
    fn is_apart_from(self, other: Element) -> bool {
        (self.local, self.stride, self.first) == (other.local, other.stride, other.first)
            && self.add != other.add
    }
}
