//! One inlined instance of a function: what its names stand for.

use std::collections::HashMap;

use naga::valid::FunctionInfo;
use naga::{Expression, Function, Handle, LocalVariable};

use super::pointer::Pointer;
use super::value::Value;
use crate::ir::Label;

pub struct Frame<'a> {
    pub function: &'a Function,
    pub info: &'a FunctionInfo,
    /// `None`: the entry point.
    pub handle: Option<Handle<Function>>,
    pub arguments: Vec<Value>,
    pub variables: HashMap<Handle<LocalVariable>, Pointer>,
    /// Innermost last: where `break` and `continue` go.
    pub targets: Vec<Target>,
    pub exit: Exit,
    /// By expression; filled where naga evaluates it.
    values: Vec<Option<Defined>>,
    /// Counts the definitions.
    clock: u32,
    /// Definitions that a `continue` passes by, while the `continuing` block is lowered.
    bypassed: Vec<std::ops::Range<u32>>,
}

struct Defined {
    value: Value,
    at: u32,
}

pub struct Target {
    pub label: Label,
    /// `continue` passes switches by.
    pub is_loop: bool,
    pub broken: bool,
    /// When the first `continue` was met.
    pub continued: Option<u32>,
}

/// What `return` does.
pub enum Exit {
    /// Ends the invocation.
    Entry,
    /// Leaves the call's value here: the only `return` is the last statement.
    Last { value: Option<Value>, reached: bool },
    /// Puts the value into variables and leaves the call's block.
    Leave {
        label: Label,
        result: Option<Pointer>,
        used: bool,
    },
}

impl<'a> Frame<'a> {
    pub fn new(
        function: &'a Function,
        info: &'a FunctionInfo,
        handle: Option<Handle<Function>>,
        exit: Exit,
    ) -> Frame<'a> {
        let mut values = Vec::new();
        values.resize_with(function.expressions.len(), || None);
        Frame {
            function,
            info,
            handle,
            arguments: Vec::new(),
            variables: HashMap::new(),
            targets: Vec::new(),
            exit,
            values,
            clock: 0,
            bypassed: Vec::new(),
        }
    }

    pub fn define(&mut self, handle: Handle<Expression>, value: Value) {
        let at = self.clock;
        self.clock += 1;
        self.values[handle.index()] = Some(Defined { value, at });
    }

    /// The value if it is known and every path to here has computed it.
    pub fn lookup(&self, handle: Handle<Expression>) -> Option<&Value> {
        let defined = self.values[handle.index()].as_ref()?;
        (!self.is_hidden(defined)).then_some(&defined.value)
    }

    pub fn is_bypassed(&self, handle: Handle<Expression>) -> bool {
        self.values[handle.index()]
            .as_ref()
            .is_some_and(|defined| self.is_hidden(defined))
    }

    fn is_hidden(&self, defined: &Defined) -> bool {
        self.bypassed
            .iter()
            .any(|range| range.contains(&defined.at))
    }

    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// Hides what was defined since `from`, until `reveal`.
    pub fn hide(&mut self, from: u32) {
        self.bypassed.push(from..self.clock);
    }

    pub fn reveal(&mut self) {
        self.bypassed.pop();
    }
}
