//! Numbers values, locals, private arrays and tables anew, in the order of their appearance, and
//! forgets those that no node names any more.

use crate::ir::{
    Access, Body, Expr, LocalDecl, LocalId, Memory, MemoryId, NodeKind, Operand, Program, Region,
    ValueDecl, ValueId,
};

use super::prune::bodies;

pub fn renumber(program: &mut Program) {
    let mut numbers = Numbers {
        values: Table::new(std::mem::take(&mut program.values)),
        locals: Table::new(std::mem::take(&mut program.locals)),
        private: Table::new(std::mem::take(&mut program.private)),
        constants: Table::new(std::mem::take(&mut program.constants)),
    };
    numbers.body(&mut program.body);
    program.values = numbers.values.new;
    program.locals = numbers.locals.new;
    program.private = numbers.private.new;
    program.constants = numbers.constants.new;
}

/// Old declarations, and the new ones that have been met.
struct Table<T> {
    old: Vec<Option<T>>,
    numbers: Vec<u32>,
    new: Vec<T>,
}

impl<T> Table<T> {
    fn new(old: Vec<T>) -> Table<T> {
        Table {
            numbers: vec![0; old.len()],
            old: old.into_iter().map(Some).collect(),
            new: Vec::new(),
        }
    }

    fn get(&mut self, old: u32) -> u32 {
        let i = old as usize;
        if let Some(declaration) = self.old[i].take() {
            self.numbers[i] = u32::try_from(self.new.len()).expect("no more than before");
            self.new.push(declaration);
        }
        self.numbers[i]
    }
}

struct Numbers {
    values: Table<ValueDecl>,
    locals: Table<LocalDecl>,
    private: Table<Memory>,
    constants: Table<Vec<u8>>,
}

impl Numbers {
    fn body(&mut self, body: &mut Body) {
        for node in &mut body.0 {
            self.node(&mut node.kind);
            for inner in bodies(&mut node.kind) {
                self.body(inner);
            }
        }
    }

    fn node(&mut self, kind: &mut NodeKind) {
        match kind {
            NodeKind::Let { value, expr } => {
                self.expr(expr);
                self.value(value);
            }
            NodeKind::Load { values, access } => {
                self.access(access);
                values.iter_mut().for_each(|v| self.value(v));
            }
            NodeKind::Store { access, values } => {
                self.access(access);
                values.iter_mut().for_each(|x| self.operand(x));
            }
            NodeKind::Atomic {
                access,
                value,
                compare,
                result,
                exchanged,
                ..
            } => {
                self.access(access);
                value
                    .iter_mut()
                    .chain(compare)
                    .for_each(|x| self.operand(x));
                result
                    .iter_mut()
                    .chain(exchanged)
                    .for_each(|v| self.value(v));
            }
            NodeKind::Assign { local, value } => {
                self.operand(value);
                self.local(local);
            }
            NodeKind::Clear(id) => *id = MemoryId(self.private.get(id.0)),
            NodeKind::If { cond, .. } => self.operand(cond),
            NodeKind::Switch { selector, .. } => self.operand(selector),
            NodeKind::Block { .. }
            | NodeKind::Loop { .. }
            | NodeKind::Break(_)
            | NodeKind::Continue(_)
            | NodeKind::Return
            | NodeKind::Barrier(_) => {}
            NodeKind::Subgroup {
                operands,
                lane,
                results,
                ..
            } => {
                (operands.iter_mut().chain(lane)).for_each(|x| self.operand(x));
                results.iter_mut().for_each(|v| self.value(v));
            }
        }
    }

    fn value(&mut self, id: &mut ValueId) {
        *id = ValueId(self.values.get(id.0));
    }

    fn local(&mut self, id: &mut LocalId) {
        *id = LocalId(self.locals.get(id.0));
    }

    fn operand(&mut self, operand: &mut Operand) {
        if let Operand::Value(id) = operand {
            self.value(id);
        }
    }

    fn access(&mut self, access: &mut Access) {
        match &mut access.region {
            Region::Private(id) => *id = MemoryId(self.private.get(id.0)),
            Region::Constant(id) => *id = MemoryId(self.constants.get(id.0)),
            Region::Buffer(_) | Region::Workgroup(_) | Region::Immediates => {}
        }
        access
            .index
            .iter_mut()
            .chain(&mut access.guard)
            .for_each(|x| self.operand(x));
    }

    fn expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Local(id) => self.local(id),
            Expr::Builtin(_) | Expr::ArrayLength(_) => {}
            Expr::Unary(_, x) | Expr::Convert(x) | Expr::Bitcast(x) => self.operand(x),
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => {
                self.operand(a);
                self.operand(b);
            }
            Expr::Select {
                cond,
                accept,
                reject,
            } => {
                self.operand(cond);
                self.operand(accept);
                self.operand(reject);
            }
            Expr::Math(_, operands) => operands.iter_mut().for_each(|x| self.operand(x)),
        }
    }
}
