//! Statements and control flow.

use naga::{Barrier, Block, Expression, Handle, Statement, SwitchCase, SwitchValue};

use super::features;
use super::frame::{Exit, Frame, Target};
use super::lower::Lower;
use crate::error::Result;
use crate::ir::{Body, Case, Const, Operand, Scope, Span};

/// Whether control can reach what follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    On,
    /// Nothing that follows in the block is lowered.
    Ended,
}

impl Flow {
    fn or(self, other: Flow) -> Flow {
        if self == Flow::On { self } else { other }
    }
}

impl<'a> Lower<'a> {
    pub fn block(&mut self, frame: &mut Frame<'a>, block: &'a Block) -> Result<Flow> {
        self.statements(frame, block, block.len())
    }

    /// The first `count` statements of a block.
    fn statements(
        &mut self,
        frame: &mut Frame<'a>,
        block: &'a Block,
        count: usize,
    ) -> Result<Flow> {
        for (statement, &span) in block.span_iter().take(count) {
            let span = self.span(span);
            let outer = self.b.set_statement(span);
            self.b.spend(1);
            let flow = self.statement(frame, statement, span)?;
            self.check_budget()?;
            self.b.set_statement(outer);
            if flow == Flow::Ended {
                return Ok(Flow::Ended);
            }
        }
        Ok(Flow::On)
    }

    /// A block as a body of its own.
    fn body(&mut self, frame: &mut Frame<'a>, block: &'a Block) -> Result<(Body, Flow)> {
        self.b.open();
        let flow = self.block(frame, block)?;
        Ok((self.b.close(), flow))
    }

    fn statement(
        &mut self,
        frame: &mut Frame<'a>,
        statement: &'a Statement,
        span: Span,
    ) -> Result<Flow> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    self.emit(frame, handle)?;
                }
            }
            Statement::Block(block) => return self.block(frame, block),
            Statement::If {
                condition,
                accept,
                reject,
            } => return self.if_(frame, *condition, accept, reject),
            Statement::Switch { selector, cases } => {
                return self.switch(frame, *selector, cases, span);
            }
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => return self.loop_(frame, body, continuing, *break_if),
            Statement::Break => return self.break_(frame, span),
            Statement::Continue => return self.continue_(frame, span),
            Statement::Return { value } => return self.return_(frame, *value),
            Statement::ControlBarrier(flags) => self.control_barrier(*flags),
            Statement::SubgroupBallot { result, predicate } => {
                self.ballot(frame, *predicate, *result)?;
            }
            Statement::SubgroupCollectiveOperation {
                op,
                collective_op,
                argument,
                result,
            } => self.collective(frame, (*op, *collective_op), *argument, *result)?,
            Statement::SubgroupGather {
                mode,
                argument,
                result,
            } => self.gather(frame, *mode, *argument, *result)?,
            Statement::Store { pointer, value } => {
                let pointer = self.pointer(frame, *pointer)?;
                let value = self.value(frame, *value)?;
                self.store_any(&pointer, &value, span)?;
            }
            Statement::Atomic {
                pointer,
                fun,
                value,
                result,
            } => self.atomic(frame, *pointer, *fun, *value, *result)?,
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let pointer = self.pointer(frame, *pointer)?;
                let result_span = self.expression_span(frame, *result);
                self.b.barrier(Scope::Workgroup);
                self.b.set_span(result_span);
                let value = self.load_any(&pointer, result_span)?;
                self.b.barrier(Scope::Workgroup);
                self.define(frame, *result, value)?;
            }
            Statement::ImageStore {
                image,
                coordinate,
                array_index,
                value,
            } => {
                self.texture_store(frame, *image, *coordinate, *array_index, *value, span)?;
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => return self.call(frame, *function, arguments, *result, span),
            other => {
                return Err(match features::of_statement(other) {
                    Some(what) => self.unsupported(span, &format!("{what} are not supported")),
                    None => self.internal(span, "a statement of an unknown kind"),
                });
            }
        }
        Ok(Flow::On)
    }

    fn control_barrier(&mut self, flags: Barrier) {
        // One that says more than the subgroup is the workgroup's.
        self.b.barrier(match flags == Barrier::SUB_GROUP {
            true => Scope::Subgroup,
            false => Scope::Workgroup,
        });
    }

    fn if_(
        &mut self,
        frame: &mut Frame<'a>,
        condition: Handle<Expression>,
        accept: &'a Block,
        reject: &'a Block,
    ) -> Result<Flow> {
        let condition = self.operand(frame, condition)?;
        if let Operand::Const(c) = condition {
            return self.block(frame, if c.bits != 0 { accept } else { reject });
        }
        let (accept, accept_flow) = self.body(frame, accept)?;
        let (reject, reject_flow) = self.body(frame, reject)?;
        self.b.branch(condition, accept, reject);
        Ok(accept_flow.or(reject_flow))
    }

    fn loop_(
        &mut self,
        frame: &mut Frame<'a>,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<Flow> {
        let label = self.b.label();
        frame.targets.push(Target {
            label,
            is_loop: true,
            broken: false,
            continued: None,
        });
        let (body, flow) = self.body(frame, body)?;
        let target = frame.targets.last().expect("pushed above");
        let continued = target.continued;
        self.b.open();
        if flow == Flow::On || continued.is_some() {
            // A value that a `continue` passes by has no meaning in the continuing block.
            let from = continued.unwrap_or(frame.clock());
            frame.hide(from);
            self.block(frame, continuing)?;
            if let Some(condition) = break_if {
                let condition = self.operand(frame, condition)?;
                self.break_if(frame, condition);
            }
            frame.reveal();
        }
        let continuing = self.b.close();
        self.b.loop_(label, body, continuing);
        let target = frame.targets.pop().expect("pushed above");
        Ok(if target.broken { Flow::On } else { Flow::Ended })
    }

    fn break_if(&mut self, frame: &mut Frame<'a>, condition: Operand) {
        let target = frame.targets.last_mut().expect("inside a loop");
        let label = target.label;
        if condition == Const::bool(false).into() {
            return;
        }
        target.broken = true;
        if condition == Const::bool(true).into() {
            self.b.break_(label);
            return;
        }
        self.b.open();
        self.b.break_(label);
        let leave = self.b.close();
        self.b.branch(condition, leave, Body::default());
    }

    fn break_(&mut self, frame: &mut Frame<'a>, span: Span) -> Result<Flow> {
        let Some(target) = frame.targets.last_mut() else {
            return Err(self.internal(span, "a break outside of loops"));
        };
        target.broken = true;
        self.b.break_(target.label);
        Ok(Flow::Ended)
    }

    fn continue_(&mut self, frame: &mut Frame<'a>, span: Span) -> Result<Flow> {
        let now = frame.clock();
        let Some(target) = frame.targets.iter_mut().rev().find(|t| t.is_loop) else {
            return Err(self.internal(span, "a continue outside of loops"));
        };
        target.continued.get_or_insert(now);
        self.b.continue_(target.label);
        Ok(Flow::Ended)
    }

    fn return_(
        &mut self,
        frame: &mut Frame<'a>,
        value: Option<Handle<Expression>>,
    ) -> Result<Flow> {
        let value = match value {
            Some(handle) => Some(self.value(frame, handle)?),
            None => None,
        };
        match &mut frame.exit {
            Exit::Entry => self.b.return_(),
            Exit::Last {
                value: result,
                reached,
            } => {
                *result = value;
                *reached = true;
            }
            Exit::Leave {
                label,
                result,
                used,
            } => {
                *used = true;
                let label = *label;
                if let (Some(pointer), Some(value)) = (result.clone(), value) {
                    self.store(&pointer, &value);
                }
                self.b.break_(label);
            }
        }
        Ok(Flow::Ended)
    }

    fn switch(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Handle<Expression>,
        cases: &'a [SwitchCase],
        span: Span,
    ) -> Result<Flow> {
        let selector = self.operand(frame, selector)?;
        let groups = self.group_cases(cases, span)?;
        let label = self.b.label();
        frame.targets.push(Target {
            label,
            is_loop: false,
            broken: false,
            continued: None,
        });
        self.b.open();
        let flow = match selector {
            Operand::Const(c) => {
                let taken = groups
                    .iter()
                    .find(|g| g.values.contains(&c))
                    .or_else(|| groups.iter().find(|g| g.is_default));
                match taken {
                    Some(group) => self.case(frame, group.block)?,
                    None => Flow::On,
                }
            }
            selector => self.cases(frame, selector, &groups)?,
        };
        let body = self.b.close();
        let target = frame.targets.pop().expect("pushed above");
        if target.broken {
            self.b.block(label, body);
            return Ok(Flow::On);
        }
        self.b.append(body);
        Ok(flow)
    }

    fn cases(
        &mut self,
        frame: &mut Frame<'a>,
        selector: Operand,
        groups: &[Group<'a>],
    ) -> Result<Flow> {
        let mut flow = Flow::Ended;
        let mut cases = Vec::new();
        let mut default = None;
        for group in groups {
            self.b.open();
            flow = self.case(frame, group.block)?.or(flow);
            let body = self.b.close();
            if group.is_default {
                // Selectors that share the default's body go there anyway.
                default = Some(body);
            } else {
                cases.push(Case {
                    values: group.values.clone(),
                    body,
                });
            }
        }
        if default.is_none() {
            flow = Flow::On;
        }
        self.b.switch(selector, cases, default.unwrap_or_default());
        Ok(flow)
    }

    /// A case's body, less the `break` that ends it.
    fn case(&mut self, frame: &mut Frame<'a>, block: &'a Block) -> Result<Flow> {
        let count = match block.last() {
            Some(Statement::Break) => block.len() - 1,
            _ => block.len(),
        };
        self.statements(frame, block, count)
    }

    /// Cases that share a body, as one.
    fn group_cases(&self, cases: &'a [SwitchCase], span: Span) -> Result<Vec<Group<'a>>> {
        let mut groups = Vec::new();
        let mut values = Vec::new();
        let mut is_default = false;
        for case in cases {
            match case.value {
                SwitchValue::I32(x) => values.push(Const::i32(x)),
                SwitchValue::U32(x) => values.push(Const::u32(x)),
                SwitchValue::Default => is_default = true,
            }
            if case.fall_through {
                if !case.body.is_empty() {
                    return Err(self.internal(span, "a case that falls through with a body"));
                }
                continue;
            }
            groups.push(Group {
                values: std::mem::take(&mut values),
                is_default: std::mem::take(&mut is_default),
                block: &case.body,
            });
        }
        Ok(groups)
    }
}

struct Group<'a> {
    values: Vec<Const>,
    is_default: bool,
    block: &'a Block,
}
