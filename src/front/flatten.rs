//! Makes plain logic of `&&` and `||` whose right side is cheap: computing it costs less than the branch around it.

use super::prune::bodies;
use crate::ir::{
    BinaryOp, Body, Const, Expr, LocalId, MathOp, Node, NodeKind, Operand, Program, Region, Scalar,
    ValueDecl, ValueId,
};

/// Nodes of a right side.
const MOST: usize = 8;

/// Lowering leaves `if a { [b]; t = b } else { t = false }` for `a && b`, and for `a || b` the like. It becomes
/// `[b]; t = a & b`, and so does the read of `t` that follows; `prune` removes `t` if nothing else reads it.
pub fn flatten(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    Flattener {
        values: &mut program.values,
    }
    .body(&mut body);
    program.body = body;
}

struct Flattener<'p> {
    values: &'p mut Vec<ValueDecl>,
}

/// A short circuit.
struct Circuit {
    op: BinaryOp,
    to: LocalId,
    left: Operand,
    right: ValueId,
    /// Computes the right side.
    nodes: Vec<Node>,
}

impl Flattener<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut nodes: Vec<Node> = Vec::with_capacity(body.0.len());
        // What the node before assigned, and as what.
        let mut last: Option<(LocalId, Expr)> = None;
        for mut node in body.0.drain(..) {
            bodies(&mut node.kind)
                .into_iter()
                .for_each(|inner| self.body(inner));
            let before = last.take();
            if let (NodeKind::Let { expr, .. }, Some((local, logic))) = (&mut node.kind, before)
                && *expr == Expr::Local(local)
            {
                *expr = logic;
            }
            let span = node.span;
            match circuit(&mut node.kind) {
                None => nodes.push(node),
                Some(circuit) => {
                    nodes.extend(circuit.nodes);
                    let logic = Expr::Binary(circuit.op, circuit.left, circuit.right.into());
                    let value = self.value(circuit.right);
                    for kind in [
                        NodeKind::Let {
                            value,
                            expr: logic.clone(),
                        },
                        NodeKind::Assign {
                            local: circuit.to,
                            value: value.into(),
                        },
                    ] {
                        nodes.push(Node { kind, span });
                    }
                    last = Some((circuit.to, logic));
                }
            }
        }
        body.0 = nodes;
    }

    /// A new value of type bool, said to stand for what `like` stands for.
    fn value(&mut self, like: ValueId) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("bounded by the node budget"));
        let span = self.values[like.index()].span;
        self.values.push(ValueDecl {
            ty: Scalar::Bool,
            span,
        });
        id
    }
}

/// Takes a short circuit apart; whatever else is left as it is.
fn circuit(kind: &mut NodeKind) -> Option<Circuit> {
    let NodeKind::If {
        cond,
        accept,
        reject,
    } = kind
    else {
        return None;
    };
    let left = *cond;
    for (op, otherwise) in [(BinaryOp::And, false), (BinaryOp::Or, true)] {
        let (arm, other) = match op {
            BinaryOp::And => (&mut *accept, &*reject),
            _ => (&mut *reject, &*accept),
        };
        let [
            Node {
                kind: NodeKind::Assign { local: to, value },
                ..
            },
        ] = &other.0[..]
        else {
            continue;
        };
        if *value != Operand::Const(Const::bool(otherwise)) {
            continue;
        }
        let Some((last, nodes)) = arm.0.split_last() else {
            continue;
        };
        let NodeKind::Assign {
            local,
            value: Operand::Value(right),
        } = last.kind
        else {
            continue;
        };
        if local != *to || nodes.len() > MOST || !nodes.iter().all(is_cheap) {
            continue;
        }
        arm.0.pop();
        let nodes = std::mem::take(&mut arm.0);
        return Some(Circuit {
            op,
            to: local,
            left,
            right,
            nodes,
        });
    }
    None
}

/// Neither dear nor able to do anything but compute a value.
fn is_cheap(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Let { expr, .. } => match expr {
            Expr::Binary(op, ..) => !matches!(op, BinaryOp::Div | BinaryOp::Rem),
            Expr::Math(op, _) => matches!(op, MathOp::Abs | MathOp::Min | MathOp::Max),
            _ => true,
        },
        // The dispatch's immediates are as near as registers.
        NodeKind::Load { access, .. } => {
            access.region == Region::Immediates && access.index.or(access.guard).is_none()
        }
        _ => false,
    }
}
