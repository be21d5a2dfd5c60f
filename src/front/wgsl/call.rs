//! Calls, inlined.

use naga::{Block, Expression, Function, Handle, Statement};

use super::barrier::GRID_BARRIER;
use super::frame::{Exit, Frame};
use super::lower::Lower;
use super::pointer::{Place, Pointer};
use super::statement::Flow;
use super::value::Value;
use crate::error::Result;
use crate::ir::{Region, Scope, Span};

/// Calls within calls. Lowering recurses this deep.
const DEEPEST: u32 = 256;

impl<'a> Lower<'a> {
    pub fn call(
        &mut self,
        frame: &mut Frame<'a>,
        callee: Handle<Function>,
        arguments: &'a [Handle<Expression>],
        result: Option<Handle<Expression>>,
        span: Span,
    ) -> Result<Flow> {
        let function = &self.module.functions[callee];
        if function.name.as_deref() == Some(GRID_BARRIER) {
            self.b.barrier(Scope::Grid);
            return Ok(Flow::On);
        }
        if self.depth == DEEPEST {
            let what = format!("calls are nested more than {DEEPEST} deep here");
            return Err(self.invalid(span, &what));
        }
        let mut values = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            values.push(self.value(frame, argument)?);
        }
        let exit = if returns_last(&function.body) {
            Exit::Last {
                value: None,
                reached: false,
            }
        } else {
            let label = self.b.label();
            let result = match &function.result {
                Some(result) => {
                    let Some(ty) = self.types.get(result.ty) else {
                        return Err(self.internal(span, "a result that holds no data"));
                    };
                    Some(self.variable(&ty, "", false, span))
                }
                None => None,
            };
            Exit::Leave {
                label,
                result,
                used: false,
            }
        };
        let mut inner = Frame::new(function, &self.info[callee], Some(callee), exit);
        inner.arguments = values;
        self.depth += 1;
        self.b.open();
        let flow = self.function(&mut inner)?;
        let body = self.b.close();
        self.depth -= 1;
        self.release(&inner);
        let (flow, value) = match inner.exit {
            Exit::Entry => return Err(self.internal(span, "a call of an entry point")),
            Exit::Last { value, reached } => {
                self.b.append(body);
                (if reached { Flow::On } else { flow }, value)
            }
            Exit::Leave {
                label,
                result: pointer,
                used,
            } => {
                if used {
                    self.b.block(label, body);
                } else {
                    self.b.append(body);
                }
                let flow = if used { Flow::On } else { flow };
                self.b.set_span(span);
                (flow, pointer.map(|pointer| self.load(&pointer)))
            }
        };
        if let (Some(result), Some(value), Flow::On) = (result, value, flow) {
            self.define(frame, result, value)?;
        }
        Ok(flow)
    }

    /// The variables and the body of a function, once its arguments are known.
    pub fn function(&mut self, frame: &mut Frame<'a>) -> Result<Flow> {
        self.define_indexed_arguments(frame)?;
        self.declare_variables(frame)?;
        let body = &frame.function.body;
        self.block(frame, body)
    }

    /// Array parameters that are indexed at run time; here, since the first use may be in a branch.
    fn define_indexed_arguments(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        let function = frame.function;
        for (handle, expression) in function.expressions.iter() {
            if let Expression::FunctionArgument(index) = *expression
                && self.indexed.of(frame.handle).values.contains(&handle)
            {
                let value = frame.arguments[index as usize].clone();
                self.define(frame, handle, value)?;
            }
        }
        Ok(())
    }

    fn declare_variables(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        let function = frame.function;
        for (handle, variable) in function.local_variables.iter() {
            let span = self.span(function.local_variables.get_span(handle));
            let Some(ty) = self.types.get(variable.ty) else {
                let inner = &self.module.types[variable.ty].inner;
                let what = format!("this is {}", super::features::of_type(self.module, inner));
                return Err(self.unsupported(span, &what));
            };
            let indexed = self.indexed.of(frame.handle).variables.contains(&handle);
            let name = variable.name.as_deref().unwrap_or_default();
            self.b.set_span(span);
            let outer = self.b.set_statement(span);
            let pointer = self.variable(&ty, name, indexed, span);
            match variable.init {
                Some(init) => {
                    let value = self.value(frame, init)?;
                    self.store(&pointer, &value);
                }
                // The entry point's are zero when the invocation starts.
                None if frame.handle.is_none() => {}
                None => self.store(&pointer, &Value::zero(&ty)),
            }
            self.b.set_statement(outer);
            frame.variables.insert(handle, pointer);
        }
        Ok(())
    }

    /// The arrays of a call that has ended serve later calls.
    fn release(&mut self, frame: &Frame<'a>) {
        for pointer in frame.variables.values() {
            if let Pointer::Memory(Place {
                region: Region::Private(memory),
                ..
            }) = pointer
            {
                self.free.push(*memory);
            }
        }
        // The order of a hash map must not reach the program.
        self.free.sort_unstable();
    }
}

/// The only `return` is the last statement, or there is none.
fn returns_last(body: &Block) -> bool {
    count_returns(body) == usize::from(ends_with_return(body))
}

fn ends_with_return(body: &Block) -> bool {
    match body.last() {
        Some(Statement::Return { .. }) => true,
        Some(Statement::Block(block)) => ends_with_return(block),
        _ => false,
    }
}

fn count_returns(block: &Block) -> usize {
    block
        .iter()
        .map(|statement| match statement {
            Statement::Return { .. } => 1,
            Statement::Block(block) => count_returns(block),
            Statement::If { accept, reject, .. } => count_returns(accept) + count_returns(reject),
            Statement::Switch { cases, .. } => cases.iter().map(|c| count_returns(&c.body)).sum(),
            Statement::Loop {
                body, continuing, ..
            } => count_returns(body) + count_returns(continuing),
            _ => 0,
        })
        .sum()
}
