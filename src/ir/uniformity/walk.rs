//! One pass over the program: numbers, control flow, and what decides whether each place is reached.
//!
//! Nodes are numbered in the order of the text; what no path reaches is left out. A place is reached evenly
//! if its conditions are even and no exit went past it unevenly: an exit of a `Block` or `Loop` counts
//! until that one ends, a `Continue` until `continuing` starts, a `Return` for the rest of the program.
//! An exit out of a loop counts from the loop's start, for the next iteration lacks those who left.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::explain::{ConditionKind, Exit};
use super::graph::{Graph, NodeIx, Role};
use super::intervals::{Flow, Start};
use crate::ir::{AtomicOp, Body, Label, LocalId, Node, NodeKind, Operand, Program, Scope};

/// The number of a node that some path reaches.
pub type Pos = usize;

/// A body.
#[derive(Clone, Debug)]
pub struct RegionInfo {
    /// The node it belongs to; `None` for the program's.
    pub owner: Option<Pos>,
    pub kind: RegionKind,
    pub start: Pos,
    /// One past its last node.
    pub end: Pos,
    pub end_reached: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RegionKind {
    Plain,
    LoopBody,
    Continuing,
}

/// What a node that holds bodies adds to its number.
#[derive(Clone, Debug, Default)]
pub struct Construct {
    /// Indices into `Walk::regions`.
    pub regions: SmallVec<[usize; 2]>,
    /// The value that decides which body runs.
    pub selector: Option<Operand>,
    /// Exits to it, and whether each is taken.
    pub breaks: Vec<(Pos, NodeIx)>,
    pub continues: Vec<(Pos, NodeIx)>,
}

pub struct Placed<'a> {
    pub node: &'a Node,
    /// Index into `Walk::regions`.
    pub region: usize,
    /// Index into `Walk::flow`.
    pub block: usize,
    /// Whether the place is reached.
    pub control: NodeIx,
    /// One past the last node that it holds.
    pub end: Pos,
}

pub struct Walk<'a> {
    pub nodes: Vec<Placed<'a>>,
    pub regions: Vec<RegionInfo>,
    pub constructs: HashMap<Pos, Construct>,
    pub flow: Flow,
    pub graph: Graph,
    /// By local: where it is assigned, ascending.
    pub assigns: Vec<Vec<Pos>>,
    /// By barrier id: whether it is reached; `None` where no path leads.
    pub barriers: Vec<Option<NodeIx>>,
    /// Open bodies that have a label.
    labels: HashMap<Label, Pos>,
    /// Exits from what is open, each with where it goes to.
    exits: Vec<(Target, NodeIx)>,
    region: usize,
    block: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    After(Label),
    Continuing(Label),
    End,
}

impl<'a> Walk<'a> {
    pub fn of(program: &'a Program) -> Walk<'a> {
        let mut walk = Walk {
            nodes: Vec::new(),
            regions: Vec::new(),
            constructs: HashMap::new(),
            flow: Flow::new(program),
            graph: Graph::new(program.values.len()),
            assigns: vec![Vec::new(); program.locals.len()],
            barriers: vec![None; program.barriers.len()],
            labels: HashMap::new(),
            exits: Vec::new(),
            region: 0,
            block: 0,
        };
        let control = walk.graph.add(Role::After);
        walk.body(program, None, RegionKind::Plain, &program.body, control);
        walk
    }

    pub fn is_assigned(&self, local: LocalId, from: Pos, to: Pos) -> bool {
        self.last_assign(local, from, to).is_some()
    }

    /// The last assignment of `local` in `from..to`.
    pub fn last_assign(&self, local: LocalId, from: Pos, to: Pos) -> Option<Pos> {
        let assigns = &self.assigns[local.index()];
        let before = assigns.partition_point(|&pos| pos < to);
        let last = *assigns[..before].last()?;
        (last >= from).then_some(last)
    }

    /// Returns whether the body's end is reached; `self.block` is the block there.
    fn body(
        &mut self,
        program: &Program,
        owner: Option<Pos>,
        kind: RegionKind,
        body: &'a Body,
        mut control: NodeIx,
    ) -> bool {
        let region = self.regions.len();
        self.regions.push(RegionInfo {
            owner,
            kind,
            start: self.nodes.len(),
            end: 0,
            end_reached: false,
        });
        if let Some(owner) = owner {
            self.constructs
                .entry(owner)
                .or_default()
                .regions
                .push(region);
        }
        let outer = std::mem::replace(&mut self.region, region);
        let mut reached = true;
        for node in &body.0 {
            if !reached {
                break;
            }
            let pos = self.nodes.len();
            self.nodes.push(Placed {
                node,
                region,
                block: self.block,
                control,
                end: 0,
            });
            let before = self.exits.len();
            reached = self.node(program, pos, node, control);
            self.nodes[pos].end = self.nodes.len();
            if reached && self.exits.len() > before {
                control = self.after(control, before);
            }
        }
        self.region = outer;
        let end = self.nodes.len();
        let info = &mut self.regions[region];
        info.end = end;
        info.end_reached = reached;
        reached
    }

    /// Whether a place is reached that the exits from `before` on may go past.
    fn after(&mut self, control: NodeIx, before: usize) -> NodeIx {
        let after = self.graph.add(Role::After);
        self.graph.depend(after, control);
        for &(_, exit) in &self.exits[before..] {
            self.graph.depend(after, exit);
        }
        after
    }

    /// Returns whether the next node is reached.
    fn node(&mut self, program: &Program, pos: Pos, node: &'a Node, control: NodeIx) -> bool {
        match &node.kind {
            NodeKind::Let { .. } | NodeKind::Load { .. } | NodeKind::Clear(_) => true,
            NodeKind::Assign { local, .. } => {
                self.assigns[local.index()].push(pos);
                true
            }
            NodeKind::Store { access, .. } => {
                self.flow.write(self.block, access.region, node.span);
                true
            }
            NodeKind::Atomic { op, access, .. } => {
                if *op != AtomicOp::Load {
                    self.flow.write(self.block, access.region, node.span);
                }
                true
            }
            NodeKind::If {
                cond,
                accept,
                reject,
            } => self.if_(program, pos, control, (*cond, accept, reject)),
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => {
                let bodies = cases.iter().map(|case| &case.body).chain([default]);
                let kind = ConditionKind::Switch;
                self.branches(program, pos, control, (*selector, kind), bodies)
            }
            NodeKind::Block { label, body } => {
                let before = self.exits.len();
                self.labels.insert(*label, pos);
                let reached = self.body(program, Some(pos), RegionKind::Plain, body, control);
                self.close(pos, *label, before, reached)
            }
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => self.loop_(program, pos, control, (*label, body, continuing)),
            NodeKind::Break(label) => {
                let exit = self.exit(Target::After(*label), Exit::Break, node, control);
                self.construct(*label).breaks.push((pos, exit));
                false
            }
            NodeKind::Continue(label) => {
                let exit = self.exit(Target::Continuing(*label), Exit::Continue, node, control);
                self.construct(*label).continues.push((pos, exit));
                false
            }
            NodeKind::Return => {
                self.exit(Target::End, Exit::Return, node, control);
                false
            }
            NodeKind::Subgroup { site, .. } => {
                self.barriers[site.index()] = Some(control);
                true
            }
            NodeKind::Barrier(id) => {
                self.barriers[id.index()] = Some(control);
                let start = match program.barriers[id.index()].scope {
                    // The other subgroups do not wait, so what they write may be seen before and after.
                    Scope::Subgroup => return true,
                    Scope::Workgroup => Start::Workgroup,
                    Scope::Grid => Start::Grid,
                };
                let from = self.block;
                self.block = self.flow.add(start);
                self.flow.edge(from, self.block);
                true
            }
        }
    }

    fn construct(&mut self, label: Label) -> &mut Construct {
        self.constructs.entry(self.labels[&label]).or_default()
    }

    fn exit(&mut self, target: Target, exit: Exit, node: &Node, control: NodeIx) -> NodeIx {
        let span = node.span;
        let taken = self.graph.add(Role::Exit { exit, span });
        self.graph.depend(taken, control);
        self.exits.push((target, taken));
        taken
    }

    fn if_(
        &mut self,
        program: &Program,
        pos: Pos,
        control: NodeIx,
        (cond, accept, reject): (Operand, &'a Body, &'a Body),
    ) -> bool {
        if let Operand::Const(c) = cond {
            // One side never runs: `while (true)` ends in no break.
            let taken = if c.bits != 0 { accept } else { reject };
            return self.body(program, Some(pos), RegionKind::Plain, taken, control);
        }
        let leaves = |body: &Body| {
            let last = body.0.last().map(|node| &node.kind);
            matches!(last, Some(NodeKind::Break(_) | NodeKind::Continue(_)))
        };
        // A branch that only leaves is how loops state their conditions.
        let kind = match leaves(accept) || leaves(reject) {
            true => ConditionKind::Loop,
            false => ConditionKind::If,
        };
        self.branches(program, pos, control, (cond, kind), [accept, reject])
    }

    fn branches(
        &mut self,
        program: &Program,
        pos: Pos,
        control: NodeIx,
        (selector, kind): (Operand, ConditionKind),
        bodies: impl IntoIterator<Item = &'a Body>,
    ) -> bool {
        self.constructs.entry(pos).or_default().selector = Some(selector);
        let span = match selector {
            Operand::Value(value) if program.values[value.index()].span.is_known() => {
                program.values[value.index()].span
            }
            _ => self.nodes[pos].node.span,
        };
        let before = self.exits.len();
        let from = self.block;
        let mut ends: SmallVec<[usize; 2]> = SmallVec::new();
        for body in bodies {
            let inside = self.graph.add(Role::Condition { kind, span });
            self.graph.depend(inside, control);
            if let Operand::Value(value) = selector {
                self.graph.depend(inside, value.index());
            }
            self.block = self.flow.add(Start::Plain);
            self.flow.edge(from, self.block);
            if self.body(program, Some(pos), RegionKind::Plain, body, inside) {
                ends.push(self.block);
            }
        }
        self.join_exits(before);
        self.meet(ends)
    }

    /// Starts the block that `ends` lead to; returns whether any does.
    fn meet(&mut self, ends: impl IntoIterator<Item = usize>) -> bool {
        let mut ends = ends.into_iter().peekable();
        if ends.peek().is_none() {
            return false;
        }
        self.block = self.flow.add(Start::Plain);
        for end in ends {
            self.flow.edge(end, self.block);
        }
        true
    }

    /// Ends the body of a label; returns whether the place after it is reached.
    fn close(&mut self, pos: Pos, label: Label, before: usize, falls_through: bool) -> bool {
        self.labels.remove(&label);
        self.drop_exits(before, Target::After(label));
        self.join_exits(before);
        let mut ends: Vec<usize> = (self.constructs[&pos].breaks.iter())
            .map(|&(at, _)| self.nodes[at].block)
            .collect();
        if falls_through {
            ends.push(self.block);
        }
        self.meet(ends)
    }

    fn loop_(
        &mut self,
        program: &Program,
        pos: Pos,
        control: NodeIx,
        (label, body, continuing): (Label, &'a Body, &'a Body),
    ) -> bool {
        let before = self.exits.len();
        self.labels.insert(label, pos);
        let from = self.block;
        let head = self.flow.add(Start::Plain);
        self.flow.edge(from, head);
        self.block = head;
        let iterates = self.graph.add(Role::After);
        self.graph.depend(iterates, control);

        let falls_through = self.body(program, Some(pos), RegionKind::LoopBody, body, iterates);
        self.drop_exits(before, Target::Continuing(label));
        let mut ends: Vec<usize> = (self.constructs[&pos].continues.iter())
            .map(|&(at, _)| self.nodes[at].block)
            .collect();
        if falls_through {
            ends.push(self.block);
        }
        if self.meet(ends) {
            let kind = RegionKind::Continuing;
            if self.body(program, Some(pos), kind, continuing, iterates) {
                self.flow.edge(self.block, head);
            }
        }
        for &(_, exit) in &self.exits[before..] {
            self.graph.depend(iterates, exit);
        }
        self.close(pos, label, before, false)
    }

    fn drop_exits(&mut self, before: usize, target: Target) {
        let mut kept = before;
        for i in before..self.exits.len() {
            if self.exits[i].0 != target {
                self.exits.swap(kept, i);
                kept += 1;
            }
        }
        self.exits.truncate(kept);
    }

    /// Leaves one entry for each target, so that many exits cost nothing further out.
    fn join_exits(&mut self, before: usize) {
        if self.exits.len() - before < 2 {
            return;
        }
        let mut joined: Vec<(Target, NodeIx, bool)> = Vec::new();
        for &(target, exit) in &self.exits[before..] {
            match joined.iter_mut().find(|j| j.0 == target) {
                None => joined.push((target, exit, false)),
                Some(found) => {
                    if !found.2 {
                        let both = self.graph.add(Role::After);
                        self.graph.depend(both, found.1);
                        *found = (target, both, true);
                    }
                    self.graph.depend(found.1, exit);
                }
            }
        }
        self.exits.truncate(before);
        self.exits
            .extend(joined.iter().map(|&(target, exit, _)| (target, exit)));
    }
}
