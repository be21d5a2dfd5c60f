//! Programs as text, one statement a line: for tests and for looking at what the front end made.

use std::fmt::{self, Display, Formatter};

use super::{Access, Body, Const, Expr, Memory, Node, NodeKind, Operand, Program, Region, Scalar};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup_size;
        writeln!(f, "program {} ({x} x {y} x {z})", self.entry_point)?;
        for (i, b) in self.buffers.iter().enumerate() {
            write!(f, "buffer {i} `{}` @{}:{} ", b.name, b.group, b.binding)?;
            writeln!(f, "{:?} {:?}, {} bytes", b.space, b.access, b.min_size)?;
        }
        memories(f, "workgroup", &self.workgroup)?;
        memories(f, "private", &self.private)?;
        for (i, table) in self.constants.iter().enumerate() {
            writeln!(f, "constant {i}, {} bytes", table.len())?;
        }
        if self.immediates_size > 0 {
            writeln!(f, "immediates, {} bytes", self.immediates_size)?;
        }
        for (i, local) in self.locals.iter().enumerate() {
            writeln!(f, "local {i} `{}`: {}", local.name, local.ty)?;
        }
        let printer = Printer { program: self };
        printer.body(f, &self.body, 0)
    }
}

fn memories(f: &mut Formatter<'_>, kind: &str, memories: &[Memory]) -> fmt::Result {
    for (i, m) in memories.iter().enumerate() {
        let Memory { size, align, .. } = m;
        writeln!(f, "{kind} {i} `{}`, {size} bytes, align {align}", m.name)?;
    }
    Ok(())
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Value(id) => write!(f, "%{}", id.0),
            Operand::Const(c) => c.fmt(f),
        }
    }
}

impl Display for Const {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bits = self.bits;
        match self.ty {
            Scalar::Bool => write!(f, "{}", bits != 0),
            Scalar::I32 => write!(f, "{}i", (bits as u32).cast_signed()),
            Scalar::U32 => write!(f, "{bits}u"),
            Scalar::I64 => write!(f, "{}li", bits.cast_signed()),
            Scalar::U64 => write!(f, "{bits}lu"),
            Scalar::F32 => write!(f, "{:?}f", f32::from_bits(bits as u32)),
            Scalar::F64 => write!(f, "{:?}lf", f64::from_bits(bits)),
            Scalar::F16 => write!(f, "f16:{bits:#06x}"),
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.region {
            Region::Buffer(id) => write!(f, "buffer {}", id.0)?,
            Region::Workgroup(id) => write!(f, "workgroup {}", id.0)?,
            Region::Private(id) => write!(f, "private {}", id.0)?,
            Region::Immediates => write!(f, "immediates")?,
            Region::Constant(id) => write!(f, "constant {}", id.0)?,
        }
        match self.index {
            Some(index) => write!(f, "[{index} + {}]", self.offset)?,
            None => write!(f, "[{}]", self.offset)?,
        }
        write!(f, ": {}", self.scalar)?;
        if let Some(guard) = self.guard {
            write!(f, " if {guard}")?;
        }
        Ok(())
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Local(id) => write!(f, "local {}", id.0),
            Expr::Builtin(builtin) => write!(f, "{builtin:?}"),
            Expr::ArrayLength(id) => write!(f, "array length of buffer {}", id.0),
            Expr::Unary(op, x) => write!(f, "{op:?} {x}"),
            Expr::Binary(op, a, b) => write!(f, "{op:?} {a}, {b}"),
            Expr::Compare(op, a, b) => write!(f, "{op:?} {a}, {b}"),
            Expr::Select {
                cond,
                accept,
                reject,
            } => write!(f, "select {cond} ? {accept} : {reject}"),
            Expr::Convert(x) => write!(f, "convert {x}"),
            Expr::Bitcast(x) => write!(f, "bitcast {x}"),
            Expr::Math(op, operands) => write!(f, "{op:?} {}", list(operands)),
        }
    }
}

fn list<T: Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    items.join(", ")
}

struct Printer<'a> {
    program: &'a Program,
}

impl Printer<'_> {
    fn body(&self, f: &mut Formatter<'_>, body: &Body, depth: usize) -> fmt::Result {
        body.0.iter().try_for_each(|node| self.node(f, node, depth))
    }

    fn defined(&self, id: super::ValueId) -> String {
        format!("%{}: {}", id.0, self.program.value_type(id))
    }

    fn node(&self, f: &mut Formatter<'_>, node: &Node, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        write!(f, "{indent}")?;
        match &node.kind {
            NodeKind::Let { value, expr } => writeln!(f, "{} = {expr}", self.defined(*value)),
            NodeKind::Load { values, access } => {
                let values: Vec<String> = values.iter().map(|v| self.defined(*v)).collect();
                writeln!(f, "{} = load {access}", values.join(", "))
            }
            NodeKind::Store { access, values } => writeln!(f, "store {access} = {}", list(values)),
            NodeKind::Atomic {
                op,
                access,
                value,
                compare,
                result,
                exchanged,
            } => {
                for defined in result.iter().chain(exchanged) {
                    write!(f, "{} = ", self.defined(*defined))?;
                }
                write!(f, "atomic {op:?} {access}")?;
                if let Some(value) = value {
                    write!(f, " with {value}")?;
                }
                if let Some(compare) = compare {
                    write!(f, " expecting {compare}")?;
                }
                writeln!(f)
            }
            NodeKind::Assign { local, value } => writeln!(f, "local {} = {value}", local.0),
            NodeKind::Clear(id) => writeln!(f, "clear private {}", id.0),
            NodeKind::If {
                cond,
                accept,
                reject,
            } => {
                writeln!(f, "if {cond} {{")?;
                self.body(f, accept, depth + 1)?;
                if !reject.0.is_empty() {
                    writeln!(f, "{indent}}} else {{")?;
                    self.body(f, reject, depth + 1)?;
                }
                writeln!(f, "{indent}}}")
            }
            NodeKind::Block { label, body } => {
                writeln!(f, "block {} {{", label.0)?;
                self.body(f, body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => {
                writeln!(f, "loop {} {{", label.0)?;
                self.body(f, body, depth + 1)?;
                if !continuing.0.is_empty() {
                    writeln!(f, "{indent}}} continuing {{")?;
                    self.body(f, continuing, depth + 1)?;
                }
                writeln!(f, "{indent}}}")
            }
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => {
                writeln!(f, "switch {selector} {{")?;
                for case in cases {
                    writeln!(f, "{indent}case {}:", list(&case.values))?;
                    self.body(f, &case.body, depth + 1)?;
                }
                writeln!(f, "{indent}default:")?;
                self.body(f, default, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
            NodeKind::Break(label) => writeln!(f, "break {}", label.0),
            NodeKind::Continue(label) => writeln!(f, "continue {}", label.0),
            NodeKind::Return => writeln!(f, "return"),
            NodeKind::Barrier(id) => {
                let scope = self.program.barriers[id.index()].scope;
                writeln!(f, "barrier {} ({scope:?})", id.0)
            }
            NodeKind::Subgroup {
                site,
                op,
                operands,
                lane,
                results,
            } => {
                let results: Vec<String> = results.iter().map(|v| self.defined(*v)).collect();
                let (results, operands) = (results.join(", "), list(operands));
                write!(f, "{results} = subgroup {} {op:?} {operands}", site.0)?;
                if let Some(lane) = lane {
                    write!(f, " of lane {lane}")?;
                }
                writeln!(f)
            }
        }
    }
}
