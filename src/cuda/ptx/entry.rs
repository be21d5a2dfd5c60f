//! The frame of a kernel: declarations, what happens on entry, and the end.

use std::fmt::Write;

use super::abi::Contract;
use super::emitter::Emitter;
use super::memory::When;
use super::text::{Class, Reg, Val, kernel_name, quoted};
use super::{Ptx, SharedMemory};
use crate::error::{Result, Status};
use crate::ir::{Axis, BufferId, Builtin, MemoryId, Span};

/// Shared memory that a module may declare; more has to be asked for at the launch.
const MOST_FIXED: u64 = 48 << 10;
/// Local memory of an invocation, on every device.
const MOST_PRIVATE: u64 = 512 << 10;
/// Rounds in which an invocation zeroes workgroup memory before a loop does it.
const ZEROING_PASSES: u64 = 16;
/// Invocations of a subgroup: a warp.
pub const SUBGROUP: u32 = 32;

pub fn letter(axis: Axis) -> char {
    ['x', 'y', 'z'][axis.index()]
}

impl Emitter<'_> {
    pub fn finish(mut self) -> Result<Ptx> {
        let program = self.program;
        self.check_private()?;
        for i in 0..program.locals.len() {
            // NVIDIA's assemblers up to 13.0 take a flag in a predicate register for constant where a loop flips it:
            // `if !flag { loop { flag = !flag; .. } }` sets it once and for all.
            let class = match Class::of(program.locals[i].ty) {
                Class::Pred => Class::B32,
                class => class,
            };
            let local = self.reg(class);
            self.locals.push(local);
            self.once(|e| e.mov(local, Val::Int(0)));
        }
        self.set_up_control();
        self.zero_private();
        self.zero_workgroup();
        self.body(&program.body);
        self.body.push_str("$end:\n");
        self.end();
        self.put("ret");
        if let Some(refusal) = self.refusal.take() {
            return Err(refusal);
        }
        let kernel = kernel_name(&program.entry_point);
        let shared = self.shared();
        let text = self.module(&kernel, shared);
        Ok(Ptx {
            text,
            kernel,
            shared,
            parameters: self.parameters,
        })
    }

    /// The workgroup variables' bytes, as they are zeroed.
    fn workgroup_size(&self) -> u64 {
        self.program.workgroup_memory().next_multiple_of(16)
    }

    fn shared(&self) -> SharedMemory {
        match self.workgroup_size() {
            size if size <= MOST_FIXED => SharedMemory {
                fixed: size,
                dynamic: 0,
            },
            size => SharedMemory {
                fixed: 0,
                dynamic: size,
            },
        }
    }

    fn module(&self, kernel: &str, shared: SharedMemory) -> String {
        let program = self.program;
        let (major, minor) = self.target.ptx_version;
        let label = quoted(program.source.label().unwrap_or("a program"));
        let entry = quoted(&program.entry_point);
        let mut text = format!(
            "// entry point {entry} of {label}\n.version {major}.{minor}\n.target sm_{}\n.address_size 64\n\n",
            self.target.sm
        );
        if self.contract == Contract::ModuleScope {
            text.push_str(&super::export::declarations(program, shared));
        }
        for (i, table) in program.constants.iter().enumerate() {
            let bytes: Vec<String> = table.iter().map(u8::to_string).collect();
            let (size, bytes) = (table.len(), bytes.join(","));
            let _ = writeln!(
                text,
                ".global .align 16 .b8 vyre_constant_{i}[{size}] = {{{bytes}}};"
            );
        }
        if shared.dynamic > 0 {
            text.push_str(".extern .shared .align 16 .b8 vyre_workgroup[];\n");
        }
        let [x, y, z] = program.workgroup_size;
        let parameters = match self.contract {
            Contract::LaunchSlot => {
                let size = self.parameters.size;
                format!(".param .align 16 .b8 vyre_arguments[{size}]")
            }
            Contract::ModuleScope => super::export::parameters(program),
        };
        let _ = write!(
            text,
            ".visible .entry {kernel}({parameters})\n.reqntid {x}, {y}, {z}\n{}{{\n",
            self.occupancy()
        );
        for class in Class::ALL {
            let count = self.count(class);
            if count > 0 {
                let _ = writeln!(text, "\t.reg .{} {}<{count}>;", class.ty(), class.prefix());
            }
        }
        let workgroup = self.workgroup_size();
        if shared.dynamic == 0 && workgroup > 0 {
            let _ = writeln!(text, "\t.shared .align 16 .b8 vyre_workgroup[{workgroup}];");
        }
        for (i, memory) in program.private.iter().enumerate() {
            let align = memory.align.max(16);
            let size = memory.size.next_multiple_of(16);
            let _ = writeln!(
                text,
                "\t.local .align {align} .b8 vyre_private_{i}[{size}];"
            );
        }
        text.push_str(&self.prologue);
        text.push_str(&self.body);
        text.push_str(&self.epilogue);
        text.push_str("}\n");
        text
    }

    /// How much the assembler may trade the number of workgroups that run at once for registers. By itself it spares
    /// registers, and then one instruction waits for another. Where all workgroups must run at once to meet, their
    /// number is what counts.
    fn occupancy(&self) -> &'static str {
        match self.program.has_grid_barrier() {
            true => "",
            false => ".minnctapersm 1\n",
        }
    }

    /// Said here, and not by the assembler in its own words.
    fn check_private(&self) -> Result<()> {
        let arrays = &self.program.private;
        let size: u64 = arrays
            .iter()
            .map(|array| array.size.next_multiple_of(16))
            .sum();
        if size <= MOST_PRIVATE {
            return Ok(());
        }
        let (what, span) = match arrays.iter().max_by_key(|array| array.size) {
            Some(array) if !array.name.is_empty() => {
                (format!(", the most of them `{}`", array.name), array.span)
            }
            Some(array) => (String::new(), array.span),
            None => (String::new(), Span::default()),
        };
        let message = format!(
            "the arrays of one invocation take {size} bytes{what}, but CUDA allows {MOST_PRIVATE}"
        );
        let error = (self.program.source).error_as(Status::Unsupported, span, &message);
        Err(error.with_fix("Keep large arrays in a storage buffer or in workgroup memory."))
    }

    fn zero_private(&mut self) {
        let count = self.program.private.len() as u32;
        if count > 0 {
            self.comment("private arrays start as zeros");
        }
        (0..count).for_each(|id| self.clear(MemoryId(id)));
    }

    /// All invocations together, and nobody goes on before all is zero.
    fn zero_workgroup(&mut self) {
        let size = self.workgroup_size();
        if size == 0 {
            return;
        }
        self.comment("workgroup variables start as zeros");
        let index = self.builtin(Builtin::LocalInvocationIndex);
        let own = self.op32("shl.b32", &[index.into(), Val::Int(4)]);
        let start = self.reg(Class::B32);
        self.put(format_args!("mov.b32 {start}, vyre_workgroup"));
        let address = self.op(Class::B32, "add.u32", &[start.into(), own]);
        let pass = 16 * self.program.workgroup_invocations();
        if size <= ZEROING_PASSES * pass {
            self.zero_in_passes(address, own, pass, size);
        } else {
            let end = self.op(Class::B32, "add.u32", &[start.into(), Val::Int(size)]);
            self.zero_until("shared", address, Val::Int(pass), end);
        }
        self.put("bar.sync 0");
    }

    /// Zeroes `size` bytes, each invocation 16 of them at its own address in each pass.
    fn zero_in_passes(&mut self, address: Reg, own: Val, pass: u64, size: u64) {
        let zero = self.reg(Class::B32);
        self.mov(zero, Val::Int(0));
        for at in (0..size).step_by(pass as usize) {
            let prefix = if at + pass > size {
                let rest = Val::Int(size - at);
                When::If(self.pred("setp.lt.u32", &[own, rest])).prefix()
            } else {
                String::new()
            };
            self.put(format_args!(
                "{prefix}st.shared.v4.b32 [{address}+{at}], {{{zero}, {zero}, {zero}, {zero}}}"
            ));
        }
    }

    pub fn array_length(&mut self, id: BufferId) -> Reg {
        if self.contract == Contract::ModuleScope {
            return self.array_length_of_size(id);
        }
        let at = self.parameters.buffers[id.index()].length;
        self.parameter_word(at)
    }

    /// As [`crate::ir::BufferDecl::array_length`], from the range's size in bytes.
    fn array_length_of_size(&mut self, id: BufferId) -> Reg {
        if let Some(&reg) = self.lengths.get(&id) {
            return reg;
        }
        let array = self.program.buffers[id.index()].runtime;
        let reg = self.once(|e| {
            let length = e.reg(Class::B32);
            let Some(array) = array else {
                e.mov(length, Val::Int(0));
                return length;
            };
            let size = e.reg(Class::B64);
            e.put(format_args!("ld.param.u64 {size}, [vyre_size_{}]", id.0));
            let offset = Val::Int(array.offset);
            e.into(size, "max.u64", &[size.into(), offset]);
            e.into(size, "sub.u64", &[size.into(), offset]);
            e.into(size, "div.u64", &[size.into(), Val::Int(array.stride)]);
            e.into(size, "min.u64", &[size.into(), Val::Int(u32::MAX.into())]);
            e.into(length, "cvt.u32.u64", &[size.into()]);
            length
        });
        self.lengths.insert(id, reg);
        reg
    }

    /// A u32 parameter. The machine reads parameters as quickly as registers.
    pub fn parameter_word(&mut self, at: u32) -> Reg {
        let reg = self.reg(Class::B32);
        self.put(format_args!("ld.param.u32 {reg}, [vyre_arguments+{at}]"));
        reg
    }

    pub fn builtin(&mut self, builtin: Builtin) -> Reg {
        if let Some(&reg) = self.builtins.get(&builtin) {
            return reg;
        }
        let reg = self.once(|e| e.compute_builtin(builtin));
        self.builtins.insert(builtin, reg);
        reg
    }

    fn compute_builtin(&mut self, builtin: Builtin) -> Reg {
        let size = self.program.workgroup_size;
        let constant = |e: &mut Self, n: u64| {
            let reg = e.reg(Class::B32);
            e.mov(reg, Val::Int(n));
            reg
        };
        // Already within the prologue: nested ones must stay there.
        let nested = |e: &mut Self, builtin: Builtin| match e.builtins.get(&builtin) {
            Some(&reg) => Val::from(reg),
            None => {
                let reg = e.compute_builtin(builtin);
                e.builtins.insert(builtin, reg);
                Val::from(reg)
            }
        };
        let special = |e: &mut Self, name: &str, axis: Axis| {
            let reg = e.reg(Class::B32);
            e.put(format_args!("mov.u32 {reg}, %{name}.{}", letter(axis)));
            reg
        };
        match builtin {
            Builtin::LocalInvocationId(axis) => special(self, "tid", axis),
            Builtin::WorkgroupId(axis) => special(self, "ctaid", axis),
            Builtin::NumWorkgroups(axis) if self.contract == Contract::ModuleScope => {
                special(self, "nctaid", axis)
            }
            Builtin::NumWorkgroups(axis) => {
                let at = self.parameters.workgroups + 4 * axis.index() as u32;
                self.parameter_word(at)
            }
            Builtin::GlobalInvocationId(axis) => {
                let group = nested(self, Builtin::WorkgroupId(axis));
                let local = nested(self, Builtin::LocalInvocationId(axis));
                let size = Val::Int(size[axis.index()].into());
                self.op(Class::B32, "mad.lo.u32", &[group, size, local])
            }
            Builtin::LocalInvocationIndex => {
                let [x, y, z] =
                    Axis::ALL.map(|axis| nested(self, Builtin::LocalInvocationId(axis)));
                let plane = self.op32("mad.lo.u32", &[z, Val::Int(size[1].into()), y]);
                self.op(
                    Class::B32,
                    "mad.lo.u32",
                    &[plane, Val::Int(size[0].into()), x],
                )
            }
            // Warps are made of consecutive invocations, the last one possibly shorter.
            Builtin::SubgroupSize => constant(self, SUBGROUP.into()),
            Builtin::SubgroupInvocationId => {
                let index = nested(self, Builtin::LocalInvocationIndex);
                self.op(
                    Class::B32,
                    "and.b32",
                    &[index, Val::Int(u64::from(SUBGROUP) - 1)],
                )
            }
            Builtin::SubgroupId => {
                let index = nested(self, Builtin::LocalInvocationIndex);
                let shift = Val::Int(SUBGROUP.trailing_zeros().into());
                self.op(Class::B32, "shr.u32", &[index, shift])
            }
            Builtin::NumSubgroups => {
                let count = self.program.workgroup_invocations();
                constant(self, count.div_ceil(SUBGROUP.into()))
            }
        }
    }
}
