//! Loops.
//!
//! The test stands at the end of a turn and once before the first, so that the loop is one piece that a branch at
//! its end repeats: NVIDIA's assembler unrolls and schedules across turns only loops of that shape.

use std::ops::Range;

use super::abi::Contract;
use super::bounds::{Plan, Strips};
use super::emitter::{Emitter, Goal};
use super::expr::arithmetic;
use super::header::{Definition, Header, Inside, is_break};
use super::text::{Class, LabelName, Val};
use crate::ir::{Body, CompareOp, Const, Label, LocalId, Node, NodeKind, Operand};

/// The labels of a loop.
#[derive(Clone, Copy)]
struct Ends {
    top: LabelName,
    next: LabelName,
    end: LabelName,
}

impl Emitter<'_> {
    pub fn repeat(&mut self, label: Label, body: &Body, continuing: &Body) {
        let [top, next, end] = [0; 3].map(|_| self.new_label());
        let ends = Ends { top, next, end };
        self.open(label, ends);
        // Without a word to look at nothing is bounded.
        let is_bounded = self.contract == Contract::LaunchSlot || self.program.has_grid_barrier();
        let plan = match self.plans.of_loop(label) {
            Plan::Strips(_) | Plan::Polled | Plan::Watched if !is_bounded => Plan::Free,
            plan => plan,
        };
        match (Header::of(label, body), plan) {
            (Some(header), Plan::Unrolled { local, turns }) => {
                self.unrolled(label, header, continuing, local, &turns, end);
            }
            (Some(header), Plan::Strips(strips)) => {
                let inside = Inside::of(body, continuing);
                self.in_strips(header, continuing, &strips, &inside, ends);
            }
            (Some(header), plan) => {
                let test = self.enter(header, end);
                self.place(top);
                self.turn(header, continuing, next);
                self.poll(&plan);
                self.again(&test);
                self.branch_if(test.cond, !header.leaves, top);
            }
            (None, plan) => {
                self.place(top);
                self.body(body);
                self.place(next);
                self.end_of_turn(label, continuing, &plan, top);
            }
        }
        self.place(end);
    }

    fn open(&mut self, label: Label, Ends { next, end, .. }: Ends) {
        let next = Some(next);
        self.goals.insert(label, Goal { end, next });
    }

    /// The header before the first turn.
    fn enter(&mut self, header: Header<'_>, end: LabelName) -> Test {
        let start = self.body.len();
        let (values, test) = header.nodes.split_at(header.values());
        self.nodes(values);
        let middle = self.body.len();
        self.nodes(test);
        let text = |range: Range<usize>| self.body[range].to_owned();
        let (values, test) = (text(start..middle), text(middle..self.body.len()));
        let cond = self.operand(header.cond);
        self.branch_if(cond, header.leaves, end);
        Test { values, test, cond }
    }

    /// The header before another turn: the same instructions, so that what it defines is where it was.
    fn again(&mut self, test: &Test) {
        self.body.push_str(&test.values);
        self.body.push_str(&test.test);
    }

    /// What a turn does behind its header.
    fn turn(&mut self, header: Header<'_>, continuing: &Body, next: LabelName) {
        self.body(header.arm);
        self.nodes(header.rest);
        self.place(next);
        self.body(continuing);
    }

    /// The end of a turn of a loop that does not test at its start.
    fn end_of_turn(&mut self, label: Label, continuing: &Body, plan: &Plan, top: LabelName) {
        let nodes = &continuing.0;
        if let Some((Node { kind, .. }, others)) = nodes.split_last()
            && let NodeKind::If {
                cond,
                accept,
                reject,
            } = kind
            && is_break(accept, label)
            && reject.0.is_empty()
        {
            self.nodes(others);
            self.poll(plan);
            let cond = self.operand(*cond);
            self.branch_if(cond, false, top);
            return;
        }
        self.body(continuing);
        self.poll(plan);
        self.put(format_args!("bra {top}"));
    }

    fn poll(&mut self, plan: &Plan) {
        match plan {
            Plan::Polled | Plan::Strips(_) => self.poll_sometimes(),
            Plan::Watched => self.poll_now(),
            Plan::Free | Plan::Unrolled { .. } => {}
        }
    }

    /// Turn after turn, without a test.
    fn unrolled(
        &mut self,
        label: Label,
        header: Header<'_>,
        continuing: &Body,
        local: LocalId,
        turns: &[Const],
        end: LabelName,
    ) {
        for now in turns {
            let [top, next] = [0; 2].map(|_| self.new_label());
            self.open(label, Ends { top, next, end });
            // It holds that anyway; the assembler need not find out.
            let counter = self.locals[local.index()];
            self.mov(counter, Val::Int(now.bits));
            self.nodes(header.nodes);
            self.turn(header, continuing, next);
        }
        self.nodes(header.nodes);
    }

    /// A loop in a loop: the inner one makes the turns of a strip.
    fn in_strips(
        &mut self,
        header: Header<'_>,
        continuing: &Body,
        strips: &Strips,
        inside: &Inside<'_>,
        Ends { top, next, end }: Ends,
    ) {
        let strip = self.new_label();
        let test = self.enter(header, end);
        self.place(strip);
        self.prepare(strips.step, inside);
        let limit = self.limit(strips);
        self.place(top);
        self.turn(header, continuing, next);
        let local = self.locals[strips.local.index()];
        let ty = self.program.local_type(strips.local);
        let before = match strips.is_down {
            true => CompareOp::Gt,
            false => CompareOp::Lt,
        };
        let goes_on = self.compare(before, ty, local.into(), limit);
        self.body.push_str(&test.values);
        self.branch_if(goes_on, true, top);
        self.body.push_str(&test.test);
        self.branch_if(test.cond, header.leaves, end);
        self.poll_now();
        self.put(format_args!("bra {strip}"));
    }

    /// What the counter is compared with within a strip, in place of the bound: what it holds after the strip's
    /// turns, or the bound if that comes first. Whatever the step is, and even if the counter passes its type's end
    /// on the way: the strip's last turn leaves it at what does not go on.
    fn limit(&mut self, strips: &Strips) -> Val {
        let ty = self.program.local_type(strips.local);
        let (class, arithmetic) = (Class::of(ty), arithmetic(ty));
        let now = Val::from(self.locals[strips.local.index()]);
        let (bound, step) = (self.operand(strips.bound), self.operand(strips.step));
        let turns = Val::Int(strips.turns);
        let ahead = match step {
            Val::Int(step) => {
                let ones = u64::MAX >> (64 - ty.bits());
                Val::Int(step.wrapping_mul(strips.turns) & ones)
            }
            step => {
                let multiply = format!("mul.lo.{arithmetic}");
                self.op(class, &multiply, &[step, turns]).into()
            }
        };
        let (move_on, nearer) = match strips.is_down {
            true => ("sub", "max"),
            false => ("add", "min"),
        };
        let last = self.op(class, &format!("{move_on}.{arithmetic}"), &[now, ahead]);
        let nearer = format!("{nearer}.{arithmetic}");
        self.op(class, &nearer, &[last.into(), bound]).into()
    }

    /// Computes what does not change in a loop before it comes to be computed there.
    fn prepare(&mut self, operand: Operand, inside: &Inside<'_>) {
        let Operand::Value(id) = operand else { return };
        if self.values[id.index()].is_some() {
            return;
        }
        match inside.values.get(&id) {
            Some(Definition::Let(expr)) => {
                expr.operands().for_each(|x| self.prepare(x, inside));
                self.let_(id, expr);
            }
            Some(Definition::Load(values, access)) => self.load(values, access),
            Some(Definition::Other) | None => {}
        }
    }
}

/// A loop's header, as it was written first.
struct Test {
    values: String,
    /// What makes the condition of them.
    test: String,
    cond: Val,
}
