//! What a node reads and defines, in one place for every pass over the graph.

use crate::ir::{Access, LocalId};
use crate::ir::{Expr, MemoryId, Node, NodeKind, Operand, Region, ValueId};

/// Calls `f` with every operand that the node reads. Those of a subgroup operation are read at the end of the
/// block before.
pub fn operands(node: &Node, mut f: impl FnMut(Operand)) {
    match &node.kind {
        NodeKind::Let { expr, .. } => expr_operands(expr, f),
        NodeKind::Load { access, .. } => access_operands(access, &mut f),
        NodeKind::Store { access, values } => {
            access_operands(access, &mut f);
            values.iter().copied().for_each(f);
        }
        NodeKind::Atomic {
            access,
            value,
            compare,
            ..
        } => {
            access_operands(access, &mut f);
            value.iter().chain(compare).copied().for_each(f);
        }
        NodeKind::Assign { value, .. } => f(*value),
        NodeKind::If { cond, .. } => f(*cond),
        NodeKind::Switch { selector, .. } => f(*selector),
        NodeKind::Clear(_)
        | NodeKind::Block { .. }
        | NodeKind::Loop { .. }
        | NodeKind::Break(_)
        | NodeKind::Continue(_)
        | NodeKind::Return
        | NodeKind::Barrier(_)
        | NodeKind::Subgroup { .. } => {}
    }
}

pub fn access_operands(access: &Access, f: &mut impl FnMut(Operand)) {
    access
        .index
        .iter()
        .chain(&access.guard)
        .copied()
        .for_each(f);
}

pub fn expr_operands(expr: &Expr, mut f: impl FnMut(Operand)) {
    match expr {
        Expr::Local(_) | Expr::Builtin(_) | Expr::ArrayLength(_) => {}
        Expr::Unary(_, x) | Expr::Convert(x) | Expr::Bitcast(x) => f(*x),
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => {
            f(*a);
            f(*b);
        }
        Expr::Select {
            cond,
            accept,
            reject,
        } => {
            f(*cond);
            f(*accept);
            f(*reject);
        }
        Expr::Math(_, args) => args.iter().copied().for_each(f),
    }
}

/// Calls `f` with every value that the node defines.
pub fn definitions(node: &Node, mut f: impl FnMut(ValueId)) {
    match &node.kind {
        NodeKind::Let { value, .. } => f(*value),
        NodeKind::Load {
            values: results, ..
        }
        | NodeKind::Subgroup { results, .. } => results.iter().copied().for_each(f),
        NodeKind::Atomic {
            result, exchanged, ..
        } => result.iter().chain(exchanged).copied().for_each(f),
        _ => {}
    }
}

/// The local that the node reads.
pub fn local_read(node: &Node) -> Option<LocalId> {
    match node.kind {
        NodeKind::Let {
            expr: Expr::Local(local),
            ..
        } => Some(local),
        _ => None,
    }
}

/// The workgroup or private memory whose earlier contents the node may read.
pub fn memory_read(node: &Node) -> Option<Region> {
    match &node.kind {
        NodeKind::Load { access, .. } | NodeKind::Atomic { access, .. } => match access.region {
            region @ (Region::Workgroup(_) | Region::Private(_)) => Some(region),
            _ => None,
        },
        _ => None,
    }
}

/// The private memory that the node overwrites whole.
pub fn memory_cleared(node: &Node) -> Option<MemoryId> {
    match node.kind {
        NodeKind::Clear(memory) => Some(memory),
        _ => None,
    }
}
