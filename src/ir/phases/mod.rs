//! A program cut at its barriers and subgroup operations.
//!
//! A *segment* is the code from a resume point (the program's start, or just behind a barrier) to
//! the next barriers or the end. A backend runs one segment for every invocation, sees at which
//! resume point they all arrived, and goes on there; nested loops, early exits and branches around
//! barriers need no special case. A subgroup operation is a barrier that hands on values. `cfg` is the graph that is cut, `liveness` and `remat` find what
//! has to be kept across each cut, `slots` gives it a place, `uses` is what nodes read and define.

mod cfg;
mod liveness;
mod remat;
mod slots;
pub mod uses;

pub use cfg::{Block, BlockId, Cfg, End};
pub use slots::{Keep, Place, Sharing, Slot, Slots};

use crate::ir::uniformity::Uniformity;
use crate::ir::{BarrierId, LocalId, Node, Program, Scope, ValueId};
use liveness::{Item, Liveness};

/// Where execution goes on: 0 is the program's start, i + 1 is behind barrier i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResumePoint(pub u32);

impl ResumePoint {
    pub const START: ResumePoint = ResumePoint(0);

    pub fn behind(barrier: BarrierId) -> ResumePoint {
        ResumePoint(barrier.0 + 1)
    }

    pub fn barrier(self) -> Option<BarrierId> {
        self.0.checked_sub(1).map(BarrierId)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a segment can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exit {
    Barrier(BarrierId),
    End,
}

/// The code behind one resume point.
#[derive(Debug)]
pub struct Segment {
    pub start: BlockId,
    /// Its blocks, each after the blocks that dominate it.
    pub blocks: Vec<BlockId>,
    /// What is live at the start: values to load from their slots, values to compute again, locals to load.
    pub live_values: Vec<ValueId>,
    pub recomputed: Vec<ValueId>,
    pub live_locals: Vec<LocalId>,
    /// Sorted, each once.
    pub exits: Vec<Exit>,
}

#[derive(Debug)]
pub struct Phases<'p> {
    pub cfg: Cfg<'p>,
    /// By resume point; `None` where execution can never arrive.
    pub segments: Vec<Option<Segment>>,
    pub slots: Slots,
    /// For each value, the node that computes it again anywhere, if it is cheap enough.
    pub recompute: Vec<Option<&'p Node>>,
}

impl<'p> Phases<'p> {
    pub fn of(program: &'p Program, uniformity: &Uniformity) -> Phases<'p> {
        let cfg = Cfg::of(program);
        let recompute = remat::recomputable(program, &cfg);
        let live = liveness::analyse(program, &cfg);
        let segments = segments(program, &cfg, &live, &recompute);
        let cuts = cuts(program, &cfg, &segments, &live);
        let slots = Slots::assign(program, uniformity, &cuts, &recompute);
        Phases {
            cfg,
            segments,
            slots,
            recompute,
        }
    }

    pub fn segment(&self, at: ResumePoint) -> Option<&Segment> {
        self.segments.get(at.index()).and_then(Option::as_ref)
    }
}

/// All segments that execution can reach from the start.
fn segments(
    program: &Program,
    cfg: &Cfg<'_>,
    live: &Liveness,
    recompute: &[Option<&Node>],
) -> Vec<Option<Segment>> {
    let mut result: Vec<Option<Segment>> = Vec::new();
    result.resize_with(program.barriers.len() + 1, || None);
    let mut visited = vec![u32::MAX; cfg.blocks.len()];
    let mut open = vec![(ResumePoint::START, BlockId::ENTRY)];
    while let Some((point, start)) = open.pop() {
        if result[point.index()].is_some() {
            continue;
        }
        let mut segment = segment(cfg, start, &mut visited, point.0, |barrier, next| {
            open.push((ResumePoint::behind(barrier), next));
        });
        segment.add_live(live.at(start), recompute);
        result[point.index()] = Some(segment);
    }
    result
}

fn segment(
    cfg: &Cfg<'_>,
    start: BlockId,
    visited: &mut [u32],
    stamp: u32,
    mut at_barrier: impl FnMut(BarrierId, BlockId),
) -> Segment {
    // Reverse postorder, by a depth-first walk that keeps its own stack.
    let mut postorder = Vec::new();
    let mut exits = Vec::new();
    let mut stack = vec![(start, successors_within(cfg, start))];
    visited[start.index()] = stamp;
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if visited[next.index()] != stamp => {
                visited[next.index()] = stamp;
                let successors = successors_within(cfg, next);
                stack.push((next, successors));
            }
            Some(_) => {}
            None => {
                let block = *block;
                match cfg.block(block).end {
                    End::Barrier { barrier, next, .. } => {
                        exits.push(Exit::Barrier(barrier));
                        at_barrier(barrier, next);
                    }
                    End::Return => exits.push(Exit::End),
                    _ => {}
                }
                postorder.push(block);
                stack.pop();
            }
        }
    }
    postorder.reverse();
    exits.sort_unstable();
    exits.dedup();
    Segment {
        start,
        blocks: postorder,
        live_values: Vec::new(),
        recomputed: Vec::new(),
        live_locals: Vec::new(),
        exits,
    }
}

impl Segment {
    fn add_live(&mut self, items: &[Item], recompute: &[Option<&Node>]) {
        for item in items {
            match item {
                Item::Value(id) if recompute[id.index()].is_some() => self.recomputed.push(*id),
                Item::Value(id) => self.live_values.push(*id),
                Item::Local(id) => self.live_locals.push(*id),
                Item::Workgroup(_) | Item::Private(_) => {}
            }
        }
    }
}

fn successors_within(cfg: &Cfg<'_>, block: BlockId) -> Vec<BlockId> {
    let mut next = Vec::new();
    match &cfg.block(block).end {
        End::Barrier { .. } => {}
        end => end.successors(|to| next.push(to)),
    }
    next
}

/// What lives across a barrier of which scope; the start counts as neither.
fn cuts<'l>(
    program: &Program,
    cfg: &Cfg<'_>,
    segments: &[Option<Segment>],
    live: &'l Liveness,
) -> Vec<(Option<Scope>, &'l [Item])> {
    let mut result = vec![(None, live.at(BlockId::ENTRY))];
    for segment in segments.iter().flatten() {
        for &block in &segment.blocks {
            if let End::Barrier { barrier, next, .. } = cfg.block(block).end {
                let scope = program.barriers[barrier.index()].scope;
                result.push((Some(scope), live.at(next)));
            }
        }
    }
    result
}
