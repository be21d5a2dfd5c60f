//! The frame of one segment's function: the loop over invocations, the slots, the vote.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};

use super::abi::{self, BoundBuffer, Context};
use super::helpers;
use super::lanes::Lanes;
use crate::cpu::frame::{At, Frame, head};
use crate::ir::phases::{BlockId, End, Keep, Phases, Place, ResumePoint, Segment, Sharing, uses};
use crate::ir::ranges::Ranges;
use crate::ir::{BarrierId, BufferId, LocalId, MemoryId, Program, Region, ValueId};

/// How emitted code finds a value of the program.
#[derive(Clone, Copy)]
pub enum Def {
    /// Defined where it dominates every use.
    Fixed(Value),
    /// Loaded from its slot at the start, and defined anew later on.
    Variable(Variable),
}

/// The invocation that is being run.
#[derive(Clone, Copy)]
pub struct Invocation {
    /// local_invocation_index, as u32 and as an address offset.
    pub index: Value,
    pub index64: Value,
    pub local: [Value; 3],
}

/// What the function got and loaded once, for all invocations.
pub struct Shared {
    pub workgroup_id: [Value; 3],
    pub workgroups: [Value; 3],
    pub scratch: Value,
    pub persistent: Value,
    pub stop: Value,
    pub zeros: Value,
    pub immediates: Value,
    /// Base and array length of the buffers that the segment uses.
    pub buffers: HashMap<BufferId, (Value, Value)>,
    /// Slots with one copy per workgroup: read before any invocation writes the next contents.
    pub slots: HashMap<Place, Value>,
}

/// What does not change from one function of a program to the next.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub program: &'a Program,
    pub phases: &'a Phases<'a>,
    pub ranges: &'a Ranges<'a>,
    pub frame: &'a Frame,
    /// Where the constant tables lie.
    pub constants: &'a [u64],
    pub config: TargetFrontendConfig,
    pub lanes: Lanes,
}

pub struct Emitter<'a, 'f> {
    pub source: Source<'a>,
    pub segment: &'a Segment,
    pub builder: FunctionBuilder<'f>,
    pub shared: Shared,
    pub invocation: Invocation,
    pub values: HashMap<ValueId, Def>,
    pub locals: HashMap<LocalId, Variable>,
    /// The segment's `live_values`.
    loaded: HashSet<ValueId>,
    blocks: HashMap<BlockId, clif::Block>,
    /// Where an invocation goes with the resume code that it arrived at.
    pub arrived: clif::Block,
    /// Where the turn of an invocation ends.
    pub next: clif::Block,
    /// Where everybody goes once the stop flag is set.
    stopped: clif::Block,
}

/// For reads of what never changes while emitted code runs.
fn fixed() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// For slots.
pub fn plain() -> MemFlagsData {
    MemFlagsData::trusted()
}

fn offset32(offset: u64) -> i32 {
    i32::try_from(offset).expect("structures of the ABI are small")
}

/// Bytes of a private array up to which stores are cheaper than a call.
const INLINE_ZEROS: u64 = 64;

/// Fills in the body of one segment's function.
pub fn emit<'a>(
    source: Source<'a>,
    point: ResumePoint,
    segment: &'a Segment,
    mut builder: FunctionBuilder<'_>,
) {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let shared = shared(source, segment, &mut builder, entry);

    let turn = builder.create_block();
    let index = builder.append_block_param(turn, types::I32);
    let local = [(); 3].map(|()| builder.append_block_param(turn, types::I32));
    let zero = builder.ins().iconst(types::I32, 0);
    builder.ins().jump(turn, &[BlockArg::Value(zero); 4]);
    builder.switch_to_block(turn);
    let size = source.program.workgroup_size;
    // A dimension of one invocation has only the id 0.
    let local = [0, 1, 2].map(|d| {
        if size[d] == 1 {
            builder.ins().iconst(types::I32, 0)
        } else {
            local[d]
        }
    });
    let index64 = builder.ins().uextend(types::I64, index);
    let arrived = builder.create_block();
    let next = builder.create_block();
    let stopped = builder.create_block();
    let blocks = segment
        .blocks
        .iter()
        .map(|&id| (id, builder.create_block()))
        .collect();
    let mut emitter = Emitter {
        source,
        segment,
        builder,
        shared,
        invocation: Invocation {
            index,
            index64,
            local,
        },
        values: HashMap::new(),
        locals: HashMap::new(),
        loaded: segment.live_values.iter().copied().collect(),
        blocks,
        arrived,
        next,
        stopped,
    };
    emitter.pass_by_others(point);
    emitter.start_invocation();
    emitter.blocks();
    emitter.finish_invocation(turn);
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(source.config);
}

fn shared(
    source: Source<'_>,
    segment: &Segment,
    builder: &mut FunctionBuilder<'_>,
    entry: clif::Block,
) -> Shared {
    let parameters = builder.block_params(entry).to_vec();
    let context = parameters[0];
    let mut field = |ty, offset: usize| {
        builder
            .ins()
            .load(ty, fixed(), context, offset32(offset as u64))
    };
    let stop = field(types::I64, std::mem::offset_of!(Context, stop));
    let zeros = field(types::I64, std::mem::offset_of!(Context, zeros));
    let immediates = field(types::I64, std::mem::offset_of!(Context, immediates));
    let bound = field(types::I64, std::mem::offset_of!(Context, buffers));
    let workgroups = [0, 1, 2].map(|d| {
        field(
            types::I32,
            std::mem::offset_of!(Context, workgroups) + 4 * d,
        )
    });
    let mut shared = Shared {
        workgroup_id: [parameters[1], parameters[2], parameters[3]],
        workgroups,
        scratch: parameters[4],
        persistent: parameters[5],
        stop,
        zeros,
        immediates,
        buffers: HashMap::new(),
        slots: HashMap::new(),
    };
    for id in (0..source.program.buffers.len()).map(|i| BufferId(i as u32)) {
        let at = id.index() * size_of::<BoundBuffer>();
        let base = at + std::mem::offset_of!(BoundBuffer, base);
        let length = at + std::mem::offset_of!(BoundBuffer, length);
        let base = builder
            .ins()
            .load(types::I64, fixed(), bound, offset32(base as u64));
        let length = builder
            .ins()
            .load(types::I32, fixed(), bound, offset32(length as u64));
        shared.buffers.insert(id, (base, length));
    }
    let slots = &source.phases.slots;
    let values = segment.live_values.iter().map(|&id| slots.of_value(id));
    let locals = segment.live_locals.iter().map(|&id| slots.of_local(id));
    for place in values.chain(locals).flatten() {
        let slot = slots.slot(place);
        if slot.sharing == Sharing::Workgroup {
            let at = source.frame.slot(place);
            let base = shared.frame(at.keep);
            let address = builder.ins().iadd_imm_u(base, at.offset as i64);
            let ty = Lanes::ONE.ty(slot.ty);
            let value = builder.ins().load(ty, plain(), address, 0);
            shared.slots.insert(place, value);
        }
    }
    shared
}

impl Shared {
    pub fn frame(&self, keep: Keep) -> Value {
        match keep {
            Keep::Workgroup => self.scratch,
            Keep::Grid => self.persistent,
        }
    }
}

impl Emitter<'_, '_> {
    /// Address of this invocation's copy of something in a frame.
    pub fn frame_address(&mut self, at: At) -> Value {
        let base = self.shared.frame(at.keep);
        let base = self.builder.ins().iadd_imm_u(base, at.offset as i64);
        if at.stride == 0 {
            return base;
        }
        let index = self.invocation.index64;
        let own = self
            .source
            .lanes
            .slot_offset(&mut self.builder, index, at.stride);
        self.builder.ins().iadd(base, own)
    }

    fn load_slot(&mut self, place: Place) -> Value {
        let slot = self.source.phases.slots.slot(place);
        if let Some(&shared) = self.shared.slots.get(&place) {
            return self.source.lanes.splat(&mut self.builder, shared);
        }
        let address = self.frame_address(self.source.frame.slot(place));
        let ty = self.source.lanes.ty(slot.ty);
        self.builder.ins().load(ty, plain(), address, 0)
    }

    fn store_slot(&mut self, place: Place, value: Value) {
        let address = self.frame_address(self.source.frame.slot(place));
        self.builder.ins().store(plain(), value, address, 0);
    }

    /// Brings the invocation to where it left off.
    fn start_invocation(&mut self) {
        let Source {
            program, phases, ..
        } = self.source;
        let segment = self.segment;
        let mut defined = HashSet::new();
        for &block in &segment.blocks {
            for node in &phases.cfg.block(block).nodes {
                uses::definitions(node, |id| {
                    defined.insert(id);
                });
            }
        }
        for &id in &segment.live_values {
            let Some(place) = phases.slots.of_value(id) else {
                continue;
            };
            let value = self.load_slot(place);
            let def = if defined.contains(&id) {
                let ty = self.source.lanes.ty(program.value_type(id));
                let variable = self.builder.declare_var(ty);
                self.builder.def_var(variable, value);
                Def::Variable(variable)
            } else {
                Def::Fixed(value)
            };
            self.values.insert(id, def);
        }
        for &id in &segment.recomputed {
            self.recompute(id);
        }
        let start = segment.start == BlockId::ENTRY;
        for &id in &segment.live_locals {
            let variable = self.local(id);
            let value = match phases.slots.of_local(id) {
                Some(place) if !start => self.load_slot(place),
                _ => self.zero(program.local_type(id)),
            };
            self.builder.def_var(variable, value);
        }
        if start {
            for id in (0..program.private.len()).map(|i| MemoryId(i as u32)) {
                if phases.slots.private_zeroed[id.index()] && self.source.frame.is_reused(id) {
                    self.clear(id);
                }
            }
        }
        let first = self.blocks[&segment.start];
        self.builder.ins().jump(first, &[]);
    }

    /// Emits the value's definition here, and what it is made of.
    fn recompute(&mut self, id: ValueId) {
        if self.values.contains_key(&id) {
            return;
        }
        let Some(node) = self.source.phases.recompute[id.index()] else {
            return;
        };
        let mut operands = Vec::new();
        uses::operands(node, |operand| operands.push(operand));
        for operand in operands {
            if let crate::ir::Operand::Value(value) = operand {
                self.recompute(value);
            }
        }
        self.node(node);
    }

    /// The variable of a local.
    pub fn local(&mut self, id: LocalId) -> Variable {
        let ty = self.source.lanes.ty(self.source.program.local_type(id));
        *self
            .locals
            .entry(id)
            .or_insert_with(|| self.builder.declare_var(ty))
    }

    pub fn define(&mut self, id: ValueId, value: Value) {
        if let Some(Def::Variable(variable)) = self.values.get(&id) {
            self.builder.def_var(*variable, value);
        } else {
            self.values.insert(id, Def::Fixed(value));
        }
    }

    /// Zeroes this invocation's copy of a private array.
    pub fn clear(&mut self, id: MemoryId) {
        let address = self.frame_address(self.source.frame.private(id));
        let size = self.source.program.private[id.index()].size;
        if size <= INLINE_ZEROS && size.is_multiple_of(4) {
            let zero = self.builder.ins().iconst(types::I32, 0);
            for offset in (0..size).step_by(4) {
                self.builder
                    .ins()
                    .store(plain(), zero, address, offset32(offset));
            }
            return;
        }
        let size = self.builder.ins().iconst(types::I64, size as i64);
        self.call(helpers::zero(), &[address, size]);
    }

    fn blocks(&mut self) {
        let segment = self.segment;
        for &id in &segment.blocks {
            let block = self.blocks[&id];
            self.builder.switch_to_block(block);
            let source = self.source.phases.cfg.block(id);
            for node in &source.nodes {
                self.node(node);
            }
            self.end(&source.end);
        }
    }

    fn end(&mut self, end: &End) {
        match end {
            End::Jump(to) => {
                let to = self.blocks[to];
                self.builder.ins().jump(to, &[]);
            }
            End::Back(to) => {
                // An endless loop ends here when the time limit has passed.
                let to = self.blocks[to];
                let flag = MemFlagsData::trusted();
                let stop = self
                    .builder
                    .ins()
                    .atomic_load(types::I32, flag, self.shared.stop);
                self.builder.ins().brif(stop, self.stopped, &[], to, &[]);
            }
            End::Branch {
                cond,
                accept,
                reject,
            } => {
                let cond = self.operand(*cond);
                let (accept, reject) = (self.blocks[accept], self.blocks[reject]);
                self.builder.ins().brif(cond, accept, &[], reject, &[]);
            }
            End::Switch {
                selector,
                cases,
                default,
            } => {
                let ty = self.source.program.operand_type(*selector);
                let selector = self.operand(*selector);
                let mut switch = cranelift_frontend::Switch::new();
                for &(bits, to) in cases {
                    switch.set_entry(u128::from(bits), self.blocks[&to]);
                }
                debug_assert!(ty.is_int());
                let default = self.blocks[default];
                switch.emit(&mut self.builder, selector, default);
            }
            End::Barrier {
                barrier, brought, ..
            } => {
                self.bring(brought);
                self.arrive(*barrier);
            }
            End::Return => {
                let code = self
                    .builder
                    .ins()
                    .iconst(types::I32, i64::from(abi::END.cast_signed()));
                self.builder
                    .ins()
                    .jump(self.arrived, &[BlockArg::Value(code)]);
            }
        }
    }

    /// Saves what the code behind the barrier needs, and goes to the vote.
    fn arrive(&mut self, barrier: BarrierId) {
        let point = ResumePoint::behind(barrier);
        let phases = self.source.phases;
        let behind = phases
            .segment(point)
            .expect("a segment's exits have segments of their own");
        for &id in &behind.live_values {
            // A slot that was loaded and not defined anew still holds its value.
            let loaded =
                self.loaded.contains(&id) && matches!(self.values.get(&id), Some(Def::Fixed(_)));
            if let Some(place) = phases.slots.of_value(id)
                && !loaded
            {
                let value = self.value(id);
                self.store_slot(place, value);
            }
        }
        for &id in &behind.live_locals {
            if let Some(place) = phases.slots.of_local(id) {
                let variable = self.local(id);
                let value = self.builder.use_var(variable);
                self.store_slot(place, value);
            }
        }
        let code = self.builder.ins().iconst(types::I32, i64::from(point.0));
        self.builder
            .ins()
            .jump(self.arrived, &[BlockArg::Value(code)]);
    }

    /// The vote, and the next invocation.
    fn finish_invocation(&mut self, turn: clif::Block) {
        let size = self.source.program.workgroup_size;
        let count = self.source.program.workgroup_invocations();
        let by_themselves = self.source.frame.subgroups.is_some();
        let votes = count > 1 && self.segment.exits.len() > 1 && !by_themselves;
        let scratch = self.shared.scratch;
        let next = self.next;
        self.builder.switch_to_block(self.arrived);
        let code = self.builder.append_block_param(self.arrived, types::I32);
        self.note(code);
        let builder = &mut self.builder;
        if votes {
            let (first, other) = (builder.create_block(), builder.create_block());
            let disagreed = builder.create_block();
            builder
                .ins()
                .brif(self.invocation.index, other, &[], first, &[]);
            builder.switch_to_block(first);
            builder
                .ins()
                .store(plain(), code, scratch, offset32(head::FIRST));
            builder.ins().jump(next, &[]);
            builder.switch_to_block(other);
            let expected = builder
                .ins()
                .load(types::I32, plain(), scratch, offset32(head::FIRST));
            let same = builder.ins().icmp(IntCC::Equal, code, expected);
            builder.ins().brif(same, next, &[], disagreed, &[]);
            builder.switch_to_block(disagreed);
            builder.set_cold_block(disagreed);
            builder
                .ins()
                .store(plain(), code, scratch, offset32(head::OTHER));
            builder.ins().store(
                plain(),
                self.invocation.index,
                scratch,
                offset32(head::INVOCATION),
            );
            let result = builder
                .ins()
                .iconst(types::I32, i64::from(abi::DISAGREED.cast_signed()));
            builder.ins().return_(&[result]);
        } else {
            builder.ins().jump(next, &[]);
        }
        builder.switch_to_block(next);
        // Each went where it went; the codes that were noted say it.
        let code = match by_themselves {
            true => builder
                .ins()
                .iconst(types::I32, i64::from(abi::END.cast_signed())),
            false => code,
        };
        if count == 1 {
            builder.ins().return_(&[code]);
        } else {
            let step = self.source.lanes.step();
            let index = builder.ins().iadd_imm_u(self.invocation.index, step);
            // x runs fastest; a dimension that is full starts again and moves the next one on.
            let mut carried = step;
            let mut carry: Option<Value> = None;
            let mut arguments = vec![BlockArg::Value(index)];
            for (old, full_at) in self.invocation.local.into_iter().zip(size) {
                let moved = match carry {
                    None => builder.ins().iadd_imm_u(old, std::mem::take(&mut carried)),
                    Some(carry) => {
                        let carry = builder.ins().uextend(types::I32, carry);
                        builder.ins().iadd(old, carry)
                    }
                };
                let full = builder
                    .ins()
                    .icmp_imm_u(IntCC::Equal, moved, i64::from(full_at));
                let zero = builder.ins().iconst(types::I32, 0);
                let id = builder.ins().select(full, zero, moved);
                arguments.push(BlockArg::Value(id));
                carry = Some(full);
            }
            let more = builder
                .ins()
                .icmp_imm_u(IntCC::UnsignedLessThan, index, count as i64);
            let done = builder.create_block();
            builder.ins().brif(more, turn, &arguments, done, &[]);
            builder.switch_to_block(done);
            builder.ins().return_(&[code]);
        }
        builder.switch_to_block(self.stopped);
        builder.set_cold_block(self.stopped);
        let result = builder
            .ins()
            .iconst(types::I32, i64::from(abi::STOPPED.cast_signed()));
        builder.ins().return_(&[result]);
    }

    pub fn region_base(&mut self, region: Region) -> Value {
        match region {
            Region::Buffer(id) => self.shared.buffers[&id].0,
            Region::Workgroup(id) => self.frame_address(self.source.frame.workgroup(id)),
            Region::Private(id) => self.frame_address(self.source.frame.private(id)),
            Region::Immediates => self.shared.immediates,
            Region::Constant(id) => {
                let address = self.source.constants[id.index()];
                self.builder.ins().iconst(types::I64, address.cast_signed())
            }
        }
    }
}
