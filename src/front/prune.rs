//! Removes what nobody reads: values, loads, and assignments to locals that are never read.
//!
//! Lowering reads a whole structure where the source wants one member; the rest goes here.
//! `renumber` then closes the gaps.

use crate::ir::{Access, Body, Expr, NodeKind, Operand, Program, Region};

/// Rounds of marking: each follows chains of assignments one step. Enough for real programs; then
/// all variables count as read.
const ROUNDS: usize = 16;

/// Removes dead nodes.
pub fn prune(program: &mut Program) {
    let mut live = Live {
        values: vec![false; program.values.len()],
        locals: vec![false; program.locals.len()],
        private: vec![false; program.private.len()],
        grown: true,
    };
    for _ in 0..ROUNDS {
        if !std::mem::take(&mut live.grown) {
            break;
        }
        live.mark(&program.body);
    }
    if live.grown {
        live.locals.fill(true);
        live.private.fill(true);
        live.mark(&program.body);
    }
    live.sweep(&mut program.body);
}

/// What something with an effect reads, directly or through other values and variables.
struct Live {
    values: Vec<bool>,
    locals: Vec<bool>,
    private: Vec<bool>,
    /// A variable came to be read: assignments that were passed by have to be looked at again.
    grown: bool,
}

impl Live {
    /// Backwards: a value is defined before it is read, so all its readers have been seen.
    fn mark(&mut self, body: &Body) {
        for node in body.0.iter().rev() {
            for inner in bodies_of(&node.kind).iter().rev() {
                self.mark(inner);
            }
            self.mark_node(&node.kind);
        }
    }

    fn mark_node(&mut self, kind: &NodeKind) {
        if !self.is_live(kind) {
            return;
        }
        match kind {
            NodeKind::Let { expr, .. } => {
                if let Expr::Local(local) = expr {
                    self.grown |= !self.locals[local.index()];
                    self.locals[local.index()] = true;
                }
                expr.operands().for_each(|x| self.read(x));
            }
            NodeKind::Load { access, .. } => {
                if let Region::Private(id) = access.region {
                    self.grown |= !self.private[id.index()];
                    self.private[id.index()] = true;
                }
                self.access(access);
            }
            NodeKind::Store { access, values } => {
                values.iter().for_each(|&x| self.read(x));
                self.access(access);
            }
            NodeKind::Atomic {
                access,
                value,
                compare,
                ..
            } => {
                value.iter().chain(compare).for_each(|&x| self.read(x));
                self.access(access);
            }
            NodeKind::Assign { value, .. } => self.read(*value),
            NodeKind::If { cond, .. } => self.read(*cond),
            NodeKind::Switch { selector, .. } => self.read(*selector),
            NodeKind::Clear(_)
            | NodeKind::Block { .. }
            | NodeKind::Loop { .. }
            | NodeKind::Break(_)
            | NodeKind::Continue(_)
            | NodeKind::Return
            | NodeKind::Barrier(_) => {}
            NodeKind::Subgroup { operands, lane, .. } => {
                operands.iter().chain(lane).for_each(|&x| self.read(x));
            }
        }
    }

    /// As far as is known yet; of nodes with bodies, the bodies count.
    fn is_live(&self, kind: &NodeKind) -> bool {
        match kind {
            NodeKind::Let { value, .. } => self.values[value.index()],
            NodeKind::Load { values, .. } => values.iter().any(|v| self.values[v.index()]),
            NodeKind::Assign { local, .. } => self.locals[local.index()],
            NodeKind::Clear(id) => self.private[id.index()],
            NodeKind::Store { access, .. } => match access.region {
                Region::Private(id) => self.private[id.index()],
                _ => true,
            },
            // A loop without an effect may still be one that never ends.
            NodeKind::Loop { .. } => true,
            NodeKind::If { .. } | NodeKind::Block { .. } | NodeKind::Switch { .. } => {
                bodies_of(kind)
                    .iter()
                    .any(|body| body.0.iter().any(|node| self.is_live(&node.kind)))
            }
            _ => true,
        }
    }

    fn sweep(&self, body: &mut Body) {
        for node in &mut body.0 {
            if let NodeKind::Atomic {
                result, exchanged, ..
            } = &mut node.kind
            {
                *result = result.filter(|v| self.values[v.index()]);
                *exchanged = exchanged.filter(|v| self.values[v.index()]);
            }
            for inner in bodies(&mut node.kind) {
                self.sweep(inner);
            }
        }
        // Dead nodes are gone from the bodies, so an empty one has nothing live.
        body.0.retain(|node| match &node.kind {
            NodeKind::If { .. } | NodeKind::Block { .. } | NodeKind::Switch { .. } => {
                bodies_of(&node.kind).iter().any(|body| !body.0.is_empty())
            }
            kind => self.is_live(kind),
        });
    }

    fn read(&mut self, operand: Operand) {
        if let Operand::Value(id) = operand {
            self.values[id.index()] = true;
        }
    }

    fn access(&mut self, access: &Access) {
        [access.index, access.guard]
            .into_iter()
            .flatten()
            .for_each(|x| self.read(x));
    }
}

/// The bodies within a node.
pub fn bodies(kind: &mut NodeKind) -> Vec<&mut Body> {
    match kind {
        NodeKind::If { accept, reject, .. } => vec![accept, reject],
        NodeKind::Block { body, .. } => vec![body],
        NodeKind::Loop {
            body, continuing, ..
        } => vec![body, continuing],
        NodeKind::Switch { cases, default, .. } => cases
            .iter_mut()
            .map(|case| &mut case.body)
            .chain([default])
            .collect(),
        _ => Vec::new(),
    }
}

fn bodies_of(kind: &NodeKind) -> Vec<&Body> {
    match kind {
        NodeKind::If { accept, reject, .. } => vec![accept, reject],
        NodeKind::Block { body, .. } => vec![body],
        NodeKind::Loop {
            body, continuing, ..
        } => vec![body, continuing],
        NodeKind::Switch { cases, default, .. } => cases
            .iter()
            .map(|case| &case.body)
            .chain([default])
            .collect(),
        _ => Vec::new(),
    }
}
