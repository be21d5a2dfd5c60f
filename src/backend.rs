//! What the C surface talks to: backends, their buffers and programs, and dispatches.
//!
//! The CPU backend implements these traits; a handle of the C surface owns one trait object.

mod cache;
mod counters;
mod host;
mod locks;
mod range;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

pub use cache::{Cache, Key as CacheKey, Retained};
pub use counters::Counters;
pub use host::{HostIn, HostOut};
pub use locks::{Guards, Lock, Use, lock};
pub use range::{check_import, check_range, check_size, check_words, foreign_source};

use crate::error::{Error, Result, Status};
use crate::program::{Access, Reflection};

/// Where a backend runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Cpu,
    Cuda,
}

/// Which backend to acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// CUDA if it can be used, else the CPU; `BackendInfo::reason` says which and why.
    Auto,
    Cpu,
    Cuda,
}

#[derive(Clone, Copy, Debug)]
pub struct BackendDesc {
    pub choice: Choice,
    /// CUDA device.
    pub ordinal: u32,
    /// Threads that run a dispatch, the caller's included; 0 for all.
    pub cpu_threads: u32,
}

/// What a backend is and what it allows; every limit is the one enforced.
#[derive(Clone, Debug)]
pub struct BackendInfo {
    pub kind: Kind,
    pub ordinal: u32,
    pub name: String,
    /// Why this backend was chosen.
    pub reason: String,
    /// Major and minor; 0.0 on the CPU.
    pub compute_capability: (u32, u32),
    /// Bytes of memory that the device has.
    pub memory: u64,
    /// Threads of the CPU backend, streaming multiprocessors of a CUDA device.
    pub units: u32,
    pub max_workgroup_size: [u32; 3],
    pub max_workgroup_invocations: u32,
    /// In bytes.
    pub max_workgroup_memory: u64,
    pub max_workgroups: [u32; 3],
    /// In bytes.
    pub max_buffer_size: u64,
    /// In bytes.
    pub max_immediates_size: u32,
    pub subgroup_size: u32,
    /// Whether programs with a grid barrier run.
    pub cooperative: bool,
    /// Time limit of a dispatch that names none.
    pub default_timeout: Duration,
}

/// Counters since the backend was acquired or they were last reset; gauges are current.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    pub dispatches: u64,
    pub copies_in: u64,
    pub copies_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub synchronises: u64,
    pub audits: u64,
    /// Audits that found a barrier that had not held.
    pub refusals: u64,
    /// Kernels launched; phases and runs of the CPU backend are not.
    pub launches: u64,
    pub program_cache_hits: u64,
    pub program_cache_misses: u64,
    pub pool_hits: u64,
    pub pool_misses: u64,
    /// Gauge: bytes that pools and caches hold and `trim` would give back.
    pub retained_bytes: u64,
    /// Gauge: live buffers and the bytes in them.
    pub buffers: u64,
    pub buffer_bytes: u64,
    /// Programs that the cache on disk had, had not, and got.
    pub disk_hits: u64,
    pub disk_misses: u64,
    pub disk_writes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Wgsl,
    Ptx,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramFlags {
    /// Leave out the bounds checks of dynamic indices.
    pub unchecked: bool,
    /// Allow contraction and approximations beyond WGSL's exact rules.
    pub fast_math: bool,
    /// Accept grid barriers that could not be proven uniform; disagreement fails the dispatch.
    pub trust_uniformity: bool,
}

#[derive(Clone, Debug)]
pub struct ProgramDesc<'a> {
    pub format: Format,
    pub code: &'a [u8],
    pub entry_point: Option<&'a str>,
    pub label: Option<&'a str>,
    pub flags: ProgramFlags,
    /// Override constants by name, or by the decimal digits of their `@id`.
    pub overrides: Vec<(&'a str, f64)>,
    /// Of a PTX kernel, in its order; empty for WGSL.
    pub parameters: Vec<PtxParameter>,
    /// Of a PTX kernel; all zero: what the kernel insists on. All zero for WGSL, which declares its own.
    pub workgroup_size: [u32; 3],
    /// Bytes of workgroup memory of a PTX kernel beyond what it declares.
    pub workgroup_memory: u32,
}

impl<'a> ProgramDesc<'a> {
    /// Everything else as it is when nothing is said about it.
    pub fn new(format: Format, code: &'a [u8]) -> ProgramDesc<'a> {
        ProgramDesc {
            format,
            code,
            entry_point: None,
            label: None,
            flags: ProgramFlags::default(),
            overrides: Vec::new(),
            parameters: Vec::new(),
            workgroup_size: [0; 3],
            workgroup_memory: 0,
        }
    }
}

/// What a PTX kernel is passed for one of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PtxParameter {
    /// The 64-bit address of a binding's first byte.
    Address {
        group: u32,
        binding: u32,
        access: Access,
    },
    /// The 64-bit size of a binding's range.
    Size {
        group: u32,
        binding: u32,
        access: Access,
    },
    /// All immediates, as one block.
    Immediates,
}

/// How the grid barriers of a PTX text work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtxContract {
    /// As this backend launches it.
    AsDispatched,
    /// By a counter in the module, so that the text can be loaded as a PTX program.
    ModuleScope,
}

/// Where a dispatch finds the bytes of one binding.
pub enum BindingSource<'a> {
    /// `size` 0 means up to the buffer's end.
    Buffer {
        buffer: Arc<dyn Buffer>,
        offset: u64,
        size: u64,
    },
    /// Bytes that the caller lends for the call. Absent input is zeros.
    Host {
        input: Option<HostIn<'a>>,
        output: Option<HostOut<'a>>,
        size: u64,
    },
}

pub struct Binding<'a> {
    pub group: u32,
    pub binding: u32,
    pub source: BindingSource<'a>,
}

pub struct Dispatch<'a> {
    /// All zero: as many as the backend runs at once.
    pub workgroups: [u32; 3],
    pub bindings: Vec<Binding<'a>>,
    pub immediates: &'a [u8],
    /// `None`: the backend's default. `Duration::MAX`: unbounded.
    pub timeout: Option<Duration>,
    /// Runs one after the other, each seeing what the one before wrote; at least 1.
    pub repeat: u32,
    /// Ask for a cooperative launch also without a grid barrier.
    pub cooperative: bool,
    /// Whether the report's `device_time_ns` is wanted: taking the time takes time.
    pub timed: bool,
    /// How many dispatches in a row of a batch this stands for, each with a report of its own; 1 outside of a batch.
    pub times: usize,
}

/// What a finished dispatch did; sums over its repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Nanoseconds that the device worked; 0 if the dispatch was not timed.
    pub device_time_ns: u64,
    /// Grid barriers that the grid passed.
    pub barriers: u64,
    /// Arrivals of workgroups at them.
    pub arrivals: u64,
    /// Workgroups of one run.
    pub workgroups: u64,
    /// Whether the program's code came from a cache when it was loaded.
    pub from_cache: bool,
    /// Whether every barrier was checked to have held.
    pub audited: bool,
}

pub trait Backend: Send + Sync {
    fn info(&self) -> &BackendInfo;
    fn telemetry(&self) -> Telemetry;
    fn reset_telemetry(&self);
    /// Gives back what pools hold and nobody uses. `all`: waits until nothing is under way, and gives back
    /// what caches hold, too.
    fn trim(&self, all: bool) -> Result<()>;
    /// Host memory that copies to and from the device are fastest with, of undefined content.
    fn allocate_host(self: Arc<Self>, size: u64) -> Result<Box<dyn HostMemory>>;
    /// A zeroed buffer.
    fn create_buffer(self: Arc<Self>, size: u64) -> Result<Arc<dyn Buffer>>;
    /// A buffer over memory of the caller's, which must stay valid until the buffer's last use ends.
    ///
    /// # Safety
    /// `pointer` is valid for reads and writes of `size` bytes of this backend's memory for the buffer's life.
    unsafe fn import_buffer(self: Arc<Self>, pointer: u64, size: u64) -> Result<Arc<dyn Buffer>>;
    fn load(self: Arc<Self>, desc: &ProgramDesc<'_>) -> Result<Arc<dyn Program>>;
}

/// Host memory that is freed on drop; it keeps its backend alive.
pub trait HostMemory: Send {
    fn pointer(&self) -> std::ptr::NonNull<u8>;
}

/// Device-resident bytes. Conflicting uses wait for each other; ranges are checked.
pub trait Buffer: Send + Sync + Any {
    fn size(&self) -> u64;
    fn write(&self, offset: u64, data: HostIn<'_>) -> Result<()>;
    fn read(&self, offset: u64, data: HostOut<'_>) -> Result<()>;
    /// Repeats `pattern` over the range; offset and size are multiples of 4.
    fn fill(&self, offset: u64, size: u64, pattern: u32) -> Result<()>;
    /// Copies a range of `source`, a buffer of the same backend (it may be this one: overlapping
    /// ranges copy as if through a temporary).
    fn copy_from(
        &self,
        offset: u64,
        source: &dyn Buffer,
        source_offset: u64,
        size: u64,
    ) -> Result<()>;
    /// CUdeviceptr or host address of the first byte.
    fn native_pointer(&self) -> u64;
    fn as_any(&self) -> &dyn Any;
}

pub trait Program: Send + Sync {
    fn reflection(&self) -> &Reflection;
    /// The PTX text of the program, for backends that have one.
    fn ptx(&self, contract: PtxContract) -> Result<String>;
    /// Does what the first such dispatch would have to do besides running.
    fn warm_up(&self, dispatch: &Dispatch<'_>) -> Result<()>;
    /// Runs a dispatch until the grid is done and audited, or its time limit has passed. Everything that is wrong with
    /// the call itself is found before anything runs.
    fn run(&self, dispatch: &mut Dispatch<'_>) -> Result<Report>;
    /// Runs dispatches in order. `done` hears of each that is complete and audited; the first that fails ends
    /// the batch, and is named by its index.
    fn run_batch(
        &self,
        dispatches: &mut [Dispatch<'_>],
        done: &mut dyn FnMut(usize, Report),
    ) -> Result<(), (usize, Error)> {
        let mut index = 0;
        for dispatch in dispatches {
            for _ in 0..dispatch.times {
                let report = self.run(dispatch).map_err(|error| (index, error))?;
                done(index, report);
                index += 1;
            }
        }
        Ok(())
    }
}

/// A device that `acquire` could open.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    pub kind: Kind,
    pub ordinal: u32,
    pub name: String,
    pub memory: u64,
    pub units: u32,
    pub compute_capability: (u32, u32),
    /// What this build can do with it; empty when it can be acquired.
    pub unusable_because: String,
}

/// Everything that could be acquired, CUDA devices first, the CPU last. A CUDA driver that cannot be used is in
/// the list as one device, which says why.
pub fn devices() -> Vec<DeviceInfo> {
    let mut devices = crate::cuda::listed();
    devices.push(crate::cpu::device());
    devices
}

/// Opens a backend.
pub fn acquire(desc: &BackendDesc) -> Result<Arc<dyn Backend>> {
    match desc.choice {
        Choice::Cpu => crate::cpu::acquire(desc, "the CPU backend was asked for".into()),
        Choice::Cuda => crate::cuda::acquire(desc, "a CUDA backend was asked for".into()),
        Choice::Auto => {
            let reason = format!("AUTO took CUDA device {}", desc.ordinal);
            match crate::cuda::acquire(desc, reason) {
                Err(error) if says_no_cuda(error.status()) => {
                    crate::cpu::acquire(desc, format!("AUTO took the CPU: {}", error.message()))
                }
                other => other,
            }
        }
    }
}

/// Whether CUDA cannot be used here at all. Another failure is not one to hide behind a slower backend.
fn says_no_cuda(status: Status) -> bool {
    matches!(
        status,
        Status::DriverUnavailable | Status::NoDevice | Status::Unsupported
    )
}
