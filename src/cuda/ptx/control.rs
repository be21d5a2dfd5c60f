//! Statements: structured control flow becomes labels and branches.

use super::atomic::Atomic;
use super::emitter::{Emitter, Goal};
use super::text::{LabelName, Val};
use crate::ir::{Body, Case, Node, NodeKind, Operand};

impl Emitter<'_> {
    pub fn body(&mut self, body: &Body) {
        self.nodes(&body.0);
    }

    pub fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
            let ends = matches!(
                node.kind,
                NodeKind::Break(_) | NodeKind::Continue(_) | NodeKind::Return
            );
            if ends {
                // Nothing leads to what stands behind.
                return;
            }
        }
    }

    fn node(&mut self, node: &Node) {
        self.at(node.span);
        match &node.kind {
            NodeKind::Let { value, expr } => self.let_(*value, expr),
            NodeKind::Load { values, access } => self.load(values, access),
            NodeKind::Store { access, values } => self.store(access, values),
            NodeKind::Atomic {
                op,
                access,
                value,
                compare,
                result,
                exchanged,
            } => self.atomic(&Atomic {
                op: *op,
                access,
                value: *value,
                compare: *compare,
                result: *result,
                exchanged: *exchanged,
            }),
            NodeKind::Assign { local, value } => {
                self.assign(self.locals[local.index()], *value);
            }
            NodeKind::Clear(memory) => self.clear(*memory),
            NodeKind::If {
                cond,
                accept,
                reject,
            } => self.branch(*cond, accept, reject),
            NodeKind::Block { label, body } => {
                let end = self.new_label();
                self.goals.insert(*label, Goal { end, next: None });
                self.body(body);
                self.place(end);
            }
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => self.repeat(*label, body, continuing),
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => self.switch(*selector, cases, default),
            NodeKind::Break(label) => {
                let end = self.goals[label].end;
                self.put(format_args!("bra {end}"));
            }
            NodeKind::Continue(label) => {
                let next = (self.goals[label].next).expect("validated: it continues a loop");
                self.put(format_args!("bra {next}"));
            }
            NodeKind::Return => self.put("bra $end"),
            NodeKind::Barrier(id) => self.barrier(*id),
            NodeKind::Subgroup {
                site,
                op,
                operands,
                lane,
                results,
            } => self.subgroup((*site, *op), operands, *lane, results),
        }
    }

    fn branch(&mut self, cond: Operand, accept: &Body, reject: &Body) {
        let cond = self.operand(cond);
        for (when, arm, other) in [(true, accept, reject), (false, reject, accept)] {
            if let (Some(to), true) = (self.jump(arm), other.0.is_empty()) {
                return self.branch_if(cond, when, to);
            }
        }
        let end = self.new_label();
        if accept.0.is_empty() {
            self.branch_if(cond, true, end);
            self.body(reject);
        } else if reject.0.is_empty() {
            self.branch_if(cond, false, end);
            self.body(accept);
        } else {
            let otherwise = self.new_label();
            self.branch_if(cond, false, otherwise);
            self.body(accept);
            self.put(format_args!("bra {end}"));
            self.place(otherwise);
            self.body(reject);
        }
        self.place(end);
    }

    /// Where a body leads that only leaves a block or a loop.
    fn jump(&self, body: &Body) -> Option<LabelName> {
        match &body.0[..] {
            [
                Node {
                    kind: NodeKind::Break(label),
                    ..
                },
            ] => Some(self.goals[label].end),
            [
                Node {
                    kind: NodeKind::Continue(label),
                    ..
                },
            ] => self.goals[label].next,
            _ => None,
        }
    }

    fn switch(&mut self, selector: Operand, cases: &[Case], default: &Body) {
        let bits = self.program.operand_type(selector).bits();
        let selector = Val::from(self.in_register(selector));
        let end = self.new_label();
        let labels: Vec<_> = cases.iter().map(|_| self.new_label()).collect();
        for (case, &label) in cases.iter().zip(&labels) {
            for value in &case.values {
                let equal = format!("setp.eq.b{bits}");
                let is_here = self.pred(&equal, &[selector, Val::Int(value.bits)]);
                self.branch_if(is_here, true, label);
            }
        }
        self.body(default);
        self.put(format_args!("bra {end}"));
        for (case, &label) in cases.iter().zip(&labels) {
            self.place(label);
            self.body(&case.body);
            self.put(format_args!("bra {end}"));
        }
        self.place(end);
    }
}
