//! What is known while a kernel is written.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use super::abi::{Contract, ParameterLayout};
use super::bounds::Plans;
use super::entry::SUBGROUP;
use super::index::{Narrow, Scaled};
use super::target::Target;
use super::text::{Class, LabelName, Lines, Reg, Val};
use crate::error::{Error, Status};
use crate::ir::ranges::{self, Ranges};
use crate::ir::uniformity::Uniformity;
use crate::ir::{
    BufferId, Builtin, Const, Expr, Label, Operand, Program, Region, Scalar, Span, ValueId,
};

/// Where `Break` and `Continue` of an open label go.
#[derive(Clone, Copy)]
pub struct Goal {
    pub end: LabelName,
    pub next: Option<LabelName>,
}

/// Registers that hold a kernel's state from its start on.
pub struct Control {
    /// Under the launch-slot contract.
    pub slot: Option<SlotRegisters>,
    /// In programs with a grid barrier.
    pub groups: Option<GroupRegisters>,
    /// The counter's value that released the last barrier passed, or releases this one.
    pub target: Reg,
    /// What a barrier adds to the counter.
    pub step: Reg,
    /// Workgroups of the grid.
    pub workgroups: Reg,
    /// Barriers passed.
    pub executed: Reg,
    /// Turns of loops that are polled.
    pub turns: Reg,
    /// The invocation's first look at the clock; 0 before.
    pub since: Reg,
    /// Whether this is its workgroup's first invocation, and whether it is one of the first warp's.
    pub is_leader: Reg,
    pub in_first_warp: Reg,
}

/// How a workgroup meets the others; see [`super::abi::Shape`].
#[derive(Clone, Copy)]
pub struct GroupRegisters {
    /// Whether groups have counters of their own, and words to wait at.
    pub in_groups: Reg,
    pub own_words: Reg,
    /// The word that this workgroup arrives at, what it comes to when all have arrived that do so there, and how many
    /// those are.
    pub arrives_at: Reg,
    pub arrived: Reg,
    pub share: Reg,
    /// The word that it waits at, and what that comes to when it may go on.
    pub waits_at: Reg,
    pub released: Reg,
}

#[derive(Clone, Copy)]
pub struct SlotRegisters {
    pub slot: Reg,
    pub record: Reg,
    pub limit: Reg,
}

pub struct Emitter<'p> {
    pub program: &'p Program,
    pub uniformity: &'p Uniformity,
    pub target: Target,
    pub parameters: ParameterLayout,
    pub contract: Contract,
    pub fast_math: bool,
    pub plans: Plans,
    pub ranges: Ranges<'p>,
    /// By value id: what an unsigned divisor that may be 0 is divided by, once it is defined.
    pub divisors: HashMap<ValueId, Option<Reg>>,
    /// The kernel's body so far.
    pub body: String,
    /// What stands before it: computed once, on entry.
    pub prologue: String,
    /// What stands behind its end: it is seldom reached.
    pub epilogue: String,
    pub goals: HashMap<Label, Goal>,
    pub control: Option<Control>,
    /// By value id: what stands for it, and by how many low zero bits it is known to end.
    pub values: Vec<Option<Val>>,
    pub zeros: Vec<u32>,
    /// By value id: the u32 that it was widened from.
    pub narrow: HashMap<ValueId, Narrow>,
    /// By value id: the widened u32 and the constant that it is the product of.
    pub scaled: HashMap<ValueId, Scaled>,
    /// By value id: the u32 and the constant that it is the exact sum of.
    pub sums: HashMap<ValueId, (Val, i64)>,
    /// By value id: how a byte index is made, if its low half can be made alone.
    pub lows: HashMap<ValueId, Expr>,
    pub locals: Vec<Reg>,
    pub builtins: HashMap<Builtin, Reg>,
    pub bases: HashMap<Region, Reg>,
    /// Lengths of runtime-sized arrays that had to be computed.
    pub lengths: HashMap<BufferId, Reg>,
    /// The lanes of the warp that have an invocation, as bits.
    pub existing: Option<Reg>,
    /// The first thing that cannot be emitted.
    pub refusal: Option<Error>,
    /// Offsets of the workgroup variables.
    pub workgroup: Vec<u64>,
    lines: Lines<'p>,
    line: usize,
    span: Span,
    counts: [u32; 4],
    labels: u32,
}

impl<'p> Emitter<'p> {
    pub fn new(
        program: &'p Program,
        uniformity: &'p Uniformity,
        target: Target,
        parameters: ParameterLayout,
        contract: Contract,
        fast_math: bool,
    ) -> Emitter<'p> {
        let ranges = ranges::analyse(program, SUBGROUP);
        Emitter {
            divisors: super::divide::divisors(program, &ranges),
            ranges,
            program,
            uniformity,
            target,
            parameters,
            contract,
            fast_math,
            plans: Plans::of(program),
            body: String::new(),
            prologue: String::new(),
            epilogue: String::new(),
            goals: HashMap::new(),
            control: None,
            values: vec![None; program.values.len()],
            zeros: vec![0; program.values.len()],
            narrow: HashMap::new(),
            lows: HashMap::new(),
            scaled: HashMap::new(),
            sums: HashMap::new(),
            locals: Vec::new(),
            builtins: HashMap::new(),
            bases: HashMap::new(),
            lengths: HashMap::new(),
            existing: None,
            refusal: None,
            workgroup: crate::ir::layout(&program.workgroup).0,
            lines: Lines::of(&program.source),
            line: 0,
            span: Span::default(),
            counts: [0; 4],
            labels: 0,
        }
    }

    /// Quotes the source line that the code from here on is of.
    pub fn at(&mut self, span: Span) {
        self.span = span;
        if let Some(line) = self.lines.number(span)
            && line != self.line
        {
            self.line = line;
            let words = self.lines.words(line);
            let _ = writeln!(self.body, "\t// {line}: {words}");
        }
    }

    /// Notes what cannot be emitted; the text is thrown away then.
    pub fn refuse(&mut self, what: &str, fix: &str) {
        if self.refusal.is_none() {
            let error = (self.program.source).error_as(Status::Unsupported, self.span, what);
            self.refusal = Some(error.with_fix(fix));
        }
    }

    pub fn reg(&mut self, class: Class) -> Reg {
        let count = &mut self.counts[class as usize];
        let number = *count;
        *count += 1;
        Reg { class, number }
    }

    pub fn count(&self, class: Class) -> u32 {
        self.counts[class as usize]
    }

    pub fn new_label(&mut self) -> LabelName {
        self.labels += 1;
        LabelName(self.labels)
    }

    pub fn put(&mut self, instruction: impl Display) {
        let _ = writeln!(self.body, "\t{instruction};");
    }

    pub fn comment(&mut self, words: impl Display) {
        let _ = writeln!(self.body, "\t// {words}");
    }

    pub fn place(&mut self, label: LabelName) {
        let _ = writeln!(self.body, "{label}:");
    }

    pub fn into(&mut self, to: Reg, opcode: &str, args: &[Val]) {
        let _ = write!(self.body, "\t{opcode} {to}");
        for arg in args {
            let _ = write!(self.body, ", {arg}");
        }
        self.body.push_str(";\n");
    }

    /// An instruction's result in a new register.
    pub fn op(&mut self, class: Class, opcode: &str, args: &[Val]) -> Reg {
        let to = self.reg(class);
        self.into(to, opcode, args);
        to
    }

    /// As `op`, for the classes that most instructions work on.
    pub fn op32(&mut self, opcode: &str, args: &[Val]) -> Val {
        self.op(Class::B32, opcode, args).into()
    }

    pub fn op64(&mut self, opcode: &str, args: &[Val]) -> Val {
        self.op(Class::B64, opcode, args).into()
    }

    pub fn pred(&mut self, opcode: &str, args: &[Val]) -> Val {
        self.op(Class::Pred, opcode, args).into()
    }

    pub fn mov(&mut self, to: Reg, from: Val) {
        self.into(to, &format!("mov.{}", to.class.ty()), &[from]);
    }

    /// Writes what `emit` emits into the prologue.
    pub fn once<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.body, &mut self.prologue);
        let result = emit(self);
        std::mem::swap(&mut self.body, &mut self.prologue);
        result
    }

    /// Writes what `emit` emits behind the kernel's end.
    pub fn aside(&mut self, emit: impl FnOnce(&mut Self)) {
        std::mem::swap(&mut self.body, &mut self.epilogue);
        emit(self);
        std::mem::swap(&mut self.body, &mut self.epilogue);
    }

    /// A branch to `label` if `cond` is `when`.
    pub fn branch_if(&mut self, cond: Val, when: bool, label: LabelName) {
        let not = if when { "" } else { "!" };
        self.put(format_args!("@{not}{cond} bra {label}"));
    }

    pub fn constant(&mut self, c: Const) -> Val {
        match c.ty {
            Scalar::Bool => self.pred("mov.pred", &[Val::Int(c.bits)]),
            Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 => Val::Int(c.bits),
            Scalar::F32 => Val::F32(c.bits as u32),
            Scalar::F16 => Val::F32(super::convert::half_to_f32(c.bits as u16).to_bits()),
            Scalar::F64 => Val::F64(c.bits),
        }
    }

    pub fn operand(&mut self, operand: Operand) -> Val {
        match operand {
            Operand::Const(c) => self.constant(c),
            Operand::Value(id) => {
                self.values[id.index()].expect("validated: values are defined before their use")
            }
        }
    }

    /// The operand in a register.
    pub fn in_register(&mut self, operand: Operand) -> Reg {
        let class = Class::of(self.program.operand_type(operand));
        match self.operand(operand) {
            Val::Reg(reg) => reg,
            immediate => {
                let reg = self.reg(class);
                self.mov(reg, immediate);
                reg
            }
        }
    }

    pub fn define(&mut self, id: ValueId, value: Val) {
        self.values[id.index()] = Some(value);
        self.prepare_divisor(id, value);
    }
}
