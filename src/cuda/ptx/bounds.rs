//! How each loop is kept from running for too long.
//!
//! Known to end is a loop that counts a local of its own up to a constant, or halves it, or whose turns can be
//! followed one by one. A loop that counts to something that is only known when it runs is cut into strips
//! of so many turns, and looks whether it is to end between two of them: within a strip nothing is in its way. All
//! others are polled.

use std::collections::HashMap;

use super::counter::Counter;
use super::header::{Header, Inside, each_node, each_within};
use crate::ir::{
    BinaryOp, Body, CompareOp, Const, Label, LocalId, Node, NodeKind, Operand, Program, Scope,
};

/// Turns of nested loops that may pass between two polls.
const MOST_TURNS: u64 = 1 << 14;
/// Turns of a strip, those of the loops within included.
const STRIP: u64 = 1 << 12;
/// A loop that would have shorter strips is polled: then its turns are long.
const SHORTEST_STRIP: u64 = 16;
/// What a loop may grow to when its turns are written one after the other, in nodes.
const MOST_UNROLLED: usize = 512;

/// How a loop is kept bounded.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// It ends by itself soon enough.
    Free,
    /// Its few turns are written one after the other: what it counts at the start of each.
    Unrolled {
        local: LocalId,
        turns: Vec<Const>,
    },
    Strips(Strips),
    /// A look every so many turns of all polled loops.
    Polled,
    /// A look at the end of each turn, which is long.
    Watched,
}

/// A loop that goes on while its counter is below a bound, or not above it, and adds to it each turn; or down from
/// above.
#[derive(Clone, Debug, PartialEq)]
pub struct Strips {
    pub local: LocalId,
    pub bound: Operand,
    /// What is added, or subtracted on the way down.
    pub step: Operand,
    pub is_down: bool,
    /// Turns of one strip.
    pub turns: u64,
}

/// The loops' plans, by label.
pub struct Plans(HashMap<Label, Plan>);

impl Plans {
    pub fn of(program: &Program) -> Plans {
        let mut finder = Finder {
            program,
            starts: Starts::of(&program.body),
            plans: HashMap::new(),
        };
        finder.turns(&program.body);
        Plans(finder.plans)
    }

    /// Whether any loop looks at the abort word.
    pub fn look(&self) -> bool {
        let looks = |plan: &Plan| matches!(plan, Plan::Strips(_) | Plan::Polled | Plan::Watched);
        self.0.values().any(looks)
    }

    pub fn of_loop(&self, label: Label) -> Plan {
        self.0.get(&label).cloned().unwrap_or(Plan::Polled)
    }
}

/// What is assigned to the locals anywhere.
struct Starts {
    /// Of each, the constants.
    constants: HashMap<LocalId, Vec<Const>>,
    /// How often each is assigned at all.
    assignments: HashMap<LocalId, usize>,
}

impl Starts {
    fn of(body: &Body) -> Starts {
        let mut starts = Starts {
            constants: HashMap::new(),
            assignments: HashMap::new(),
        };
        each_node(body, &mut |node| {
            if let NodeKind::Assign { local, value } = node.kind {
                *starts.assignments.entry(local).or_default() += 1;
                if let Operand::Const(c) = value {
                    starts.constants.entry(local).or_default().push(c);
                }
            }
        });
        starts
    }

    /// What a loop's counter may start as: what is assigned right before, or else anywhere, and the zero
    /// that it is before. Nothing if that is not known. The loop's step is the one assignment that does not count.
    fn of_counter(&self, program: &Program, local: LocalId, before: &[Node]) -> Option<Vec<Const>> {
        for node in before.iter().rev() {
            if let NodeKind::Assign { local: to, value } = node.kind
                && to == local
            {
                return match value {
                    Operand::Const(c) => Some(vec![c]),
                    Operand::Value(_) => None,
                };
            }
            if bodies(&node.kind) {
                // It may assign it, or not.
                break;
            }
        }
        let known = self.constants.get(&local)?;
        let elsewhere = self.assignments.get(&local)? - 1;
        let mut all = known.clone();
        all.push(Const::zero(program.local_type(local)));
        (known.len() == elsewhere).then_some(all)
    }
}

/// Whether a node has bodies.
fn bodies(kind: &NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::If { .. }
            | NodeKind::Block { .. }
            | NodeKind::Loop { .. }
            | NodeKind::Switch { .. }
    )
}

struct Finder<'p> {
    program: &'p Program,
    starts: Starts,
    plans: HashMap<Label, Plan>,
}

impl<'p> Finder<'p> {
    /// The most turns without a look that one pass through the body makes.
    fn turns(&mut self, body: &'p Body) -> u64 {
        let mut most = 1;
        for (i, node) in body.0.iter().enumerate() {
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
                    body: turn,
                    continuing,
                } => {
                    // From the inside out: an inner loop is best left alone.
                    let inner = self.turns(turn).max(self.turns(continuing));
                    let (plan, turns) = self.plan(*label, turn, continuing, &body.0[..i], inner);
                    self.plans.insert(*label, plan);
                    turns
                }
                _ => 1,
            };
            most = most.max(here);
        }
        most
    }

    /// A loop's plan, and the most turns without a look that follow from it; each of its turns makes `inner`.
    fn plan(
        &self,
        label: Label,
        body: &'p Body,
        continuing: &'p Body,
        before: &[Node],
        inner: u64,
    ) -> (Plan, u64) {
        let polled = match inner <= STRIP {
            true => (Plan::Polled, 1),
            false => (Plan::Watched, 1),
        };
        let Some(header) = Header::of(label, body) else {
            return polled;
        };
        let inside = Inside::of(body, continuing);
        let Some(counter) = Counter::of(self.program, header, continuing, &inside) else {
            return polled;
        };
        let starts = (self.starts).of_counter(self.program, counter.local, before);
        if let Some([start]) = starts.as_deref()
            && let Some(turns) = counter.turns(*start)
            && self.is_small(&header, continuing, turns.len())
        {
            let all = inner.saturating_mul(turns.len() as u64 + 1);
            if all <= MOST_TURNS {
                let local = counter.local;
                return (Plan::Unrolled { local, turns }, all);
            }
        }
        if let Some(count) = counter.most(starts.as_deref()) {
            let all = count.saturating_mul(inner);
            if all <= MOST_TURNS {
                return (Plan::Free, all);
            }
        }
        match self.strips(&counter, inner) {
            Some(strips) => {
                let all = strips.turns * inner;
                (Plan::Strips(strips), all)
            }
            None => polled,
        }
    }

    fn strips(&self, counter: &Counter<'_, '_>, inner: u64) -> Option<Strips> {
        let turns = STRIP / inner;
        let (op, step) = counter.step()?;
        let is_down = match (op, counter.op) {
            (BinaryOp::Add, CompareOp::Lt | CompareOp::Le) => false,
            (BinaryOp::Sub, CompareOp::Gt | CompareOp::Ge) => true,
            _ => return None,
        };
        (turns >= SHORTEST_STRIP).then_some(Strips {
            local: counter.local,
            bound: counter.bound,
            step,
            is_down,
            turns,
        })
    }

    /// Few enough nodes are to be written, and none that may stand only once.
    fn is_small(&self, header: &Header<'_>, continuing: &Body, turns: usize) -> bool {
        let mut nodes = 0usize;
        let mut is_plain = true;
        let mut count = |node: &Node| {
            nodes += 1;
            is_plain &= match node.kind {
                NodeKind::Loop { .. } | NodeKind::Subgroup { .. } => false,
                NodeKind::Barrier(id) => {
                    self.program.barriers[id.index()].scope == Scope::Workgroup
                }
                _ => true,
            };
        };
        for nodes in [header.nodes, &header.arm.0, header.rest, &continuing.0] {
            each_within(nodes, &mut count);
        }
        is_plain && nodes.saturating_mul(turns) <= MOST_UNROLLED
    }
}
