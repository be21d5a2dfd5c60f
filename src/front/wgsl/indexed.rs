//! Which variables hold arrays that are indexed at run time: those need memory, the rest lives in
//! locals.

use std::collections::{HashMap, HashSet};

use naga::{
    Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Statement,
    TypeInner,
};

/// What one function indexes at run time.
#[derive(Default)]
pub struct Uses {
    pub variables: HashSet<Handle<LocalVariable>>,
    /// Pointer parameters.
    pub arguments: HashSet<u32>,
    /// Array values.
    pub values: HashSet<Handle<Expression>>,
}

#[derive(Default)]
pub struct Indexed {
    functions: HashMap<Handle<Function>, Uses>,
    entry: Uses,
    pub globals: HashSet<Handle<GlobalVariable>>,
}

/// What a pointer was made from.
enum Root {
    Variable(Handle<LocalVariable>),
    Argument(u32),
    Global(Handle<GlobalVariable>),
    Value,
}

impl Indexed {
    pub fn new(module: &Module, info: &naga::valid::ModuleInfo, entry: usize) -> Indexed {
        let mut indexed = Indexed::default();
        // A function stands behind those it calls.
        for (handle, function) in module.functions.iter() {
            let uses = indexed.scan(module, function, &info[handle]);
            indexed.functions.insert(handle, uses);
        }
        indexed.entry = indexed.scan(
            module,
            &module.entry_points[entry].function,
            info.get_entry_point(entry),
        );
        indexed
    }

    /// `None`: the entry point.
    pub fn of(&self, function: Option<Handle<Function>>) -> &Uses {
        match function {
            Some(handle) => &self.functions[&handle],
            None => &self.entry,
        }
    }

    fn scan(
        &mut self,
        module: &Module,
        function: &Function,
        info: &naga::valid::FunctionInfo,
    ) -> Uses {
        let mut uses = Uses::default();
        for (_, expression) in function.expressions.iter() {
            let &Expression::Access { base, index } = expression else {
                continue;
            };
            if matches!(function.expressions[index], Expression::Literal(_)) {
                continue;
            }
            let inner = info[base].ty.inner_with(&module.types);
            match *inner {
                TypeInner::Array { .. } => {
                    uses.values.insert(base);
                }
                TypeInner::Pointer { base: pointee, .. }
                    if matches!(module.types[pointee].inner, TypeInner::Array { .. }) =>
                {
                    self.mark(&mut uses, root(function, base));
                }
                _ => {}
            }
        }
        self.scan_calls(function, &function.body, &mut uses);
        uses
    }

    fn mark(&mut self, uses: &mut Uses, root: Root) {
        match root {
            Root::Variable(handle) => {
                uses.variables.insert(handle);
            }
            Root::Argument(index) => {
                uses.arguments.insert(index);
            }
            Root::Global(handle) => {
                self.globals.insert(handle);
            }
            Root::Value => {}
        }
    }

    /// Arguments that the callee indexes are indexed here too.
    fn scan_calls(&mut self, function: &Function, block: &Block, uses: &mut Uses) {
        for statement in block.iter() {
            match statement {
                Statement::Call {
                    function: callee,
                    arguments,
                    ..
                } => {
                    let roots: Vec<Root> = match self.functions.get(callee) {
                        Some(callee) => (0u32..)
                            .zip(arguments)
                            .filter(|(i, _)| callee.arguments.contains(i))
                            .map(|(_, &argument)| root(function, argument))
                            .collect(),
                        None => Vec::new(),
                    };
                    for root in roots {
                        self.mark(uses, root);
                    }
                }
                Statement::Block(block) => self.scan_calls(function, block, uses),
                Statement::If { accept, reject, .. } => {
                    self.scan_calls(function, accept, uses);
                    self.scan_calls(function, reject, uses);
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.scan_calls(function, &case.body, uses);
                    }
                }
                Statement::Loop {
                    body, continuing, ..
                } => {
                    self.scan_calls(function, body, uses);
                    self.scan_calls(function, continuing, uses);
                }
                _ => {}
            }
        }
    }
}

fn root(function: &Function, mut pointer: Handle<Expression>) -> Root {
    loop {
        match function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                pointer = base;
            }
            Expression::LocalVariable(handle) => return Root::Variable(handle),
            Expression::FunctionArgument(index) => return Root::Argument(index),
            Expression::GlobalVariable(handle) => return Root::Global(handle),
            _ => return Root::Value,
        }
    }
}
