//! Makes plain logic of `&&` and `||` whose right side is cheap: computing it costs less than the branch around it.

use super::prune::bodies;
use crate::ir::{
    BinaryOp, Body, Expr, LocalId, MathOp, Node, NodeKind, Operand, Program, Region, Scalar,
    UnaryOp, ValueDecl, ValueId,
};

/// Nodes of a right side.
const MOST: usize = 8;

/// Lowering leaves `if a { [b]; t = b } else { t = false }` for `a && b`, and `if !a { [b]; t = b } else { t = true }`
/// for `a || b`. It becomes `[b]; t = a & b`, and so does the read of `t` that follows; `prune` removes `t` if nothing
/// else reads it.
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
    /// The left side is the contrary of `left`.
    is_not: bool,
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
                    let mut left = circuit.left;
                    if circuit.is_not {
                        let value = self.value(circuit.right);
                        let expr = Expr::Unary(UnaryOp::Not, left);
                        let kind = NodeKind::Let { value, expr };
                        nodes.push(Node { kind, span });
                        left = value.into();
                    }
                    let logic = Expr::Binary(circuit.op, left, circuit.right.into());
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
    // The arm that computes the right side is taken if the condition is this.
    for taken in [true, false] {
        let (arm, other) = match taken {
            true => (&mut *accept, &*reject),
            false => (&mut *reject, &*accept),
        };
        let [
            Node {
                kind:
                    NodeKind::Assign {
                        local: to,
                        value: Operand::Const(otherwise),
                    },
                ..
            },
        ] = other.0[..]
        else {
            continue;
        };
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
        let is_cheap = nodes.len() <= MOST && nodes.iter().all(is_cheap);
        if local != to || otherwise.ty != Scalar::Bool || !is_cheap {
            continue;
        }
        let (op, is_not) = match otherwise.bits {
            0 => (BinaryOp::And, !taken),
            _ => (BinaryOp::Or, taken),
        };
        arm.0.pop();
        return Some(Circuit {
            op,
            to,
            left,
            is_not,
            right,
            nodes: std::mem::take(&mut arm.0),
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
