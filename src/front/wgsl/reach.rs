//! The module's variables that an entry point names, in the functions that it can call.
//!
//! naga's own record leaves out variables of which only a pointer is taken (`_ = &list[0];`), but
//! those belong to the program's interface as well.

use std::collections::HashSet;

use naga::{Block, Expression, Function, GlobalVariable, Handle, Module, Statement};

pub fn variables(module: &Module, entry: &Function) -> HashSet<Handle<GlobalVariable>> {
    let mut named = HashSet::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![entry];
    while let Some(function) = waiting.pop() {
        for (_, expression) in function.expressions.iter() {
            if let Expression::GlobalVariable(handle) = expression {
                named.insert(*handle);
            }
        }
        let mut called = Vec::new();
        calls(&function.body, &mut called);
        for callee in called {
            if seen.insert(callee) {
                waiting.push(&module.functions[callee]);
            }
        }
    }
    named
}

fn calls(block: &Block, called: &mut Vec<Handle<Function>>) {
    for statement in block.iter() {
        match statement {
            Statement::Call { function, .. } => called.push(*function),
            Statement::Block(block) => calls(block, called),
            Statement::If { accept, reject, .. } => {
                calls(accept, called);
                calls(reject, called);
            }
            Statement::Switch { cases, .. } => {
                cases.iter().for_each(|case| calls(&case.body, called));
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                calls(body, called);
                calls(continuing, called);
            }
            _ => {}
        }
    }
}
