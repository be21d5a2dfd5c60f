//! Which values are cheap to compute again after a cut, so that they need not be saved.

use super::cfg::Cfg;
use super::uses;
use crate::ir::{
    BinaryOp, BufferAccess, BufferSpace, Expr, MathOp, Node, NodeKind, Operand, Program, Region,
};

/// Dearest recomputation, in units of one addition. A slot costs a store and a load per invocation
/// and cut, and its memory; about this many simple operations are as cheap.
const BUDGET: u16 = 16;
const LOAD: u16 = 5;
const DIVIDE: u16 = 6;

/// For each value: its node, if it can be recomputed anywhere from what never changes during a
/// dispatch (builtins, constants, array lengths, memory that nobody writes).
pub fn recomputable<'p>(program: &Program, cfg: &Cfg<'p>) -> Vec<Option<&'p Node>> {
    let mut cost: Vec<Option<u16>> = vec![None; program.values.len()];
    let mut nodes = vec![None; program.values.len()];
    // Blocks are numbered so that definitions come before uses, except in the `continuing` part of a
    // loop; a value whose operands come later in this order is simply saved.
    for node in cfg.blocks.iter().flat_map(|block| &block.nodes) {
        let Some(own) = own_cost(program, node) else {
            continue;
        };
        let mut total = Some(own);
        uses::operands(node, |operand| {
            if let Operand::Value(id) = operand {
                total = match (total, cost[id.index()]) {
                    (Some(a), Some(b)) => Some(a.saturating_add(b)),
                    _ => None,
                };
            }
        });
        if let Some(total) = total.filter(|&total| total <= BUDGET) {
            uses::definitions(node, |id| {
                cost[id.index()] = Some(total);
                nodes[id.index()] = Some(*node);
            });
        }
    }
    nodes
}

/// The node's own share; `None` if its result may change or is dear.
fn own_cost(program: &Program, node: &Node) -> Option<u16> {
    match &node.kind {
        NodeKind::Let { expr, .. } => match expr {
            Expr::Local(_) => None,
            Expr::Builtin(_) | Expr::ArrayLength(_) => Some(0),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => Some(DIVIDE),
            Expr::Math(MathOp::Abs | MathOp::Min | MathOp::Max, _) => Some(2),
            Expr::Math(..) => None,
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Compare(..)
            | Expr::Select { .. }
            | Expr::Convert(_)
            | Expr::Bitcast(_) => Some(1),
        },
        NodeKind::Load { access, .. } => match access.region {
            Region::Immediates | Region::Constant(_) => Some(LOAD),
            Region::Buffer(id) => {
                let buffer = program.buffer(id);
                let fixed =
                    buffer.space == BufferSpace::Uniform || buffer.access == BufferAccess::Read;
                fixed.then_some(LOAD)
            }
            Region::Workgroup(_) | Region::Private(_) => None,
        },
        _ => None,
    }
}
