//! The assignments that reach a read of a local variable, found when asked for.
//!
//! A place where paths meet gets a node of the graph only for locals that are assigned on one of the
//! paths and read afterwards.

use std::collections::HashMap;

use super::graph::{Graph, NodeIx, Role};
use super::walk::{Pos, RegionKind, Walk};
use crate::ir::{LocalId, NodeKind, Operand};

/// Where the paths that meet come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meeting {
    /// After a node that holds bodies.
    After,
    /// The start of a loop's body.
    Head,
    /// The start of a loop's `continuing`.
    Continuing,
}

type Key = (Meeting, Pos, LocalId);

pub struct Locals<'w, 'a> {
    walk: &'w Walk<'a>,
    nodes: HashMap<Key, NodeIx>,
    /// Nodes whose dependencies are still to be entered.
    pending: Vec<(Key, NodeIx)>,
}

impl<'w, 'a> Locals<'w, 'a> {
    pub fn new(walk: &'w Walk<'a>) -> Locals<'w, 'a> {
        Locals {
            walk,
            nodes: HashMap::new(),
            pending: Vec::new(),
        }
    }

    /// Makes `user` depend on the local's value just before `pos`.
    pub fn read(&mut self, graph: &mut Graph, user: NodeIx, local: LocalId, pos: Pos) {
        let region = self.walk.nodes[pos].region;
        self.enter(graph, user, local, region, pos);
        while let Some((key, node)) = self.pending.pop() {
            self.meet(graph, key, node);
        }
    }

    /// The nodes made so far where paths meet that bring a local's values.
    pub fn meetings(&self) -> impl Iterator<Item = (LocalId, NodeIx)> {
        self.nodes
            .iter()
            .map(|(&(_, _, local), &node)| (local, node))
    }

    fn enter(&mut self, graph: &mut Graph, user: NodeIx, local: LocalId, region: usize, pos: Pos) {
        if let Some(node) = self.reaching(graph, local, region, pos) {
            graph.depend(user, node);
        }
    }

    /// What the value before `pos`, a place in or at the end of `region`, depends on; `None` for a constant.
    fn reaching(
        &mut self,
        graph: &mut Graph,
        local: LocalId,
        mut region: usize,
        mut pos: Pos,
    ) -> Option<NodeIx> {
        let walk = self.walk;
        loop {
            let info = &walk.regions[region];
            if let Some(assign) = walk.last_assign(local, info.start, pos) {
                let holder = self.child(region, assign);
                if holder != assign {
                    return Some(self.node(graph, (Meeting::After, holder, local)));
                }
                return match &walk.nodes[assign].node.kind {
                    NodeKind::Assign {
                        value: Operand::Value(value),
                        ..
                    } => Some(value.index()),
                    _ => None,
                };
            }
            let owner = info.owner?;
            let placed = &walk.nodes[owner];
            if info.kind != RegionKind::Plain && walk.is_assigned(local, owner, placed.end) {
                let continuing = info.kind == RegionKind::Continuing;
                let in_body = continuing && walk.is_assigned(local, owner, info.start);
                let meeting = match in_body {
                    true => Meeting::Continuing,
                    false => Meeting::Head,
                };
                return Some(self.node(graph, (meeting, owner, local)));
            }
            region = placed.region;
            pos = owner;
        }
    }

    /// The node of `region` itself that is or holds `pos`.
    fn child(&self, region: usize, mut pos: Pos) -> Pos {
        while self.walk.nodes[pos].region != region {
            match self.walk.regions[self.walk.nodes[pos].region].owner {
                Some(owner) => pos = owner,
                None => break,
            }
        }
        pos
    }

    fn node(&mut self, graph: &mut Graph, key: Key) -> NodeIx {
        *self.nodes.entry(key).or_insert_with(|| {
            let node = graph.add(Role::Storage);
            self.pending.push((key, node));
            node
        })
    }

    /// Enters what the value at a meeting of paths depends on: the values that the paths bring, and what
    /// decided who came along which path. Exits decide also who left a loop in which iteration.
    fn meet(&mut self, graph: &mut Graph, (meeting, owner, local): Key, node: NodeIx) {
        let walk = self.walk;
        let construct = &walk.constructs[&owner];
        let end_of = |kind: RegionKind| {
            (construct.regions.iter().copied()).find(|&r| walk.regions[r].kind == kind)
        };
        let (ends, exits): (Vec<usize>, _) = match meeting {
            Meeting::After => {
                let ends = construct.regions.iter().copied();
                let plain = ends.filter(|&r| walk.regions[r].kind == RegionKind::Plain);
                (plain.collect(), construct.breaks.as_slice())
            }
            Meeting::Head => {
                let before = walk.nodes[owner].region;
                self.enter(graph, node, local, before, owner);
                (
                    end_of(RegionKind::Continuing).into_iter().collect(),
                    &[][..],
                )
            }
            Meeting::Continuing => (
                end_of(RegionKind::LoopBody).into_iter().collect(),
                construct.continues.as_slice(),
            ),
        };
        if let Some(Operand::Value(selector)) = construct.selector {
            graph.depend(node, selector.index());
        }
        for region in ends {
            let info = &walk.regions[region];
            if info.end_reached {
                self.enter(graph, node, local, region, info.end);
            }
        }
        for &(exit, taken) in exits {
            graph.depend(node, taken);
            self.enter(graph, node, local, walk.nodes[exit].region, exit);
        }
    }
}
