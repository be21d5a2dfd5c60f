//! Removes what nobody reads: values, loads, and assignments to locals that are never read.
//!
//! Lowering reads a whole structure where the source wants one member; the rest goes here.
//! `renumber` then closes the gaps.

use crate::ir::{Access, Body, Expr, NodeKind, Operand, Program, Region};

/// Rounds of removal: each may leave new dead assignments behind. Enough for real programs, and a
/// bound for the others.
const ROUNDS: usize = 8;

/// Removes dead nodes.
pub fn prune(program: &mut Program) {
    for _ in 0..ROUNDS {
        let mut live = Live {
            values: vec![false; program.values.len()],
            locals: vec![false; program.locals.len()],
            private: vec![false; program.private.len()],
        };
        live.body(&mut program.body);
        if !live.drop_writes(&mut program.body) {
            break;
        }
    }
}

/// What is read.
struct Live {
    values: Vec<bool>,
    locals: Vec<bool>,
    private: Vec<bool>,
}

impl Live {
    /// Backwards: a value is defined before it is read, so all its readers have been seen.
    fn body(&mut self, body: &mut Body) {
        let mut kept = Vec::with_capacity(body.0.len());
        for mut node in std::mem::take(&mut body.0).into_iter().rev() {
            if self.node(&mut node.kind) {
                kept.push(node);
            }
        }
        kept.reverse();
        body.0 = kept;
    }

    /// Whether the node stays.
    fn node(&mut self, kind: &mut NodeKind) -> bool {
        match kind {
            NodeKind::Let { value, expr } => {
                if !self.values[value.index()] {
                    return false;
                }
                if let Expr::Local(local) = expr {
                    self.locals[local.index()] = true;
                }
                expr_operands(expr).for_each(|x| self.read(x));
            }
            NodeKind::Load { values, access } => {
                if !values.iter().any(|v| self.values[v.index()]) {
                    return false;
                }
                if let Region::Private(id) = access.region {
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
                result,
                exchanged,
                ..
            } => {
                *result = result.filter(|v| self.values[v.index()]);
                *exchanged = exchanged.filter(|v| self.values[v.index()]);
                [*value, *compare]
                    .into_iter()
                    .flatten()
                    .for_each(|x| self.read(x));
                self.access(access);
            }
            NodeKind::Assign { value, .. } => self.read(*value),
            NodeKind::If {
                cond,
                accept,
                reject,
            } => {
                self.body(accept);
                self.body(reject);
                if accept.0.is_empty() && reject.0.is_empty() {
                    return false;
                }
                self.read(*cond);
            }
            NodeKind::Block { body, .. } => {
                self.body(body);
                return !body.0.is_empty();
            }
            NodeKind::Loop {
                body, continuing, ..
            } => {
                self.body(continuing);
                self.body(body);
            }
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => {
                cases.iter_mut().for_each(|case| self.body(&mut case.body));
                self.body(default);
                if cases.iter().all(|case| case.body.0.is_empty()) && default.0.is_empty() {
                    return false;
                }
                self.read(*selector);
            }
            NodeKind::Clear(_)
            | NodeKind::Break(_)
            | NodeKind::Continue(_)
            | NodeKind::Return
            | NodeKind::Barrier(_) => {}
        }
        true
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
    /// Removes writes of what is never read; whether there were any.
    fn drop_writes(&self, body: &mut Body) -> bool {
        let before = body.0.len();
        body.0.retain(|node| match &node.kind {
            NodeKind::Assign { local, .. } => self.locals[local.index()],
            NodeKind::Clear(id) => self.private[id.index()],
            NodeKind::Store { access, .. } => match access.region {
                Region::Private(id) => self.private[id.index()],
                _ => true,
            },
            _ => true,
        });
        let mut dropped = body.0.len() < before;
        for node in &mut body.0 {
            for inner in bodies(&mut node.kind) {
                dropped |= self.drop_writes(inner);
            }
        }
        dropped
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

fn expr_operands(expr: &Expr) -> impl Iterator<Item = Operand> {
    let operands: smallvec::SmallVec<[Operand; 3]> = match expr {
        Expr::Local(_) | Expr::Builtin(_) | Expr::ArrayLength(_) => smallvec::smallvec![],
        Expr::Unary(_, x) | Expr::Convert(x) | Expr::Bitcast(x) => smallvec::smallvec![*x],
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => smallvec::smallvec![*a, *b],
        Expr::Select {
            cond,
            accept,
            reject,
        } => smallvec::smallvec![*cond, *accept, *reject],
        Expr::Math(_, operands) => operands.clone(),
    };
    operands.into_iter()
}
