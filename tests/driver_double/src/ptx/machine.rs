//! Runs a grid: every access must hit something that is there, and everybody gets a turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::code::{Address, Instruction, Kernel, Kind, Space, Target};
use super::operand::{Operand, Special};
use super::{compute, quick, warp};
use crate::context;
use crate::entry::{ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, MISALIGNED_ADDRESS, SUCCESS};
use crate::fault::Tamper;
use crate::memory::{self, Allocation};

/// Instructions of one turn.
const TURN: usize = 4000;
/// Blocks that are there at once when they need not all be.
const AT_ONCE: usize = 64;
/// How long a grid rests in which everybody waits.
const REST: Duration = Duration::from_micros(20);

/// What ended a grid.
pub struct Fault {
    pub code: i32,
    pub what: String,
}

pub struct Launch {
    pub kernel: Arc<Kernel>,
    /// The module's variables, by number.
    pub variables: Vec<u64>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic: usize,
    pub parameters: Vec<u8>,
    pub cooperative: bool,
    pub tamper: Option<Tamper>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    /// Gives way until its block has its next turn.
    Yields,
    /// At the block's barrier.
    Waits,
    /// At an instruction of its warp.
    Joins,
    Done,
}

struct Thread {
    id: [u32; 3],
    pc: usize,
    state: State,
    /// Where the outcome of the vote goes that it takes part in, and its own part.
    vote: Option<(Target, bool)>,
}

struct Block {
    id: [u32; 3],
    shared: Vec<u8>,
    local: Vec<u8>,
    registers: Vec<u64>,
    threads: Vec<Thread>,
}

struct Machine<'l> {
    launch: &'l Launch,
    /// What was hit so far, the last hit first.
    seen: Vec<Arc<Allocation>>,
    /// The word that the first arrival at a barrier of the grid was counted in.
    word: Option<u64>,
    lost: bool,
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// All ids below `size`, x fastest.
fn id(n: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
}

/// An access to the device's memory is one, also among streams.
static ATOMIC: Mutex<()> = Mutex::new(());

fn atomically() -> MutexGuard<'static, ()> {
    ATOMIC.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn run(launch: &Launch) -> Result<(), Fault> {
    let mut machine = Machine {
        launch,
        seen: Vec::new(),
        word: None,
        lost: false,
    };
    let total: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
    let at_once = match launch.cooperative {
        true => total as usize,
        false => AT_ONCE.min(total as usize),
    };
    let mut next = at_once as u64;
    let mut blocks: Vec<Block> = (0..next).map(|n| machine.block(n)).collect();
    let epoch = context::epoch();
    while !blocks.is_empty() {
        // A context that ends takes its kernels along.
        if context::sticky() != SUCCESS || context::epoch() != epoch {
            return Ok(());
        }
        let mut moved = false;
        let mut at = 0;
        while at < blocks.len() {
            moved |= machine.turn(&mut blocks[at])?;
            let is_done = (blocks[at].threads.iter()).all(|thread| thread.state == State::Done);
            if !is_done {
                at += 1;
            } else if next < total {
                machine.begin(&mut blocks[at], next);
                next += 1;
                moved = true;
            } else {
                blocks.swap_remove(at);
                moved = true;
            }
        }
        if !moved {
            std::thread::sleep(REST);
        }
    }
    machine.spoil();
    Ok(())
}

impl Machine<'_> {
    fn block(&self, n: u64) -> Block {
        let kernel = &*self.launch.kernel;
        let count = self.launch.block.iter().product::<u32>() as usize;
        let mut block = Block {
            id: [0; 3],
            shared: vec![0; kernel.shared + self.launch.dynamic],
            local: vec![0; kernel.local * count],
            registers: vec![0; kernel.registers * count],
            threads: Vec::with_capacity(count),
        };
        self.begin(&mut block, n);
        block
    }

    fn begin(&self, block: &mut Block, n: u64) {
        let size = self.launch.block;
        block.id = id(n, self.launch.grid);
        // What was never written is recognisable.
        block.shared.fill(0xa5);
        block.local.fill(0xa5);
        block.registers.fill(0xdead_beef_dead_beef);
        block.threads.clear();
        block
            .threads
            .extend((0..size.iter().product::<u32>()).map(|n| Thread {
                id: id(n.into(), size),
                pc: 0,
                state: State::Runs,
                vote: None,
            }));
    }

    /// Lets a block go on until all of it waits; whether any of it did more than wait.
    fn turn(&mut self, block: &mut Block) -> Result<bool, Fault> {
        let mut moved = false;
        for thread in &mut block.threads {
            if thread.state == State::Yields {
                thread.state = State::Runs;
            }
        }
        loop {
            for at in 0..block.threads.len() {
                if block.threads[at].state == State::Runs {
                    moved |= self.go(block, at)?;
                }
            }
            let mut goes_on = false;
            for start in (0..block.threads.len()).step_by(32) {
                goes_on |= self.meet(block, start)?;
            }
            goes_on |= self.release(block);
            moved |= goes_on;
            if !goes_on {
                return Ok(moved);
            }
        }
    }

    /// The barrier lets everybody go if all that are not done stand at it.
    fn release(&self, block: &mut Block) -> bool {
        let threads = &mut block.threads;
        let is_stopped = |thread: &Thread| matches!(thread.state, State::Done | State::Waits);
        if !threads.iter().all(is_stopped) || threads.iter().all(|t| t.state == State::Done) {
            return false;
        }
        let any = threads
            .iter()
            .any(|thread| matches!(thread.vote, Some((_, true))));
        let per_thread = self.launch.kernel.registers;
        for (at, thread) in threads.iter_mut().enumerate() {
            if thread.state == State::Waits {
                thread.state = State::Runs;
            }
            if let Some((to, _)) = thread.vote.take() {
                block.registers[at * per_thread + to.register as usize] = any.into();
            }
        }
        true
    }

    /// Of the warp's threads that stand at instructions of the warp, those at the first one go on: branches
    /// that part are joined behind both.
    fn meet(&mut self, block: &mut Block, start: usize) -> Result<bool, Fault> {
        let end = block.threads.len().min(start + 32);
        let threads = &block.threads[start..end];
        if threads
            .iter()
            .any(|thread| matches!(thread.state, State::Runs | State::Yields))
        {
            return Ok(false);
        }
        let joining = threads.iter().filter(|thread| thread.state == State::Joins);
        let Some(pc) = joining.map(|thread| thread.pc).min() else {
            return Ok(false);
        };
        let kernel = Arc::clone(&self.launch.kernel);
        let instruction = &kernel.code[pc];
        let Kind::Warp { op, target, args } = &instruction.kind else {
            return Err(self.fault(ILLEGAL_INSTRUCTION, instruction, "not of a warp"));
        };
        let all: Vec<Option<Vec<u64>>> = (start..end)
            .map(|at| {
                let thread = &block.threads[at];
                let is_here = thread.state == State::Joins && thread.pc == pc;
                let registers = &block.registers[at * kernel.registers..][..kernel.registers];
                is_here.then(|| {
                    let value = |arg: &Operand| self.value(*arg, block.id, thread.id, registers);
                    args.iter().map(value).collect()
                })
            })
            .collect();
        let results = warp::together(op, &all);
        for (at, result) in (start..end).zip(results) {
            if let Some(result) = result {
                if let Some(target) = target {
                    block.registers[at * kernel.registers + target.register as usize] =
                        result & target.mask;
                }
                block.threads[at].state = State::Runs;
                block.threads[at].pc += 1;
            }
        }
        Ok(true)
    }

    fn value(&self, operand: Operand, block: [u32; 3], thread: [u32; 3], registers: &[u64]) -> u64 {
        match operand {
            Operand::Register(register) => registers[register as usize],
            Operand::Value(value) => value,
            Operand::Variable(number) => self.launch.variables[number as usize],
            Operand::Dynamic => self.launch.kernel.shared as u64,
            Operand::Special(special) => {
                let [x, y, _] = self.launch.block;
                match special {
                    Special::Thread(axis) => thread[axis].into(),
                    Special::Block(axis) => block[axis].into(),
                    Special::Threads(axis) => self.launch.block[axis].into(),
                    Special::Blocks(axis) => self.launch.grid[axis].into(),
                    Special::Lane => ((thread[2] * y + thread[1]) * x + thread[0]) as u64 % 32,
                    Special::Clock => START.elapsed().as_nanos() as u64 + 1,
                }
            }
        }
    }

    #[cold]
    fn fault(&self, code: i32, instruction: &Instruction, what: &str) -> Fault {
        Fault {
            code,
            what: format!(
                "`{}`, line {}: {what}",
                self.launch.kernel.name, instruction.line
            ),
        }
    }

    /// The invocation's turn; whether it did more than look for something.
    fn go(&mut self, block: &mut Block, at: usize) -> Result<bool, Fault> {
        let kernel = &*self.launch.kernel;
        let Block {
            id,
            shared,
            local,
            registers,
            threads,
        } = block;
        let registers = &mut registers[at * kernel.registers..][..kernel.registers];
        let local = &mut local[at * kernel.local..][..kernel.local];
        let thread = &mut threads[at];
        let (block, own) = (*id, thread.id);
        let mut pc = thread.pc;
        let mut moved = true;
        for turn in 0..TURN {
            let instruction = &kernel.code[pc];
            pc += 1;
            if let Some((guard, when)) = instruction.guard
                && (registers[guard as usize] & 1 == 1) != when
            {
                continue;
            }
            let value = |machine: &Self, operand: Operand, registers: &[u64]| match operand {
                Operand::Register(register) => registers[register as usize],
                Operand::Value(value) => value,
                other => machine.value(other, block, own, registers),
            };
            match &instruction.kind {
                Kind::Quick { op, target, args } => {
                    // Not by `map`, which is not inlined.
                    let args = [
                        value(self, args[0], registers),
                        value(self, args[1], registers),
                        value(self, args[2], registers),
                    ];
                    registers[target.register as usize] = quick::compute(*op, args) & target.mask;
                }
                Kind::Branch(to) => pc = *to,
                Kind::End => {
                    thread.state = State::Done;
                    break;
                }
                Kind::Barrier(vote) => {
                    thread.state = State::Waits;
                    thread.vote =
                        vote.map(|(target, own)| (target, value(self, own, registers) & 1 == 1));
                    break;
                }
                Kind::Warp { .. } => {
                    // It stays here until its warp has come.
                    pc -= 1;
                    thread.state = State::Joins;
                    break;
                }
                Kind::Nothing => {}
                Kind::Compute { op, target, args } => {
                    let args: Vec<u64> = args
                        .iter()
                        .map(|&arg| value(self, arg, registers))
                        .collect();
                    registers[target.register as usize] = compute::compute(op, &args) & target.mask;
                }
                Kind::Load {
                    targets,
                    from,
                    waits,
                    reports,
                } => {
                    let place = value(self, from.base, registers).wrapping_add(from.offset);
                    let size = from.size * targets.len();
                    let bytes = self.place(instruction, from, place, size, shared, local)?;
                    for (n, target) in targets.iter().enumerate() {
                        let found = read(bytes.wrapping_add(n * from.size), from.size, from.space);
                        registers[target.register as usize] = found & target.mask;
                    }
                    if *reports && self.word == Some(place) {
                        let target = targets[0];
                        let found = &mut registers[target.register as usize];
                        *found = found.wrapping_add(self.slip()) & target.mask;
                    }
                    if *waits {
                        thread.state = State::Yields;
                        moved = turn > 16;
                        break;
                    }
                }
                Kind::Store { to, values } => {
                    let place = value(self, to.base, registers).wrapping_add(to.offset);
                    let size = to.size * values.len();
                    let bytes = self.place(instruction, to, place, size, shared, local)?;
                    for (n, &from) in values.iter().enumerate() {
                        let new = value(self, from, registers);
                        write(bytes.wrapping_add(n * to.size), to.size, to.space, new);
                    }
                }
                Kind::Atomic {
                    target,
                    at,
                    op,
                    values,
                    arrives,
                } => {
                    let place = value(self, at.base, registers).wrapping_add(at.offset);
                    let mut given = [0; 2];
                    for (to, &from) in given.iter_mut().zip(values) {
                        *to = value(self, from, registers);
                    }
                    let bytes = self.place(instruction, at, place, at.size, shared, local)?;
                    let is_lost = *arrives && self.arrival(place, bytes, block);
                    let guard = (at.space == Space::Global).then(atomically);
                    let old = read(bytes, at.size, at.space);
                    let new = match op[0] {
                        _ if is_lost => old,
                        "exch" => given[0],
                        "cas" if old == given[0] & mask(at.size) => given[1],
                        "cas" => old,
                        _ => compute::compute(op, &[old, given[0]]),
                    };
                    write(bytes, at.size, at.space, new);
                    drop(guard);
                    if let Some(target) = target {
                        registers[target.register as usize] = old & target.mask;
                    }
                }
            }
        }
        thread.pc = pc;
        Ok(moved)
    }

    /// What an access hits.
    fn place(
        &mut self,
        instruction: &Instruction,
        address: &Address,
        at: u64,
        size: usize,
        shared: &mut [u8],
        local: &mut [u8],
    ) -> Result<*mut u8, Fault> {
        if !at.is_multiple_of(size.max(1) as u64) {
            let what = format!("{at:#x} is misaligned for {size} bytes");
            return Err(self.fault(MISALIGNED_ADDRESS, instruction, &what));
        }
        let within = |bytes: *mut u8, room: usize| {
            let fits = at
                .checked_add(size as u64)
                .is_some_and(|end| end <= room as u64);
            fits.then(|| bytes.wrapping_add(at as usize))
        };
        let found = match address.space {
            Space::Shared => within(shared.as_mut_ptr(), shared.len()),
            Space::Local => within(local.as_mut_ptr(), local.len()),
            Space::Param => {
                let parameters = &self.launch.parameters;
                within(parameters.as_ptr().cast_mut(), parameters.len())
            }
            Space::Global => self.global(at, size),
        };
        found.ok_or_else(|| {
            let what = format!(
                "{size} bytes at {at:#x} of {:?} memory are not there",
                address.space
            );
            self.fault(ILLEGAL_ADDRESS, instruction, &what)
        })
    }

    fn global(&mut self, at: u64, size: usize) -> Option<*mut u8> {
        let end = at.checked_add(size as u64)?;
        let is_in = |found: &Arc<Allocation>| found.start <= at && end <= found.end();
        let known = match self.seen.iter().position(is_in) {
            Some(0) => 0,
            Some(n) => {
                self.seen.swap(0, n);
                0
            }
            None => {
                let (found, _) = memory::range(at, size)?;
                self.seen.insert(0, found);
                0
            }
        };
        Some(self.seen[known].at(at))
    }

    /// A block's arrival at a barrier of the grid; whether it is lost.
    #[inline]
    fn arrival(&mut self, place: u64, bytes: *mut u8, block: [u32; 3]) -> bool {
        let Some(tamper) = self.launch.tamper else {
            return false;
        };
        if self.word.is_none() {
            self.word = Some(place);
            if tamper == Tamper::Stale {
                let _guard = atomically();
                let blocks = self.launch.grid.iter().product::<u32>();
                let old = read(bytes, 4, Space::Global);
                write(bytes, 4, Space::Global, old.wrapping_add(blocks.into()));
            }
        }
        let [x, y, z] = self.launch.grid;
        let is_last = block == [x - 1, y - 1, z - 1];
        let is_lost = tamper == Tamper::Partial && is_last && !self.lost;
        self.lost |= is_lost;
        is_lost
    }

    /// How far off the barrier's word is when it is reported.
    fn slip(&self) -> u64 {
        match self.launch.tamper {
            Some(Tamper::Short) => u64::MAX,
            Some(Tamper::Extra) => 1,
            _ => 0,
        }
    }

    /// Leaves the barrier's word as it was reported.
    fn spoil(&mut self) {
        if let Some(word) = self.word
            && let Some(bytes) = self.global(word, 4)
        {
            let _guard = atomically();
            let old = read(bytes, 4, Space::Global);
            write(bytes, 4, Space::Global, old.wrapping_add(self.slip()));
        }
    }
}

fn mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

/// `at` is aligned, and has so many bytes.
fn read(at: *mut u8, size: usize, space: Space) -> u64 {
    if space != Space::Global {
        let mut bytes = [0; 8];
        // SAFETY: the bytes are there, and this thread's alone.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(at, size) };
        return u64::from_le_bytes(bytes);
    }
    // SAFETY: the bytes are there and aligned; whoever else uses them does so by whole words, too.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(at).load(SeqCst).into(),
            2 => AtomicU16::from_ptr(at.cast()).load(SeqCst).into(),
            4 => AtomicU32::from_ptr(at.cast()).load(SeqCst).into(),
            _ => AtomicU64::from_ptr(at.cast()).load(SeqCst),
        }
    }
}

/// As [`read`].
fn write(at: *mut u8, size: usize, space: Space, value: u64) {
    use std::sync::atomic::Ordering::Release;
    if space != Space::Global {
        // SAFETY: as in `read`.
        unsafe { at.copy_from_nonoverlapping(value.to_le_bytes().as_ptr(), size) };
        return;
    }
    // SAFETY: as in `read`.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(at).store(value as u8, Release),
            2 => AtomicU16::from_ptr(at.cast()).store(value as u16, Release),
            4 => AtomicU32::from_ptr(at.cast()).store(value as u32, Release),
            _ => AtomicU64::from_ptr(at.cast()).store(value, Release),
        }
    }
}
