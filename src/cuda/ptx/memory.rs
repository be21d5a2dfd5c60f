//! Loads and stores. A guard becomes the predicate of the instruction, so that nothing branches.

use super::abi::{BINDING_ALIGN, Contract};
use super::emitter::Emitter;
use super::index::Scaled;
use super::text::{Class, Reg, Val};
use crate::ir::{
    Access, BufferAccess, BufferSpace, Const, MemoryId, Operand, Region, Scalar, ValueId,
};

/// An address, and what may be assumed of it.
pub struct Place {
    pub space: &'static str,
    base: String,
    offset: i64,
    /// Its base is a multiple of this.
    align: u64,
}

impl Place {
    /// The operand that names the place `further` bytes on.
    pub fn address(&self, further: u64) -> String {
        match self.offset + further.cast_signed() {
            0 => format!("[{}]", self.base),
            offset => format!("[{}+{offset}]", self.base),
        }
    }

    /// Of the place `further` bytes on.
    fn align(&self, further: u64) -> u64 {
        let offset = self.offset + further.cast_signed();
        match offset {
            0 => self.align,
            offset => self.align.min(1 << offset.trailing_zeros()),
        }
    }

    /// The most scalars, of `rest`, that one instruction may move from `further` on.
    fn width(&self, scalar: Scalar, further: u64, rest: usize) -> usize {
        let fits = |&width: &usize| {
            let bytes = u64::from(scalar.size()) * width as u64;
            width <= rest && bytes <= 16 && self.align(further) >= bytes
        };
        [4, 2].into_iter().find(fits).unwrap_or(1)
    }
}

/// When an access happens.
#[derive(Clone, Copy, PartialEq)]
pub enum When {
    Always,
    Never,
    If(Val),
}

impl When {
    /// What stands before the instruction.
    pub fn prefix(self) -> String {
        match self {
            When::If(cond) => format!("@{cond} "),
            _ => String::new(),
        }
    }
}

/// The opcode's suffix that says how many and of what.
fn moved(count: usize, scalar: Scalar) -> &'static str {
    match (count, scalar.size()) {
        (1, 1) => "u8",
        (1, 2) => "b16",
        (1, 4) => "b32",
        (1, _) => "b64",
        (2, 1) => "v2.u8",
        (_, 1) => "v4.u8",
        (2, 2) => "v2.b16",
        (2, 4) => "v2.b32",
        (2, _) => "v2.b64",
        (_, 2) => "v4.b16",
        _ => "v4.b32",
    }
}

fn list(regs: &[Reg]) -> String {
    match regs {
        [one] => one.to_string(),
        several => {
            let names: Vec<String> = several.iter().map(Reg::to_string).collect();
            format!("{{{}}}", names.join(", "))
        }
    }
}

/// What a scalar is while it is moved.
fn carrier(scalar: Scalar) -> Class {
    match scalar {
        Scalar::Bool | Scalar::F16 => Class::B16,
        other => Class::of(other),
    }
}

impl Emitter<'_> {
    /// When an access of the program happens: what its guard says, if that is not proven.
    pub fn when(&mut self, access: &Access) -> When {
        match self.ranges.guard(access) {
            None => When::Always,
            Some(Operand::Const(Const { bits: 0, .. })) => When::Never,
            Some(Operand::Const(_)) => When::Always,
            Some(guard) => When::If(self.operand(guard)),
        }
    }

    /// The symbol of a region that has one, where it starts in it, and its alignment.
    fn symbol(&self, region: Region) -> (&'static str, String, u64, u64) {
        let own =
            |memories: &[crate::ir::Memory], id: MemoryId| u64::from(memories[id.index()].align);
        match region {
            Region::Buffer(_) => ("global", String::new(), 0, u64::from(BINDING_ALIGN)),
            Region::Workgroup(id) => {
                let at = self.workgroup[id.index()];
                ("shared", "vyre_workgroup".into(), at, 16)
            }
            Region::Private(id) => {
                let align = own(&self.program.private, id).max(16);
                ("local", format!("vyre_private_{}", id.0), 0, align)
            }
            Region::Immediates => {
                let (symbol, at) = match self.contract {
                    Contract::LaunchSlot => ("vyre_arguments", self.parameters.immediates),
                    Contract::ModuleScope => ("vyre_immediates", 0),
                };
                ("param", symbol.into(), u64::from(at), 16)
            }
            Region::Constant(id) => ("global", format!("vyre_constant_{}", id.0), 0, 16),
        }
    }

    /// Where a region starts, in a register; of shared memory in 32 bits.
    fn base(&mut self, region: Region) -> Reg {
        if let Some(&reg) = self.bases.get(&region) {
            return reg;
        }
        let (space, symbol, ..) = self.symbol(region);
        let class = if space == "shared" {
            Class::B32
        } else {
            Class::B64
        };
        let reg = self.once(|e| {
            let reg = e.reg(class);
            match region {
                Region::Buffer(id) => {
                    let from = match e.contract {
                        Contract::LaunchSlot => {
                            format!("vyre_arguments+{}", e.parameters.buffers[id.index()].base)
                        }
                        Contract::ModuleScope => format!("vyre_address_{}", id.0),
                    };
                    e.put(format_args!("ld.param.u64 {reg}, [{from}]"));
                    e.put(format_args!("cvta.to.global.u64 {reg}, {reg}"));
                }
                _ => e.put(format_args!("mov.{} {reg}, {symbol}", class.ty())),
            }
            reg
        });
        self.bases.insert(region, reg);
        reg
    }

    pub fn target(&mut self, access: &Access) -> Place {
        let (space, symbol, start, align) = self.symbol(access.region);
        let mut place = Place {
            space,
            base: symbol,
            offset: (start + access.offset).cast_signed(),
            align,
        };
        let is_symbol = !matches!(access.region, Region::Buffer(_));
        if access.index.is_none() && is_symbol {
            return place;
        }
        let mut base = self.base(access.region);
        if let Some(index) = access.index {
            place.align = align.min(1 << self.known_zeros(index));
            base = match space {
                "shared" => {
                    // In range it fits; out of range nothing is accessed. Addresses of 32 bits wrap, so the
                    // assembler may take constants apart by itself.
                    let low = self.low_half(index);
                    self.op(Class::B32, "add.u32", &[base.into(), low])
                }
                _ => {
                    let index = match self.apart(index) {
                        Some((rest, further)) => {
                            place.offset += further;
                            rest
                        }
                        None => self.operand(index),
                    };
                    self.op(Class::B64, "add.u64", &[base.into(), index])
                }
            };
        }
        // Vectors add up to 16 bytes to the offset, which an instruction holds in 32 bits, signed.
        if place.offset > i64::from(i32::MAX) - 16 {
            place.align = place.align(0);
            let class = base.class;
            let opcode = if class == Class::B32 {
                "add.u32"
            } else {
                "add.u64"
            };
            base = self.op(
                class,
                opcode,
                &[base.into(), Val::Int(place.offset.cast_unsigned())],
            );
            place.offset = 0;
        }
        place.base = base.to_string();
        place
    }

    /// Where an access to a buffer goes, or where it would with an index of 0, if that is always within what is
    /// bound.
    fn place_or_first(&mut self, access: &Access, inside: Val, count: usize) -> Option<Place> {
        let (Region::Buffer(id), Some(Operand::Value(index))) = (access.region, access.index)
        else {
            return None;
        };
        let end = access.offset + u64::from(access.scalar.size()) * count as u64;
        if end > self.program.buffer(id).min_size || end > i32::MAX as u64 {
            return None;
        }
        let &Scaled { narrow, stride } = self.scaled.get(&index)?;
        let base = self.base(access.region);
        let narrow = self.op32("selp.b32", &[narrow.whole, Val::Int(0), inside]);
        let bytes = self.op64("mul.wide.u32", &[narrow, Val::Int(stride)]);
        let address = self.op(Class::B64, "add.u64", &[base.into(), bytes]);
        Some(Place {
            space: "global",
            base: address.to_string(),
            offset: access.offset.cast_signed(),
            align: u64::from(BINDING_ALIGN).min(1 << self.known_zeros(index.into())),
        })
    }

    /// Nobody writes it while the kernel runs: bindings that a program writes overlap no others.
    fn is_read_only(&self, region: Region) -> bool {
        match region {
            Region::Buffer(id) => {
                let buffer = self.program.buffer(id);
                buffer.space == BufferSpace::Uniform || buffer.access == BufferAccess::Read
            }
            Region::Constant(_) => true,
            _ => false,
        }
    }

    pub fn load(&mut self, values: &[ValueId], access: &Access) {
        let scalar = access.scalar;
        let when = self.when(access);
        if when == When::Never {
            for &id in values {
                let zero = self.constant(Const::zero(scalar));
                self.define(id, zero);
            }
            return;
        }
        // The assembler moves plain loads to where their latency hurts least, but of several that are guarded and
        // give vectors, it lets one wait for the other's use.
        let otherwise_first = match when {
            When::If(cond) if values.len() > 1 => self.place_or_first(access, cond, values.len()),
            _ => None,
        };
        let is_plain = when == When::Always || otherwise_first.is_some();
        let prefix = if is_plain {
            String::new()
        } else {
            when.prefix()
        };
        let place = match otherwise_first {
            Some(place) => place,
            None => self.target(access),
        };
        let cached = if self.is_read_only(access.region) {
            ".nc"
        } else {
            ""
        };
        let mut done = 0;
        while done < values.len() {
            let further = done as u64 * u64::from(scalar.size());
            let count = place.width(scalar, further, values.len() - done);
            let regs: Vec<Reg> = (0..count).map(|_| self.reg(carrier(scalar))).collect();
            if !is_plain {
                regs.iter().for_each(|&reg| self.mov(reg, Val::Int(0)));
            }
            self.put(format_args!(
                "{prefix}ld.{}{cached}.{} {}, {}",
                place.space,
                moved(count, scalar),
                list(&regs),
                place.address(further),
            ));
            for (&id, &reg) in values[done..].iter().zip(&regs) {
                let reg = match when {
                    When::If(cond) if is_plain => {
                        let opcode = format!("selp.{}", reg.class.ty());
                        self.op(reg.class, &opcode, &[reg.into(), Val::Int(0), cond])
                    }
                    _ => reg,
                };
                let value = match scalar {
                    Scalar::Bool => self.pred("setp.ne.b16", &[reg.into(), Val::Int(0)]),
                    Scalar::F16 => self.op32("cvt.f32.f16", &[reg.into()]),
                    _ => reg.into(),
                };
                self.define(id, value);
            }
            done += count;
        }
    }

    pub fn store(&mut self, access: &Access, values: &[Operand]) {
        let scalar = access.scalar;
        let when = self.when(access);
        if when == When::Never {
            return;
        }
        let place = self.target(access);
        let regs: Vec<Reg> = values
            .iter()
            .map(|&value| {
                let reg = self.in_register(value);
                match scalar {
                    Scalar::Bool => self.op(
                        Class::B16,
                        "selp.b16",
                        &[Val::Int(1), Val::Int(0), reg.into()],
                    ),
                    Scalar::F16 => self.op(Class::B16, "cvt.rn.f16.f32", &[reg.into()]),
                    _ => reg,
                }
            })
            .collect();
        let mut done = 0;
        while done < regs.len() {
            let further = done as u64 * u64::from(scalar.size());
            let count = place.width(scalar, further, regs.len() - done);
            self.put(format_args!(
                "{}st.{}.{} {}, {}",
                when.prefix(),
                place.space,
                moved(count, scalar),
                place.address(further),
                list(&regs[done..done + count]),
            ));
            done += count;
        }
    }

    /// Zeroes one of the invocation's arrays; in a loop when it is long.
    pub fn clear(&mut self, id: MemoryId) {
        const UNROLLED: u64 = 32;
        let size = self.program.private[id.index()].size.next_multiple_of(16);
        let base = format!("vyre_private_{}", id.0);
        if size / 16 <= UNROLLED {
            let zero = self.reg(Class::B32);
            self.mov(zero, Val::Int(0));
            for at in (0..size).step_by(16) {
                self.put(format_args!(
                    "st.local.v4.b32 [{base}+{at}], {{{zero}, {zero}, {zero}, {zero}}}"
                ));
            }
            return;
        }
        let (address, end) = (self.reg(Class::B64), self.reg(Class::B64));
        self.put(format_args!("mov.b64 {address}, {base}"));
        self.into(end, "add.u64", &[address.into(), Val::Int(size)]);
        self.zero_until("local", address, Val::Int(16), end);
    }

    /// Zeroes 16 bytes at `address`, at `address + step`, and so on before `end`.
    pub fn zero_until(&mut self, space: &str, address: Reg, step: Val, end: Reg) {
        let (top, done) = (self.new_label(), self.new_label());
        let zero = self.reg(Class::B32);
        let ty = if address.class == Class::B32 {
            "u32"
        } else {
            "u64"
        };
        self.mov(zero, Val::Int(0));
        self.place(top);
        let past = self.pred(&format!("setp.ge.{ty}"), &[address.into(), end.into()]);
        self.branch_if(past, true, done);
        self.put(format_args!(
            "st.{space}.v4.b32 [{address}], {{{zero}, {zero}, {zero}, {zero}}}"
        ));
        self.into(address, &format!("add.{ty}"), &[address.into(), step]);
        self.put(format_args!("bra {top}"));
        self.place(done);
    }
}
