//! Whether a program has the form that every later pass relies on.
//!
//! A fault found here is a bug of the front end, never of the user's program, so it is a plain text.
//!
//! Definitions dominate uses. A value defined in a body is visible to the later nodes of that body
//! and to what they hold, and further only where it cannot have been skipped:
//! - of a `Loop`'s body, in `continuing`, if no `Continue` of that loop stands before it;
//! - of a `Block` or `Loop`, after it, if no `Break` of it stands before the definition;
//! - of a branch of an `If` or `Switch`, nowhere else.

mod memory;
mod subgroup;
mod types;

use std::collections::{HashMap, HashSet};

use super::{
    BarrierId, Body, Expr, Label, MemoryId, Node, NodeKind, Operand, Program, Scalar, ValueId,
};

/// Passes recurse over nested bodies, so their depth is bounded.
pub const MAX_NESTING: usize = 1024;

type Check = Result<(), String>;

/// Checks the form of a program; the text says what is wrong and where in the source it came from.
pub fn validate(program: &Program) -> Result<(), String> {
    declarations(program)?;
    let mut validator = Validator {
        program,
        seen: vec![Seen::Never; program.values.len()],
        visible: Vec::new(),
        frames: Vec::new(),
        labels: HashMap::new(),
        used_labels: HashSet::new(),
        barrier_used: vec![false; program.barriers.len()],
    };
    validator.body(&program.body)?;
    match validator.barrier_used.iter().position(|&used| !used) {
        Some(unused) => Err(format!("barrier {unused} of the table stands nowhere")),
        None => Ok(()),
    }
}

fn declarations(program: &Program) -> Check {
    if program.workgroup_size.contains(&0) {
        return Err(format!(
            "workgroup size {:?} has a zero dimension",
            program.workgroup_size
        ));
    }
    for memory in program.workgroup.iter().chain(&program.private) {
        if !memory.align.is_power_of_two() {
            return Err(format!(
                "`{}` has alignment {}, which is no power of two",
                memory.name, memory.align
            ));
        }
    }
    for pair in program.buffers.windows(2) {
        if (pair[0].group, pair[0].binding) >= (pair[1].group, pair[1].binding) {
            return Err(format!(
                "buffers `{}` and `{}` are not in order of (group, binding)",
                pair[0].name, pair[1].name
            ));
        }
    }
    for buffer in &program.buffers {
        if buffer.runtime.is_some_and(|array| array.stride == 0) {
            return Err(format!("`{}` has an array of stride 0", buffer.name));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Never,
    Visible,
    OutOfScope,
}

/// An open body.
struct Frame {
    label: Option<Label>,
    is_loop: bool,
    /// How many values were visible when it opened.
    start: usize,
    /// How many of them, and of those defined since, every `Break` of it has passed.
    at_break: usize,
    at_continue: usize,
}

struct Validator<'a> {
    program: &'a Program,
    seen: Vec<Seen>,
    /// In order of definition.
    visible: Vec<ValueId>,
    frames: Vec<Frame>,
    /// Open labels, by index into `frames`.
    labels: HashMap<Label, usize>,
    used_labels: HashSet<Label>,
    barrier_used: Vec<bool>,
}

impl Validator<'_> {
    fn body(&mut self, body: &Body) -> Check {
        for node in &body.0 {
            self.node(node)
                .map_err(|what| match what.contains(" (at ") {
                    // The innermost node has named its place already.
                    true => what,
                    false => format!("{what} (at {})", self.place(node)),
                })?;
        }
        Ok(())
    }

    fn place(&self, node: &Node) -> String {
        match self.program.source.position(node.span) {
            Some(at) => format!(
                "{}:{}, `{}`",
                at.line,
                at.column,
                self.program.source.excerpt(node.span)
            ),
            None => "an unknown place".into(),
        }
    }

    fn node(&mut self, node: &Node) -> Check {
        match &node.kind {
            NodeKind::Let { value, expr } => self.let_(*value, expr),
            NodeKind::Load { values, access } => {
                self.access(access, values.len(), false)?;
                for &value in values {
                    self.define(value)?;
                    self.expect(value.into(), access.scalar, "the loaded value")?;
                }
                Ok(())
            }
            NodeKind::Store { access, values } => {
                self.access(access, values.len(), true)?;
                (values.iter()).try_for_each(|&v| self.expect(v, access.scalar, "the stored value"))
            }
            NodeKind::Atomic { .. } => self.atomic(&node.kind),
            NodeKind::Assign { local, value } => match self.program.locals.get(local.index()) {
                Some(decl) => self.expect(*value, decl.ty, "the assigned value"),
                None => Err(format!("there is no local {}", local.0)),
            },
            NodeKind::Clear(memory) => self.private(*memory),
            NodeKind::If {
                cond,
                accept,
                reject,
            } => {
                self.expect(*cond, Scalar::Bool, "the condition")?;
                self.branch(accept)?;
                self.branch(reject)
            }
            NodeKind::Block { label, body } => {
                self.open(Some(*label), false)?;
                self.body(body)?;
                self.close();
                Ok(())
            }
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => {
                self.open(Some(*label), true)?;
                self.body(body)?;
                let passed = self.frames.last().map_or(0, |frame| frame.at_continue);
                self.hide(passed);
                self.body(continuing)?;
                self.close();
                Ok(())
            }
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => {
                let ty = self.operand(*selector)?;
                if !ty.is_int() {
                    return Err(format!("a switch selects on {ty}"));
                }
                let mut values = HashSet::new();
                for case in cases {
                    for &value in &case.values {
                        self.expect(value.into(), ty, "the case value")?;
                        if !values.insert(value.bits) {
                            return Err(format!("the case value {:#x} stands twice", value.bits));
                        }
                    }
                    self.branch(&case.body)?;
                }
                self.branch(default)
            }
            NodeKind::Break(label) => self.leave(*label, false),
            NodeKind::Continue(label) => self.leave(*label, true),
            NodeKind::Return => Ok(()),
            NodeKind::Barrier(id) => self.barrier(*id),
            NodeKind::Subgroup { .. } => self.subgroup(&node.kind),
        }
    }

    fn let_(&mut self, value: ValueId, expr: &Expr) -> Check {
        let Some(decl) = self.program.values.get(value.index()) else {
            return Err(format!("there is no value {}", value.0));
        };
        self.expr(expr, decl.ty)?;
        self.define(value)
    }

    fn define(&mut self, value: ValueId) -> Check {
        match self.seen.get_mut(value.index()) {
            None => Err(format!("there is no value {}", value.0)),
            Some(seen @ Seen::Never) => {
                *seen = Seen::Visible;
                self.visible.push(value);
                Ok(())
            }
            Some(_) => Err(format!("value {} is defined twice", value.0)),
        }
    }

    /// The type of an operand that may be read here.
    fn operand(&self, operand: Operand) -> Result<Scalar, String> {
        match operand {
            Operand::Const(c) => {
                if c.ty.bits() < 64 && c.bits >> c.ty.bits() != 0 {
                    return Err(format!(
                        "the constant {:#x} is too wide for {}",
                        c.bits, c.ty
                    ));
                }
                Ok(c.ty)
            }
            Operand::Value(id) => match self.seen.get(id.index()) {
                None => Err(format!("there is no value {}", id.0)),
                Some(Seen::Visible) => Ok(self.program.value_type(id)),
                Some(Seen::Never) => Err(format!("value {} is used before its definition", id.0)),
                Some(Seen::OutOfScope) => Err(format!(
                    "value {} is used where its definition may have been skipped",
                    id.0
                )),
            },
        }
    }

    fn expect(&self, operand: Operand, ty: Scalar, what: &str) -> Check {
        match self.operand(operand)? {
            found if found == ty => Ok(()),
            found => Err(format!("{what} is {found}, expected {ty}")),
        }
    }

    fn open(&mut self, label: Option<Label>, is_loop: bool) -> Check {
        if self.frames.len() == MAX_NESTING {
            return Err(format!("bodies are nested deeper than {MAX_NESTING}"));
        }
        if let Some(label) = label {
            if !self.used_labels.insert(label) {
                return Err(format!("label {} is used twice", label.0));
            }
            self.labels.insert(label, self.frames.len());
        }
        self.frames.push(Frame {
            label,
            is_loop,
            start: self.visible.len(),
            at_break: usize::MAX,
            at_continue: usize::MAX,
        });
        Ok(())
    }

    fn close(&mut self) {
        if let Some(frame) = self.frames.pop() {
            if let Some(label) = frame.label {
                self.labels.remove(&label);
            }
            self.hide(frame.at_break);
        }
    }

    fn branch(&mut self, body: &Body) -> Check {
        self.open(None, false)?;
        self.body(body)?;
        if let Some(frame) = self.frames.pop() {
            self.hide(frame.start);
        }
        Ok(())
    }

    /// Ends the visibility of all but the first `keep` values.
    fn hide(&mut self, keep: usize) {
        while self.visible.len() > keep {
            if let Some(value) = self.visible.pop() {
                self.seen[value.index()] = Seen::OutOfScope;
            }
        }
    }

    fn leave(&mut self, label: Label, to_continuing: bool) -> Check {
        let Some(&at) = self.labels.get(&label) else {
            return Err(format!("label {} encloses no such place", label.0));
        };
        // What bodies nested in the one that is left have defined is out of sight there anyway.
        let passed = (self.frames.get(at + 1)).map_or(self.visible.len(), |inner| inner.start);
        let frame = &mut self.frames[at];
        if to_continuing && !frame.is_loop {
            return Err(format!("`continue` to label {}, which is no loop", label.0));
        }
        let passed_before = match to_continuing {
            true => &mut frame.at_continue,
            false => &mut frame.at_break,
        };
        *passed_before = passed.min(*passed_before);
        Ok(())
    }

    fn barrier(&mut self, id: BarrierId) -> Check {
        match self.barrier_used.get_mut(id.index()) {
            None => Err(format!("there is no barrier {}", id.0)),
            Some(true) => Err(format!("barrier {} stands twice", id.0)),
            Some(used) => {
                *used = true;
                Ok(())
            }
        }
    }

    fn private(&self, memory: MemoryId) -> Check {
        match self.program.private.get(memory.index()) {
            Some(_) => Ok(()),
            None => Err(format!("there is no private array {}", memory.0)),
        }
    }
}

#[cfg(test)]
mod tests;
