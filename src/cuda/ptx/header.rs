//! Loops that test at their start whether to go on, as `for` and `while` do.

use std::collections::HashMap;

use crate::ir::{
    Access, Body, BufferAccess, Expr, Label, LocalId, MathOp, Node, NodeKind, Operand, Program,
    Region, UnaryOp, ValueId,
};

/// Nodes of a header: it is written several times.
const LONGEST: usize = 24;

/// A loop's body, cut at the test.
#[derive(Clone, Copy)]
pub struct Header<'p> {
    /// What stands before the test, straight and without an effect on memory.
    pub nodes: &'p [Node],
    pub cond: Operand,
    /// The loop is left when the condition is this.
    pub leaves: bool,
    /// What is done when it is not left, first in the test's other arm and then behind it.
    pub arm: &'p Body,
    pub rest: &'p [Node],
}

impl<'p> Header<'p> {
    pub fn of(label: Label, body: &'p Body) -> Option<Header<'p>> {
        let nodes = &body.0;
        let at = (nodes.iter().take(LONGEST + 1)).position(|node| !is_plain(node))?;
        let NodeKind::If {
            cond,
            accept,
            reject,
        } = &nodes[at].kind
        else {
            return None;
        };
        let (leaves, arm) = match (is_break(accept, label), is_break(reject, label)) {
            (true, _) => (true, reject),
            (_, true) => (false, accept),
            _ => return None,
        };
        Some(Header {
            nodes: &nodes[..at],
            cond: *cond,
            leaves,
            arm,
            rest: &nodes[at + 1..],
        })
    }

    /// How many of the nodes stand before those at the end that only say whether the loop is left.
    pub fn values(&self) -> usize {
        let mut count = self.nodes.len();
        let mut wanted = self.cond;
        while let Some(node) = self.nodes[..count].last()
            && let NodeKind::Let { value, expr } = &node.kind
            && Operand::Value(*value) == wanted
        {
            count -= 1;
            match expr {
                Expr::Unary(UnaryOp::Not, x) => wanted = *x,
                _ => break,
            }
        }
        count
    }
}

/// Whether a node may stand in a header. It is written without labels, which could not stand twice, and is short.
fn is_plain(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Let {
            expr: Expr::Math(op, _),
            ..
        } => matches!(op, MathOp::Abs | MathOp::Min | MathOp::Max),
        NodeKind::Let { .. } | NodeKind::Load { .. } | NodeKind::Assign { .. } => true,
        _ => false,
    }
}

/// Only leaves the loop.
pub fn is_break(body: &Body, label: Label) -> bool {
    matches!(&body.0[..], [Node { kind: NodeKind::Break(to), .. }] if *to == label)
}

/// A body's nodes, and those of the bodies within.
pub fn each_node<'p>(body: &'p Body, f: &mut dyn FnMut(&'p Node)) {
    each_within(&body.0, f);
}

pub fn each_within<'p>(nodes: &'p [Node], f: &mut dyn FnMut(&'p Node)) {
    for node in nodes {
        f(node);
        match &node.kind {
            NodeKind::If { accept, reject, .. } => {
                each_node(accept, f);
                each_node(reject, f);
            }
            NodeKind::Block { body, .. } => each_node(body, f),
            NodeKind::Loop {
                body, continuing, ..
            } => {
                each_node(body, f);
                each_node(continuing, f);
            }
            NodeKind::Switch { cases, default, .. } => {
                cases.iter().for_each(|case| each_node(&case.body, f));
                each_node(default, f);
            }
            _ => {}
        }
    }
}

/// What defines a value of a loop, as far as it may be computed elsewhere too.
#[derive(Clone, Copy)]
pub enum Definition<'p> {
    Let(&'p Expr),
    Load(&'p [ValueId], &'p Access),
    Other,
}

/// What happens within a loop, nested loops included.
pub struct Inside<'p> {
    pub values: HashMap<ValueId, Definition<'p>>,
    /// How often each local is assigned.
    pub assigned: HashMap<LocalId, usize>,
}

impl<'p> Inside<'p> {
    pub fn of(body: &'p Body, continuing: &'p Body) -> Inside<'p> {
        let mut inside = Inside {
            values: HashMap::new(),
            assigned: HashMap::new(),
        };
        for part in [body, continuing] {
            each_node(part, &mut |node| inside.note(&node.kind));
        }
        inside
    }

    fn note(&mut self, kind: &'p NodeKind) {
        match kind {
            NodeKind::Let { value, expr } => {
                self.values.insert(*value, Definition::Let(expr));
            }
            NodeKind::Load { values, access } => {
                for &value in values {
                    self.values.insert(value, Definition::Load(values, access));
                }
            }
            NodeKind::Atomic {
                result, exchanged, ..
            } => {
                for &value in [result, exchanged].into_iter().flatten() {
                    self.values.insert(value, Definition::Other);
                }
            }
            NodeKind::Subgroup { results, .. } => {
                for &value in results {
                    self.values.insert(value, Definition::Other);
                }
            }
            NodeKind::Assign { local, .. } => *self.assigned.entry(*local).or_default() += 1,
            _ => {}
        }
    }

    /// The same in all turns of the loop, and computable before it.
    pub fn is_invariant(&self, program: &Program, operand: Operand) -> bool {
        self.is_fixed(program, operand, 16)
    }

    fn is_fixed(&self, program: &Program, operand: Operand, depth: u32) -> bool {
        let Operand::Value(id) = operand else {
            return true;
        };
        if depth == 0 {
            return false;
        }
        match self.values.get(&id) {
            // It stands before the loop.
            None => true,
            Some(Definition::Let(Expr::Local(local))) => !self.assigned.contains_key(local),
            Some(Definition::Let(expr)) => expr
                .operands()
                .all(|x| self.is_fixed(program, x, depth - 1)),
            Some(Definition::Load(_, access)) => {
                is_fixed_memory(program, access.region) && access.index.or(access.guard).is_none()
            }
            Some(Definition::Other) => false,
        }
    }
}

/// Nobody writes it while the kernel runs.
fn is_fixed_memory(program: &Program, region: Region) -> bool {
    match region {
        Region::Immediates | Region::Constant(_) => true,
        Region::Buffer(id) => program.buffer(id).access == BufferAccess::Read,
        Region::Workgroup(_) | Region::Private(_) => false,
    }
}

/// The local's new value each time a turn ends, if that is the only assignment there.
pub fn step_of(local: LocalId, continuing: &Body) -> Option<Operand> {
    continuing.0.iter().find_map(|node| match node.kind {
        NodeKind::Assign { local: to, value } if to == local => Some(value),
        _ => None,
    })
}
