//! Which values agree across the workgroup or the whole grid, and with them which barriers are met
//! evenly.
//!
//! `walk` goes through the program once. It numbers the nodes, draws the control flow that `intervals`
//! needs to say which loads may see a write of their own barrier interval, and enters into the `graph`
//! what decides whether each place is reached. `depend` enters what each value depends on, `locals` finding
//! the assignments that reach a read and `disjoint` excusing writes that miss a load's element. The level of a node of the graph is then the highest of what it
//! depends on: one flood from the sources, linear in the size of the graph. `explain` reads the way back.

mod depend;
mod disjoint;
mod explain;
mod graph;
mod intervals;
mod locals;
#[cfg(test)]
mod tests;

mod walk;

use graph::NodeIx;

pub use explain::{Cause, ConditionKind, Exit, Root, Why};

use super::{BarrierId, Program, Scope};
use crate::error::Error;

/// Who agrees on a value or on whether a place is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The whole grid.
    Grid,
    /// Each workgroup for itself.
    Workgroup,
    /// Each subgroup for itself.
    Subgroup,
    /// Nobody.
    Varying,
}

/// Whether those who must meet at a barrier all reach it, or none of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    Proven,
    Unproven(Cause),
}

/// What `analyse` found out about a program.
#[derive(Clone, Debug)]
pub struct Uniformity {
    /// By barrier id.
    pub barriers: Vec<Proof>,
    /// By value id: who agrees on the value at any one time, of those that have computed it.
    pub values: Vec<Level>,
    /// By local id: who agrees on what the local holds wherever it is still read, at any one time.
    pub locals: Vec<Level>,
}

/// Finds the level of each value and proves what barriers it can. The program has passed `validate`.
pub fn analyse(program: &Program) -> Uniformity {
    let walked = walk::Walk::of(program);
    let dirty = intervals::Intervals::of(&walked.flow);
    let mut graph = walked.graph.clone();
    let locals = depend::enter(program, &walked, &dirty, &mut graph);
    let levels = graph.flood();
    let needed = |scope| match scope {
        Scope::Grid => Level::Grid,
        Scope::Workgroup => Level::Workgroup,
        Scope::Subgroup => Level::Subgroup,
    };
    let barriers: Vec<Proof> = (program.barriers.iter().zip(&walked.barriers))
        .map(|(barrier, &place)| match place {
            // No path leads there.
            None => Proof::Proven,
            Some(control) if levels.of(control) <= needed(barrier.scope) => Proof::Proven,
            Some(control) => Proof::Unproven(explain::cause(program, &graph, &levels, control)),
        })
        .collect();
    // Those who meet at a barrier that is not proven may come from different rounds of a loop: what is
    // equal in every round is not equal among them. Nor is it when subgroups go through a loop by themselves.
    let together =
        |place: &Option<NodeIx>| place.is_none_or(|at| levels.of(at) <= Level::Workgroup);
    let in_step = (barriers.iter()).all(|proof| *proof == Proof::Proven)
        && walked.barriers.iter().all(together);
    let level = |node| match in_step {
        true => levels.of(node),
        false => Level::Varying,
    };
    Uniformity {
        values: (0..program.values.len()).map(level).collect(),
        locals: locals.into_iter().map(level).collect(),
        barriers,
    }
}

impl Uniformity {
    pub fn is_proven(&self, barrier: BarrierId) -> bool {
        matches!(self.barriers[barrier.index()], Proof::Proven)
    }

    /// Why the program cannot run: the first grid barrier that not all may reach. (A workgroup barrier is
    /// voted on when it is met, and a subgroup operation is for those who come to it.)
    pub fn refusal(&self, program: &Program) -> Option<Error> {
        (program.barriers.iter().zip(&self.barriers)).find_map(|(barrier, proof)| match proof {
            Proof::Unproven(cause) if barrier.scope == Scope::Grid => {
                Some(explain::refusal(program, barrier, cause))
            }
            _ => None,
        })
    }
}
