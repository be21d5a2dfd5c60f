//! Blocks and loops, and the ways out of them.
//!
//! A loop's start is where paths meet before what comes back to it is known: turns are tried, each with wider
//! intervals, until one brings back nothing that is not within what it started from. Only then, in a last turn,
//! is anything found.

use std::rc::Rc;

use super::interval::{self, Interval};
use super::terms::TermId;
use super::walk::{Brought, Walk};
use crate::ir::{Body, Label, LocalId, NodeKind};

/// Loops within loops: further in, what a loop assigns is unknown at its start. The trials multiply.
const DEEPEST_LOOP: u32 = 4;
/// Turns whose intervals grow by what comes back; then they grow to the ends of the type.
const GROWING: u32 = 3;
/// Turns in all.
const TRIALS: u32 = 12;
/// Turns that take back what was grown too far.
const NARROWING: u32 = 2;

type Paths = Option<Vec<Brought>>;

/// An open block or loop.
pub struct Frame {
    assigned: Rc<[LocalId]>,
    breaks: Paths,
    continues: Paths,
}

/// How a turn of a loop went.
struct Turn {
    /// What the locals hold that come back to its start, if any path does.
    back: Option<Vec<Interval>>,
    breaks: Paths,
}

impl<'p> Walk<'p> {
    fn here(&mut self, assigned: &[LocalId]) -> Vec<(TermId, Interval)> {
        (assigned.iter())
            .map(|local| {
                let term = self.locals[local.index()];
                (term, self.terms.interval(term))
            })
            .collect()
    }

    /// A way out of an open block or loop, or to a loop's `continuing`.
    pub fn leave(&mut self, label: Label, to_continuing: bool) {
        let Some(assigned) = self.frames.get(&label).map(|frame| frame.assigned.clone()) else {
            unreachable!("validated: the label is open");
        };
        let here = self.here(&assigned);
        if let Some(frame) = self.frames.get_mut(&label) {
            let paths = match to_continuing {
                true => &mut frame.continues,
                false => &mut frame.breaks,
            };
            bring(paths, &here);
        }
    }

    /// Goes on where paths have come together.
    fn arrive(&mut self, assigned: &[LocalId], paths: &[Brought]) {
        for (&local, &brought) in assigned.iter().zip(paths) {
            let term = self.brought(local, brought);
            self.assign(local, term);
        }
    }

    pub fn block(&mut self, label: Label, body: &'p Body) -> bool {
        let assigned = self.assigned_in(label, &[body]);
        let marks = self.marks();
        let frame = Frame {
            assigned: assigned.clone(),
            breaks: None,
            continues: None,
        };
        self.frames.insert(label, frame);
        let is_reached = self.body(body);
        let mut breaks = self.frames.remove(&label).and_then(|frame| frame.breaks);
        if is_reached && breaks.is_none() {
            return true;
        }
        if is_reached {
            let here = self.here(&assigned);
            bring(&mut breaks, &here);
        }
        self.undo(marks);
        match breaks {
            Some(paths) => self.arrive(&assigned, &paths),
            None => return false,
        }
        true
    }

    pub fn repeat(&mut self, label: Label, body: &'p Body, continuing: &'p Body) -> bool {
        let assigned = self.assigned_in(label, &[body, continuing]);
        let entry: Vec<Interval> = self.here(&assigned).iter().map(|held| held.1).collect();
        let is_last = std::mem::replace(&mut self.is_last, false);
        self.loops += 1;
        let parts = (label, body, continuing);
        let (start, tried) = self.steady(parts, &assigned, &entry);
        self.is_last = is_last;
        let turn = match tried {
            Some(turn) if !is_last => turn,
            _ => self.turn(parts, &assigned, &start),
        };
        self.loops -= 1;
        match turn.breaks {
            Some(paths) => self.arrive(&assigned, &paths),
            None => return false,
        }
        true
    }

    /// Intervals of the locals at a loop's start that hold in every turn, and how a turn from them goes.
    fn steady(
        &mut self,
        parts: (Label, &'p Body, &'p Body),
        assigned: &Rc<[LocalId]>,
        entry: &[Interval],
    ) -> (Vec<Interval>, Option<Turn>) {
        let anything: Vec<Interval> = (assigned.iter())
            .map(|&local| interval::of_type(self.program.local_type(local)))
            .collect();
        if self.loops > DEEPEST_LOOP {
            return (anything, None);
        }
        let mut start = entry.to_vec();
        let mut steady = None;
        for trial in 0..TRIALS {
            let turn = self.turn(parts, assigned, &start);
            let Some(back) = comes_back_wider(&turn, &start) else {
                steady = Some(turn);
                break;
            };
            for ((start, back), all) in start.iter_mut().zip(back).zip(&anything) {
                let mut wider = start.join(*back);
                if trial >= GROWING && wider.lo < start.lo {
                    wider.lo = all.lo;
                }
                if trial >= GROWING && wider.hi > start.hi {
                    wider.hi = all.hi;
                }
                *start = wider;
            }
        }
        let Some(mut turn) = steady else {
            return (anything, None);
        };
        for _ in 0..NARROWING {
            let narrower: Vec<Interval> = match &turn.back {
                None => entry.to_vec(),
                Some(back) => entry.iter().zip(back).map(|(a, b)| a.join(*b)).collect(),
            };
            if narrower == start {
                break;
            }
            let tried = self.turn(parts, assigned, &narrower);
            if comes_back_wider(&tried, &narrower).is_some() {
                break;
            }
            (start, turn) = (narrower, tried);
        }
        (start, Some(turn))
    }

    /// Walks a loop once, its locals starting from anything within `start`, and goes back to before it.
    fn turn(
        &mut self,
        (label, body, continuing): (Label, &'p Body, &'p Body),
        assigned: &Rc<[LocalId]>,
        start: &[Interval],
    ) -> Turn {
        let marks = self.marks();
        let frame = Frame {
            assigned: assigned.clone(),
            breaks: None,
            continues: None,
        };
        self.frames.insert(label, frame);
        for (&local, &interval) in assigned.iter().zip(start) {
            let term = (self.terms).opaque(self.program.local_type(local), interval);
            self.assign(local, term);
        }
        let started = self.marks();
        let mut is_reached = self.body(body);
        let mut continues = (self.frames.get_mut(&label)).and_then(|frame| frame.continues.take());
        if continues.is_some() {
            if is_reached {
                let here = self.here(assigned);
                bring(&mut continues, &here);
            }
            self.undo(started);
            self.arrive(assigned, continues.as_deref().unwrap_or_default());
            is_reached = true;
        }
        let is_back = is_reached && self.body(continuing);
        let back = is_back.then(|| self.here(assigned).iter().map(|held| held.1).collect());
        let breaks = self.frames.remove(&label).and_then(|frame| frame.breaks);
        self.undo(marks);
        Turn { back, breaks }
    }

    fn assigned_in(&mut self, label: Label, bodies: &[&Body]) -> Rc<[LocalId]> {
        if let Some(assigned) = self.assigned.get(&label) {
            return assigned.clone();
        }
        let mut all = Vec::new();
        for body in bodies {
            self.terms.spent += assignments(body, &mut all);
        }
        all.sort_unstable();
        all.dedup();
        let all: Rc<[LocalId]> = all.into();
        self.assigned.insert(label, all.clone());
        all
    }
}

/// Adds a path to those that lead to a place.
fn bring(paths: &mut Paths, here: &[(TermId, Interval)]) {
    match paths {
        None => {
            let first = here.iter().map(|&(term, interval)| Brought {
                term: Some(term),
                interval,
            });
            *paths = Some(first.collect());
        }
        Some(paths) => {
            for (path, &(term, interval)) in paths.iter_mut().zip(here) {
                *path = path.with(term, interval);
            }
        }
    }
}

/// What comes back to a loop's start, if some of it is not within what the turn started from.
fn comes_back_wider<'t>(turn: &'t Turn, start: &[Interval]) -> Option<&'t [Interval]> {
    let back = turn.back.as_deref()?;
    let is_wider = back
        .iter()
        .zip(start)
        .any(|(back, start)| !back.is_within(*start));
    is_wider.then_some(back)
}

/// Collects the locals that a body assigns; says how many nodes it looked at.
fn assignments(body: &Body, all: &mut Vec<LocalId>) -> u64 {
    let mut seen = 0;
    for node in &body.0 {
        seen += 1;
        match &node.kind {
            NodeKind::Assign { local, .. } => all.push(*local),
            NodeKind::If { accept, reject, .. } => {
                seen += assignments(accept, all) + assignments(reject, all);
            }
            NodeKind::Block { body, .. } => seen += assignments(body, all),
            NodeKind::Loop {
                body, continuing, ..
            } => seen += assignments(body, all) + assignments(continuing, all),
            NodeKind::Switch { cases, default, .. } => {
                seen += assignments(default, all);
                for case in cases {
                    seen += assignments(&case.body, all);
                }
            }
            _ => {}
        }
    }
    seen
}
