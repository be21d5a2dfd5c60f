//! Loops that end by themselves soon enough; all others are polled.
//!
//! Known to end is a loop that counts a local of its own up to a constant: the test stands in the body's
//! straight start, so that each turn makes it, and the only assignment in the loop is the step at the
//! end of each turn.

use std::collections::{HashMap, HashSet};

use crate::ir::{
    BinaryOp, Body, CompareOp, Const, Expr, Label, LocalId, Node, NodeKind, Operand, Program,
    Scalar, ValueId,
};

/// Turns of nested loops that may pass between two polls.
const MOST_TURNS: u64 = 1 << 14;

/// The loops that are polled, by label.
pub struct Polled(HashSet<Label>);

impl Polled {
    pub fn of(program: &Program) -> Polled {
        let mut finder = Finder {
            program,
            starts: initial_values(&program.body),
            polled: HashSet::new(),
        };
        finder.turns(&program.body);
        Polled(finder.polled)
    }

    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub fn contains(&self, label: Label) -> bool {
        self.0.contains(&label)
    }
}

/// What a local may hold when a loop starts: of each, the constants that are assigned anywhere.
/// A step within its own loop is no constant.
fn initial_values(body: &Body) -> HashMap<LocalId, Vec<Const>> {
    let mut starts: HashMap<LocalId, Vec<Const>> = HashMap::new();
    each_node(body, &mut |node| {
        if let NodeKind::Assign {
            local,
            value: Operand::Const(c),
        } = node.kind
        {
            starts.entry(local).or_default().push(c);
        }
    });
    starts
}

fn each_node<'p>(body: &'p Body, f: &mut dyn FnMut(&'p Node)) {
    for node in &body.0 {
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

struct Finder<'p> {
    program: &'p Program,
    starts: HashMap<LocalId, Vec<Const>>,
    polled: HashSet<Label>,
}

impl Finder<'_> {
    /// The most turns without a poll that one pass through the body makes.
    fn turns(&mut self, body: &Body) -> u64 {
        let mut most = 1;
        for node in &body.0 {
            let here = match &node.kind {
                NodeKind::If { accept, reject, .. } => self.turns(accept).max(self.turns(reject)),
                NodeKind::Block { body, .. } => self.turns(body),
                NodeKind::Switch { cases, default, .. } => (cases.iter())
                    .map(|case| self.turns(&case.body))
                    .chain([1])
                    .max()
                    .unwrap_or(1)
                    .max(self.turns(default)),
                NodeKind::Loop {
                    label,
                    body,
                    continuing,
                } => {
                    // From the inside out: an inner loop is best left alone.
                    let inner = self.turns(body).max(self.turns(continuing));
                    let all = self
                        .count(*label, body, continuing)
                        .map(|count| count.saturating_mul(inner));
                    match all {
                        Some(all) if all <= MOST_TURNS => all,
                        _ => {
                            self.polled.insert(*label);
                            1
                        }
                    }
                }
                _ => 1,
            };
            most = most.max(here);
        }
        most
    }

    /// The most turns that a counting loop makes.
    fn count(&self, label: Label, body: &Body, continuing: &Body) -> Option<u64> {
        let (local, end) = self.test(label, body)?;
        let step = step(local, continuing)?;
        let mut assignments = 0;
        for part in [body, continuing] {
            each_node(part, &mut |node| {
                if matches!(node.kind, NodeKind::Assign { local: to, .. } if to == local) {
                    assignments += 1;
                }
            });
        }
        // Only unsigned, or signed from a start that is known: else the range below is unknown.
        let lowest = match self.program.local_type(local) {
            Scalar::U32 | Scalar::U64 => 0,
            _ => {
                let starts = self.starts.get(&local)?;
                let known = self.assignments_elsewhere(local) == starts.len();
                starts
                    .iter()
                    .map(|&c| signed(c))
                    .min()
                    .filter(|_| known)?
                    .min(0)
            }
        };
        let range = u64::try_from(end.checked_sub(lowest)?).ok()?;
        // The step must not jump over the type's end: with so short a range below it, it cannot.
        let ends_early = end <= i128::from(i32::MAX) - i128::from(step);
        (assignments == 1 && ends_early).then(|| range.div_ceil(step) + 1)
    }

    /// Assignments of the local in the program, less its step.
    fn assignments_elsewhere(&self, local: LocalId) -> usize {
        let mut all = 0;
        each_node(&self.program.body, &mut |node| {
            if matches!(node.kind, NodeKind::Assign { local: to, .. } if to == local) {
                all += 1;
            }
        });
        all - 1
    }

    /// The local that is below the bound while the loop goes on, and the bound.
    fn test(&self, label: Label, body: &Body) -> Option<(LocalId, i128)> {
        let mut reads: HashMap<ValueId, LocalId> = HashMap::new();
        let mut tests: HashMap<ValueId, (LocalId, i128)> = HashMap::new();
        let mut inverse: HashMap<ValueId, ValueId> = HashMap::new();
        for node in &body.0 {
            match &node.kind {
                NodeKind::Let { value, expr } => match *expr {
                    Expr::Local(local) => {
                        reads.insert(*value, local);
                    }
                    Expr::Compare(
                        op @ (CompareOp::Lt | CompareOp::Le | CompareOp::Ge | CompareOp::Gt),
                        Operand::Value(x),
                        Operand::Const(bound),
                    ) if bound.ty.is_int() => {
                        if let Some(&local) = reads.get(&x) {
                            let below = matches!(op, CompareOp::Lt | CompareOp::Ge);
                            let end = signed(bound) + i128::from(!below);
                            // `Ge` and `Gt` say when the loop ends.
                            let negated = matches!(op, CompareOp::Ge | CompareOp::Gt);
                            tests.insert(*value, (local, end));
                            if negated {
                                inverse.insert(*value, *value);
                            }
                        }
                    }
                    Expr::Unary(crate::ir::UnaryOp::Not, Operand::Value(x)) => {
                        if let Some(&test) = tests.get(&x) {
                            tests.insert(*value, test);
                            if !inverse.contains_key(&x) {
                                inverse.insert(*value, *value);
                            }
                        }
                    }
                    _ => {}
                },
                NodeKind::If {
                    cond: Operand::Value(cond),
                    accept,
                    reject,
                } => {
                    let &(local, end) = tests.get(cond)?;
                    let leaving = match inverse.contains_key(cond) {
                        true => accept,
                        false => reject,
                    };
                    let leaves = matches!(&leaving.0[..],
                        [Node { kind: NodeKind::Break(to), .. }] if *to == label);
                    return leaves.then_some((local, end));
                }
                NodeKind::Load { .. } => {}
                _ => return None,
            }
        }
        None
    }
}

/// A constant as a number.
fn signed(c: Const) -> i128 {
    match c.ty {
        Scalar::I32 => i128::from((c.bits as u32).cast_signed()),
        Scalar::I64 => i128::from(c.bits.cast_signed()),
        _ => i128::from(c.bits),
    }
}

/// By how much the end of each turn raises the local.
fn step(local: LocalId, continuing: &Body) -> Option<u64> {
    let mut reads = HashSet::new();
    let mut sums: HashMap<ValueId, u64> = HashMap::new();
    for node in &continuing.0 {
        match &node.kind {
            NodeKind::Let { value, expr } => match *expr {
                Expr::Local(of) if of == local => {
                    reads.insert(*value);
                }
                Expr::Binary(BinaryOp::Add, Operand::Value(x), Operand::Const(by))
                    if reads.contains(&x) && (1..=1 << 20).contains(&by.bits) =>
                {
                    sums.insert(*value, by.bits);
                }
                _ => {}
            },
            NodeKind::Assign {
                local: to,
                value: Operand::Value(sum),
            } if *to == local => return sums.get(sum).copied(),
            NodeKind::Assign { local: to, .. } if *to != local => {}
            _ => return None,
        }
    }
    None
}
