//! Modules and their functions, and the machine that they run on.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::context;
use crate::entry::{
    COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_HANDLE, INVALID_PTX, INVALID_VALUE, NO_BINARY_FOR_GPU,
    OUT_OF_MEMORY, UNSUPPORTED_PTX_VERSION,
};
use crate::fault::{self, Effect};
use crate::handles::Table;
use crate::memory::{self, Kind};
use crate::ptx::code::{Kernel, Module as Code};
use crate::ptx::machine::{self, Launch};
use crate::ptx::parse::{Complaint, parse};
use crate::stream::STREAMS;

/// The device: an H200's numbers.
pub const VERSION: i32 = 13050;
pub const COMPUTE_CAPABILITY: u32 = 90;
pub const MULTIPROCESSORS: u32 = 132;
pub const THREADS: u32 = 2048;
pub const BLOCKS: u32 = 32;
pub const BLOCK_THREADS: u32 = 1024;
pub const REGISTERS: u32 = 65536;
pub const SHARED: u32 = 228 << 10;
pub const SHARED_MOST: u32 = 227 << 10;
pub const SHARED_FIXED: u32 = 48 << 10;
/// What the driver takes for itself from each block's.
const SHARED_OWN: u32 = 1 << 10;
/// Of one invocation, whatever the kernel.
pub const REGISTERS_EACH: u32 = 32;
/// The newest PTX that it knows.
const NEWEST_PTX: (u32, u32) = (9, 5);

pub static MODULES: Table<Module> = Table::new("module", 0xd0);
pub static FUNCTIONS: Table<Function> = Table::new("function", 0xf0);

pub struct Module {
    kernels: Vec<Arc<Kernel>>,
    /// Address and size.
    pub variables: HashMap<String, (u64, usize)>,
    by_number: Vec<u64>,
}

pub struct Function {
    /// The module's handle.
    pub module: usize,
    pub kernel: Arc<Kernel>,
    variables: Vec<u64>,
    pub dynamic_most: AtomicU32,
}

/// Assembles text, or says why not.
pub fn load(text: &str) -> Result<Module, (i32, String)> {
    let complain = |Complaint { line, what }| {
        let log = format!("ptxas application ptx input, line {line}; error   : {what}\n");
        (INVALID_PTX, log)
    };
    let parsed = parse(text).map_err(complain)?;
    if parsed.version > NEWEST_PTX {
        let (major, minor) = parsed.version;
        let log = format!(
            "ptxas application ptx input, line 1; fatal   : Unsupported .version {major}.{minor}\n"
        );
        return Err((UNSUPPORTED_PTX_VERSION, log));
    }
    if parsed.target > COMPUTE_CAPABILITY {
        return Err((NO_BINARY_FOR_GPU, String::new()));
    }
    let Code { kernels, variables } = parsed.module;
    let mut places = HashMap::new();
    for (name, variable) in variables {
        let out = |code| (code, String::new());
        let address = memory::allocate(variable.size, Kind::Variable).map_err(out)?;
        let Some((_kept, to)) = memory::range(address, variable.size) else {
            return Err(out(OUT_OF_MEMORY));
        };
        // SAFETY: it was just allocated with this size, and its bytes are as many.
        unsafe { memory::copy(to, variable.bytes.as_ptr(), variable.size) };
        places.insert(name, (address, variable.size));
    }
    Ok(Module {
        by_number: parsed.names.iter().map(|name| places[name].0).collect(),
        kernels: kernels.into_iter().map(Arc::new).collect(),
        variables: places,
    })
}

impl Module {
    pub fn function(&self, handle: usize, name: &str) -> Option<Function> {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == name)?;
        Some(Function {
            module: handle,
            kernel: Arc::clone(kernel),
            variables: self.by_number.clone(),
            dynamic_most: AtomicU32::new(SHARED_FIXED.saturating_sub(kernel.shared as u32)),
        })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        for (address, _) in self.variables.values() {
            // They are gone already if the context is.
            if memory::find(*address).is_some() {
                let _ = memory::free(*address, |kind| kind == Kind::Variable);
            }
        }
    }
}

impl Function {
    /// Blocks that one multiprocessor holds at once.
    pub fn occupancy(&self, threads: u32, dynamic: u32) -> u32 {
        let threads = threads.next_multiple_of(32).max(32);
        let shared = self.kernel.shared as u32 + dynamic + SHARED_OWN;
        if shared > SHARED_MOST + SHARED_OWN || threads > BLOCK_THREADS {
            return 0;
        }
        BLOCKS
            .min(THREADS / threads)
            .min(REGISTERS / (REGISTERS_EACH * threads))
            .min(SHARED / shared)
    }

    /// Puts a run of a grid on a stream; a CUresult if it is refused.
    pub fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic: u32,
        stream: usize,
        parameters: *mut *mut u8,
        cooperative: bool,
    ) -> Result<(), i32> {
        if MODULES.get(self.module).is_none() {
            return Err(INVALID_HANDLE);
        }
        let stream = STREAMS.get(stream).ok_or(INVALID_HANDLE)?;
        let threads = block.iter().map(|&n| u64::from(n)).product::<u64>();
        let is_wrong = (grid.iter().chain(&block)).any(|&n| n == 0)
            || threads > u64::from(BLOCK_THREADS)
            || self
                .kernel
                .required
                .is_some_and(|required| required != block)
            || dynamic > self.dynamic_most.load(SeqCst);
        if is_wrong {
            return Err(INVALID_VALUE);
        }
        let blocks = grid.iter().map(|&n| u64::from(n)).product::<u64>();
        let most = u64::from(self.occupancy(threads as u32, dynamic) * MULTIPROCESSORS);
        if cooperative && blocks > most {
            return Err(COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        let mut launch = Launch {
            kernel: Arc::clone(&self.kernel),
            variables: self.variables.clone(),
            grid,
            block,
            dynamic: dynamic as usize,
            parameters: vec![0; self.kernel.parameter_bytes],
            cooperative,
            tamper: None,
        };
        for (n, &(at, size)) in self.kernel.parameters.iter().enumerate() {
            // SAFETY: the caller passes the address of a value of its size for each parameter.
            unsafe {
                let from = parameters.add(n).read();
                let to = launch.parameters[at..][..size].as_mut_ptr();
                to.copy_from_nonoverlapping(from, size);
            }
        }
        let effect = fault::at("kernel");
        stream.enqueue(move || run(launch, effect));
        Ok(())
    }
}

fn run(mut launch: Launch, effect: Option<Effect>) {
    match effect {
        Some(Effect::Code(code)) => return context::fail(code),
        Some(Effect::Delay(time)) => std::thread::sleep(time),
        Some(Effect::Tamper(tamper)) => launch.tamper = Some(tamper),
        None => {}
    }
    if let Err(fault) = machine::run(&launch) {
        eprintln!("driver double: {}", fault.what);
        context::fail(fault.code);
    }
}
