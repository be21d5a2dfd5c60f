//! Runs an emitted kernel, invocation by invocation: every access must hit something that was given,
//! and everybody gets a turn, so that barriers are met as on a GPU.

use super::compute::{compute, width};
use super::decode::{self, Arg, Instruction, Module};
use super::warp;

use vyre::cuda::ptx::Ptx;
use vyre::cuda::ptx::abi::{GROUPS, Shape, record, slot};

/// Instructions of one turn.
const TURN: usize = 500;
/// Turns after which a kernel counts as hung.
const PATIENCE: usize = 3_000;

/// Pieces of the global address space.
struct Piece {
    start: u64,
    bytes: Vec<u8>,
}

pub struct Launch<'a> {
    pub workgroup_size: [u32; 3],
    pub workgroups: [u32; 3],
    /// Bytes of each buffer and the length of its runtime-sized array.
    pub buffers: &'a mut [(Vec<u8>, u32)],
    pub immediates: &'a [u8],
    pub base: u32,
    pub exit_base: u32,
    pub sequence: u32,
    pub quiet: bool,
    pub shape: Shape,
    /// The groups' counts before the launch.
    pub arrivals: [u32; GROUPS as usize],
    pub releases: u32,
    pub limit: u64,
    /// The abort word before the launch.
    pub abort: u32,
}

/// What the slot and the record hold afterwards.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub counter: u32,
    pub abort: u32,
    pub executed: u32,
    pub observed: u32,
    pub sequence: u32,
    pub aborted: u32,
    pub ended: u32,
    pub arrivals: [u32; GROUPS as usize],
    pub releases: [u32; GROUPS as usize],
}

struct Thread {
    id: [u32; 3],
    pc: usize,
    registers: [Vec<u64>; 4],
    local: Vec<u8>,
    waits: bool,
    /// Where the outcome of the vote goes that it takes part in, and its own part.
    vote: Option<(Arg, bool)>,
    /// Stands at an instruction of its warp.
    joins: bool,
    done: bool,
}

impl Thread {
    fn is_stopped(&self) -> bool {
        self.done || self.waits || self.joins
    }
}

struct Group {
    id: [u32; 3],
    shared: Vec<u8>,
    threads: Vec<Thread>,
}

struct Machine<'m> {
    module: &'m Module,
    pieces: Vec<Piece>,
    parameters: Vec<u8>,
    clock: u64,
}

/// All ids below `size`, x fastest.
fn ids(size: [u32; 3]) -> Vec<[u32; 3]> {
    let [x, y, z] = size;
    (0..x * y * z)
        .map(|i| [i % x, i / x % y, i / x / y])
        .collect()
}

/// Where each variable starts: at multiples of 16.
fn places(variables: &[(String, usize)], name: &str) -> Option<usize> {
    let at = variables.iter().position(|(n, _)| n == name)?;
    Some(
        variables[..at]
            .iter()
            .map(|(_, size)| size.next_multiple_of(16))
            .sum(),
    )
}

pub fn run(ptx: &Ptx, launch: &mut Launch<'_>) -> Outcome {
    let mut module = decode::module(&ptx.text);
    // Last, so that it may be as large as the launch says.
    module
        .shared
        .sort_by_key(|(name, _)| name == "vyre_workgroup");
    let layout = &ptx.parameters;
    let mut machine = Machine {
        module: &module,
        pieces: Vec::new(),
        parameters: vec![0; layout.size as usize],
        clock: 1,
    };
    for (i, axis) in launch.workgroups.iter().enumerate() {
        machine.parameter(layout.workgroups + 4 * i as u32, &axis.to_le_bytes());
    }
    machine.parameter(layout.immediates, launch.immediates);
    let count = launch.buffers.len();
    for (at, (bytes, length)) in layout.buffers.iter().zip(launch.buffers.iter()) {
        let start = machine.give(bytes.clone());
        machine.parameter(at.base, &start.to_le_bytes());
        machine.parameter(at.length, &length.to_le_bytes());
    }
    let mut words = vec![0; slot::SIZE as usize];
    words[slot::COUNTER as usize..][..4].copy_from_slice(&launch.base.to_le_bytes());
    words[slot::EXIT as usize..][..4].copy_from_slice(&launch.exit_base.to_le_bytes());
    words[slot::ABORT as usize..][..4].copy_from_slice(&launch.abort.to_le_bytes());
    for (group, count) in launch.arrivals.iter().enumerate() {
        let own = (slot::GROUPS + group as u32 * slot::GROUP_STRIDE) as usize;
        words[own + slot::ARRIVALS as usize..][..4].copy_from_slice(&count.to_le_bytes());
        words[own + slot::RELEASES as usize..][..4].copy_from_slice(&launch.releases.to_le_bytes());
    }
    let at_slot = machine.give(words);
    let at_record = machine.give(vec![0; record::SIZE as usize]);
    if let Some(control) = layout.control {
        machine.parameter(control.slot, &at_slot.to_le_bytes());
        machine.parameter(control.record, &at_record.to_le_bytes());
        machine.parameter(control.limit, &launch.limit.to_le_bytes());
        machine.parameter(control.base, &launch.base.to_le_bytes());
        machine.parameter(control.exit_base, &launch.exit_base.to_le_bytes());
        machine.parameter(control.sequence, &launch.sequence.to_le_bytes());
        machine.parameter(control.quiet, &u32::from(launch.quiet).to_le_bytes());
        machine.parameter(control.shape, &(launch.shape as u32).to_le_bytes());
        machine.parameter(control.releases, &launch.releases.to_le_bytes());
        for (group, count) in (0..).zip(launch.arrivals) {
            machine.parameter(control.arrivals + 4 * group, &count.to_le_bytes());
        }
    }
    for (_, bytes) in &module.constants {
        machine.give(bytes.clone());
    }
    let shared: usize = module
        .shared
        .iter()
        .map(|(_, size)| size.next_multiple_of(16))
        .sum();
    let local: usize = module
        .local
        .iter()
        .map(|(_, size)| size.next_multiple_of(16))
        .sum();
    let threads = || {
        ids(launch.workgroup_size).into_iter().map(|id| Thread {
            id,
            pc: 0,
            // What was never written is recognisable.
            registers: module.registers.map(|n| vec![0xdead_beef_dead_beef; n]),
            local: vec![0xa5; local],
            waits: false,
            vote: None,
            joins: false,
            done: false,
        })
    };
    let mut groups: Vec<Group> = (ids(launch.workgroups).into_iter())
        .map(|id| Group {
            id,
            shared: vec![0xa5; shared + ptx.shared.dynamic as usize],
            threads: threads().collect(),
        })
        .collect();
    machine.run(&mut groups);
    for (i, (bytes, _)) in launch.buffers.iter_mut().enumerate() {
        *bytes = machine.pieces[i].bytes.clone();
    }
    let word = |piece: usize, at: u32| {
        let bytes = &machine.pieces[piece].bytes[at as usize..][..4];
        u32::from_le_bytes(bytes.try_into().expect("4 bytes"))
    };
    let [sequence, second, third] = record::SEQUENCED.map(|at| word(count + 1, at + 4));
    assert_eq!(
        [second, third],
        [sequence; 2],
        "all of the record or nothing"
    );
    Outcome {
        counter: word(count, slot::COUNTER),
        abort: word(count, slot::ABORT),
        executed: word(count + 1, record::EXECUTED),
        observed: word(count + 1, record::OBSERVED),
        sequence,
        aborted: word(count + 1, record::ABORTED),
        ended: word(count + 1, record::ENDED),
        arrivals: std::array::from_fn(|at| word(count + 1, record::ARRIVALS + 4 * at as u32)),
        releases: std::array::from_fn(|at| word(count + 1, record::RELEASES + 4 * at as u32)),
    }
}

impl Machine<'_> {
    /// Places bytes far from all others.
    fn give(&mut self, bytes: Vec<u8>) -> u64 {
        let start = (self.pieces.len() as u64 + 1) << 32;
        self.pieces.push(Piece { start, bytes });
        start
    }

    fn parameter(&mut self, at: u32, bytes: &[u8]) {
        self.parameters[at as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    fn run(&mut self, groups: &mut [Group]) {
        for _ in 0..PATIENCE {
            let mut running = false;
            for group in groups.iter_mut() {
                let mut threads = std::mem::take(&mut group.threads);
                for thread in &mut threads {
                    for _ in 0..TURN {
                        if thread.is_stopped() {
                            break;
                        }
                        self.step(thread, group);
                    }
                    running |= !thread.done;
                }
                for warp in threads.chunks_mut(32) {
                    if warp.iter().all(Thread::is_stopped) {
                        self.meet(warp, group);
                    }
                }
                if threads.iter().all(|thread| thread.done || thread.waits) {
                    let any = (threads.iter()).any(|t| matches!(t.vote, Some((_, true))));
                    for thread in &mut threads {
                        thread.waits = false;
                        if let Some((to, _)) = thread.vote.take() {
                            set(thread, &to, any.into());
                        }
                    }
                }
                group.threads = threads;
            }
            if !running {
                return;
            }
        }
        panic!("the kernel hangs");
    }

    fn step(&mut self, thread: &mut Thread, group: &mut Group) {
        let module = self.module;
        let instruction = &module.code[thread.pc];
        thread.pc += 1;
        self.clock += 1;
        if let Some((guard, when)) = instruction.guard
            && (thread.registers[0][guard] & 1 == 1) != when
        {
            return;
        }
        let op: Vec<&str> = instruction.op.iter().map(String::as_str).collect();
        match op[0] {
            "bra" => match &instruction.args[0] {
                Arg::Symbol(label) => thread.pc = module.labels[label],
                other => panic!("a branch to {other:?}"),
            },
            "ret" | "exit" => thread.done = true,
            "bar" | "barrier" if op[1] != "warp" => {
                thread.waits = true;
                if op[1] == "red" {
                    assert_eq!(op[2..], ["or", "pred"]);
                    let own = self.value(&instruction.args[2], thread, group) & 1 == 1;
                    thread.vote = Some((instruction.args[0].clone(), own));
                }
            }
            "bar" | "shfl" | "vote" | "redux" | "activemask" => {
                // It stays here until its warp has come.
                thread.pc -= 1;
                thread.joins = true;
            }
            "fence" => {}
            "ld" | "st" | "atom" | "red" => self.access(&op, instruction, thread, group),
            _ => {
                let mut args: Vec<u64> = (instruction.args[1..].iter())
                    .map(|arg| self.value(arg, thread, group))
                    .collect();
                // The address spaces are one here.
                let op = if op[0] == "cvta" {
                    vec!["mov", "b64"]
                } else {
                    op
                };
                if op[0] == "mul" && op[1] == "wide" {
                    args.iter_mut().for_each(|x| *x &= 0xffff_ffff);
                }
                let result = compute(&op, &args);
                set(thread, &instruction.args[0], result);
            }
        }
    }

    /// Of the warp's threads that stand at instructions of the warp, those at the first one go on: branches
    /// that part are joined behind both.
    fn meet(&mut self, warp: &mut [Thread], group: &mut Group) {
        let joining = warp.iter().filter(|thread| thread.joins);
        let Some(pc) = joining.map(|thread| thread.pc).min() else {
            return;
        };
        let instruction = &self.module.code[pc];
        assert!(
            instruction.guard.is_none(),
            "a guarded {:?}",
            instruction.op
        );
        let is_here = |thread: &Thread| thread.joins && thread.pc == pc;
        let op: Vec<&str> = instruction.op.iter().map(String::as_str).collect();
        let first = if op[0] == "bar" { 0 } else { 1 };
        let args: Vec<Option<Vec<u64>>> = (warp.iter())
            .map(|thread| {
                let args = instruction.args.iter().skip(first);
                let values = || args.map(|arg| self.value(arg, thread, group)).collect();
                is_here(thread).then(values)
            })
            .collect();
        let results = warp::together(&op, &args);
        for (thread, result) in warp.iter_mut().zip(results) {
            if let Some(result) = result {
                if first == 1 {
                    set(thread, &instruction.args[0], result);
                }
                thread.joins = false;
                thread.pc += 1;
            }
        }
    }

    fn value(&self, arg: &Arg, thread: &Thread, group: &Group) -> u64 {
        match arg {
            Arg::Reg(class, number) => thread.registers[*class][*number],
            Arg::Imm(bits) => *bits,
            Arg::Special(name) if name == "globaltimer" => self.clock,
            Arg::Special(name) => {
                let (what, axis) = name.split_once('.').expect("an axis");
                let axis = ["x", "y", "z"]
                    .iter()
                    .position(|&a| a == axis)
                    .expect("an axis");
                match what {
                    "tid" => thread.id[axis].into(),
                    "ctaid" => group.id[axis].into(),
                    _ => panic!("what is {name}?"),
                }
            }
            Arg::Symbol(name) if name == "vyre_arguments" => 0,
            Arg::Symbol(name) => {
                if let Some(at) = self.module.constants.iter().position(|(n, _)| n == name) {
                    let first = self.pieces.len() - self.module.constants.len();
                    return self.pieces[first + at].start;
                }
                (places(&self.module.shared, name).or(places(&self.module.local, name)))
                    .unwrap_or_else(|| panic!("what is {name}?")) as u64
            }
            // Two halves in one register, the low one first.
            Arg::List(halves) if halves.len() == 2 => {
                let [low, high] = [0, 1].map(|half| self.value(&halves[half], thread, group));
                low & u64::from(u32::MAX) | high << 32
            }
            other => panic!("{other:?} is no value"),
        }
    }

    fn bytes<'b>(
        &'b mut self,
        space: &str,
        address: u64,
        size: usize,
        thread: &'b mut Thread,
        group: &'b mut Group,
    ) -> &'b mut [u8] {
        assert_eq!(
            address % size as u64,
            0,
            "{address:#x} is misaligned for {size} bytes"
        );
        let (bytes, at) = match space {
            "shared" => (&mut group.shared, address),
            "local" => (&mut thread.local, address),
            "param" => (&mut self.parameters, address),
            _ => {
                let piece = (self.pieces.iter_mut())
                    .find(|p| (p.start..p.start + p.bytes.len() as u64).contains(&address))
                    .unwrap_or_else(|| panic!("nothing is at {address:#x}"));
                (&mut piece.bytes, address - piece.start)
            }
        };
        bytes
            .get_mut(at as usize..at as usize + size)
            .expect("an access within its memory")
    }

    fn access(
        &mut self,
        op: &[&str],
        instruction: &Instruction,
        thread: &mut Thread,
        group: &mut Group,
    ) {
        let space = *(op.iter())
            .find(|part| ["global", "shared", "local", "param"].contains(part))
            .expect("a space");
        let bits = width(op[op.len() - 1]);
        let size = (bits / 8) as usize;
        let is_memory = |arg: &&Arg| matches!(arg, Arg::Memory(..));
        let Some(Arg::Memory(base, offset)) = instruction.args.iter().find(is_memory) else {
            panic!("{op:?} without an address");
        };
        let address = self.value(base, thread, group).wrapping_add(*offset);
        let args = &instruction.args;
        let list = |arg: &Arg| match arg {
            Arg::List(items) => items.clone(),
            one => vec![one.clone()],
        };
        match op[0] {
            "ld" => {
                let targets = list(&args[0]);
                let all = self
                    .bytes(space, address, size * targets.len(), thread, group)
                    .to_vec();
                for (target, bytes) in targets.iter().zip(all.chunks(size)) {
                    set(thread, target, number(bytes));
                }
            }
            "st" => {
                let items = list(&args[1]);
                let values: Vec<u64> = items.iter().map(|a| self.value(a, thread, group)).collect();
                let to = self.bytes(space, address, size * values.len(), thread, group);
                for (to, value) in to.chunks_mut(size).zip(values) {
                    to.copy_from_slice(&value.to_le_bytes()[..size]);
                }
            }
            kind => {
                let first = if kind == "atom" { 2 } else { 1 };
                let values: Vec<u64> = (args[first..].iter())
                    .map(|arg| self.value(arg, thread, group))
                    .collect();
                let to = self.bytes(space, address, size, thread, group);
                let old = number(to);
                let names = ["add", "and", "or", "xor", "min", "max", "exch", "cas"];
                let name = *op
                    .iter()
                    .find(|part| names.contains(part))
                    .expect("an operation");
                let new = match name {
                    "exch" => values[0],
                    "cas" => {
                        if old == values[0] {
                            values[1]
                        } else {
                            old
                        }
                    }
                    name => compute(&[name, op[op.len() - 1]], &[old, values[0]]),
                };
                to.copy_from_slice(&new.to_le_bytes()[..size]);
                if kind == "atom" {
                    set(thread, &args[0], old);
                }
            }
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |all, &byte| all << 8 | u64::from(byte))
}

fn set(thread: &mut Thread, to: &Arg, value: u64) {
    match to {
        Arg::Reg(class, number) => {
            let mask = [1, 0xffff, 0xffff_ffff, u64::MAX][*class];
            thread.registers[*class][*number] = value & mask;
        }
        other => panic!("{other:?} cannot be written"),
    }
}
