//! Loops.
//!
//! The test stands at the end of a turn and once before the first, so that the loop is one piece that a branch at
//! its end repeats: NVIDIA's assembler unrolls and schedules across turns only loops of that shape.

use std::ops::Range;

use super::abi::Contract;
use super::bounds::{Plan, Strips};
use super::emitter::{Emitter, Goal};
use super::header::{Definition, Header, Inside, is_break};
use super::text::{LabelName, Val};
use crate::ir::{
    Body, CompareOp, Const, Expr, Label, LocalId, MathOp, Node, NodeKind, Operand, Scalar,
};

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
        match (self.header(label, body), plan) {
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

    /// The header, if it can be repeated.
    fn header<'b>(&self, label: Label, body: &'b Body) -> Option<Header<'b>> {
        Header::of(label, body).filter(|header| header.nodes.iter().all(is_short))
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
            Plan::Polled => self.poll_sometimes(),
            Plan::Watched => self.poll_now(),
            Plan::Free | Plan::Unrolled { .. } | Plan::Strips(_) => {}
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
        let goes_on = self.compare(strips.op, ty, local.into(), limit);
        self.body.push_str(&test.values);
        self.branch_if(goes_on, true, top);
        self.body.push_str(&test.test);
        self.branch_if(test.cond, header.leaves, end);
        self.poll_now();
        self.put(format_args!("bra {strip}"));
    }

    /// What the counter is compared with within a strip, in place of the bound: at most that, and so near that
    /// the counter can't come past its type's end before. Nearer than a step to that end, it lets go on nobody.
    fn limit(&mut self, strips: &Strips) -> Val {
        let ty = self.program.local_type(strips.local);
        let is_signed = ty == Scalar::I32;
        let (sign, most, least) = match is_signed {
            true => ("s", 0x7fff_ffff, 0x8000_0000),
            false => ("u", 0xffff_ffff, 0),
        };
        let now = self.locals[strips.local.index()];
        let (bound, step) = (self.operand(strips.bound), self.operand(strips.step));
        if (strips.op, step) == (CompareOp::Lt, Val::Int(1)) {
            // One by one it comes to the bound and no further.
            let rest = self.op32("sub.u32", &[bound, now.into()]);
            let rest = self.op32("min.u32", &[rest, Val::Int(strips.turns)]);
            return self.op32("add.u32", &[now.into(), rest]);
        }
        let wide = self.op64(&format!("cvt.{sign}64.{sign}32"), &[now.into()]);
        let ahead = match step {
            Val::Int(step) => Val::Int(step * strips.turns),
            step => self.op64("mul.wide.u32", &[step, Val::Int(strips.turns)]),
        };
        let last = self.op64(&format!("add.{sign}64"), &[wide, ahead]);
        let is_past = self.pred(&format!("setp.gt.{sign}64"), &[last, Val::Int(most)]);
        let last = self.op32("cvt.u32.u64", &[last]);
        let last = self.op32("sub.u32", &[last, step]);
        let limit = self.op32(&format!("min.{sign}32"), &[last, bound]);
        self.op32("selp.b32", &[Val::Int(least), limit, is_past])
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

/// Whether a node of a header is short enough to be written several times. None has labels, which could not be.
fn is_short(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Let {
            expr: Expr::Math(op, _),
            ..
        } => matches!(op, MathOp::Abs | MathOp::Min | MathOp::Max),
        _ => true,
    }
}
