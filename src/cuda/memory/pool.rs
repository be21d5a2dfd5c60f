//! The device's memory: a pool of the driver's that is ours alone.
//!
//! Freeing what came from `cuMemAlloc` waits for everything that the device does, whoever asked for it; what
//! came from a pool is freed without. The device's default pool is left alone: other code in the process sets
//! it up as it likes. Memory comes and goes on a stream that nothing else is put on, so that waiting for it is
//! short.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::cuda::capabilities::Capabilities;
use crate::cuda::context::{Context, Entered};
use crate::cuda::driver::Api;
use crate::cuda::driver::code;
use crate::cuda::driver::sys::{
    CUdevice, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType,
    CUmemPool_attribute as PoolAttribute, CUmemPoolProps, CUmemoryPool, CUstream,
};
use crate::error::Result;

/// Most bytes that stay with the pool when they are freed.
const KEPT: u64 = 128 << 20;
/// CU_STREAM_NON_BLOCKING
const NON_BLOCKING: u32 = 1;

pub struct DevicePool {
    /// Absent where the driver has no pools: then memory comes from `cuMemAlloc`.
    pool: Option<Pool>,
}

struct Pool {
    pool: CUmemoryPool,
    stream: CUstream,
    calls: Calls,
}

/// The driver's functions for pools, which old drivers lack.
#[derive(Clone, Copy)]
struct Calls {
    create: unsafe extern "C" fn(*mut CUmemoryPool, *const CUmemPoolProps) -> c_int,
    destroy: unsafe extern "C" fn(CUmemoryPool) -> c_int,
    set: unsafe extern "C" fn(CUmemoryPool, c_int, *mut c_void) -> c_int,
    get: unsafe extern "C" fn(CUmemoryPool, c_int, *mut c_void) -> c_int,
    trim: unsafe extern "C" fn(CUmemoryPool, usize) -> c_int,
    allocate: unsafe extern "C" fn(*mut u64, usize, CUmemoryPool, CUstream) -> c_int,
    free: unsafe extern "C" fn(u64, CUstream) -> c_int,
}

impl Calls {
    fn of(api: &Api) -> Option<Calls> {
        Some(Calls {
            create: api.mem_pool_create?,
            destroy: api.mem_pool_destroy?,
            set: api.mem_pool_set_attribute?,
            get: api.mem_pool_get_attribute?,
            trim: api.mem_pool_trim_to?,
            allocate: api.mem_alloc_from_pool_async?,
            free: api.mem_free_async?,
        })
    }
}

// SAFETY: pools and streams may be used from any thread that has their context current.
unsafe impl Send for DevicePool {}
// SAFETY: as above.
unsafe impl Sync for DevicePool {}

impl DevicePool {
    pub fn create(
        entered: &Entered<'_>,
        device: CUdevice,
        capabilities: &Capabilities,
    ) -> Result<DevicePool> {
        let calls = Calls::of(entered.api()).filter(|_| capabilities.memory_pools);
        let pool = calls.map(|calls| create(entered, device, calls));
        Ok(DevicePool {
            pool: pool.transpose()?,
        })
    }

    /// The address of `size` new bytes of undefined content, or the driver's code.
    pub fn allocate(&self, entered: &Entered<'_>, size: u64) -> Result<u64, i32> {
        let mut address = 0;
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let code = match &self.pool {
            // SAFETY: the place is valid for a write; the context is current.
            None => unsafe { (entered.api().mem_alloc)(&mut address, bytes) },
            // SAFETY: as above; pool and stream are alive. Other streams may use the memory afterwards.
            Some(pool) => unsafe {
                let code = (pool.calls.allocate)(&mut address, bytes, pool.pool, pool.stream);
                let code = match code {
                    code::SUCCESS => (entered.api().stream_synchronize)(pool.stream),
                    code => code,
                };
                if code != code::SUCCESS && address != 0 {
                    (pool.calls.free)(address, pool.stream);
                }
                code
            },
        };
        match code {
            code::SUCCESS => Ok(address),
            code => Err(code),
        }
    }

    /// Takes memory back that nobody uses any more.
    pub fn free(&self, entered: &Entered<'_>, address: u64) {
        match &self.pool {
            // SAFETY: the address came from `allocate`.
            None => unsafe { (entered.api().mem_free)(address) },
            // SAFETY: as above.
            Some(pool) => unsafe { (pool.calls.free)(address, pool.stream) },
        };
    }

    /// Bytes that the pool holds and nobody uses.
    pub fn retained_bytes(&self, _context_is_current: &Entered<'_>) -> u64 {
        let Some(pool) = &self.pool else {
            return 0;
        };
        let get = |attribute: PoolAttribute| {
            let mut value = 0u64;
            // SAFETY: the attributes asked for are 64-bit numbers.
            let code =
                unsafe { (pool.calls.get)(pool.pool, attribute as c_int, (&raw mut value).cast()) };
            (code == code::SUCCESS).then_some(value)
        };
        let held = get(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT).unwrap_or(0);
        let used = get(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT).unwrap_or(held);
        held.saturating_sub(used)
    }

    /// Gives what nobody uses back to the device.
    pub fn trim(&self, entered: &Entered<'_>) {
        if let Some(pool) = &self.pool {
            // SAFETY: pool and stream are alive. What was freed is the pool's once the stream has come to it.
            unsafe {
                (entered.api().stream_synchronize)(pool.stream);
                (pool.calls.trim)(pool.pool, 0);
            }
        }
    }

    /// Ends the pool; all of its memory must have been freed.
    pub fn destroy(&mut self, context: &Context) {
        if let Some(pool) = self.pool.take()
            && let Some(entered) = context.enter_to_release()
        {
            // SAFETY: nobody uses either any more.
            unsafe {
                (entered.api().stream_synchronize)(pool.stream);
                (pool.calls.destroy)(pool.pool);
                (entered.api().stream_destroy)(pool.stream);
            }
        }
    }
}

fn create(entered: &Entered<'_>, device: CUdevice, calls: Calls) -> Result<Pool> {
    let api = entered.api();
    let mut pool = null_mut();
    let props = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: device,
        },
        win32SecurityAttributes: null_mut(),
        maxSize: 0,
        reserved: [0; 56],
    };
    // SAFETY: the place is valid for a write, and the properties are complete.
    entered.check(
        unsafe { (calls.create)(&mut pool, &props) },
        "cuMemPoolCreate",
    )?;
    let mut kept = KEPT;
    let threshold = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as c_int;
    // SAFETY: the threshold is a 64-bit number.
    let code = unsafe { (calls.set)(pool, threshold, (&raw mut kept).cast()) };
    let mut stream = null_mut();
    let made = entered.check(code, "cuMemPoolSetAttribute").and_then(|()| {
        // SAFETY: the place is valid for a write.
        let code = unsafe { (api.stream_create)(&mut stream, NON_BLOCKING) };
        entered.check(code, "cuStreamCreate")
    });
    match made {
        Ok(()) => Ok(Pool {
            pool,
            stream,
            calls,
        }),
        Err(error) => {
            // SAFETY: it was just made.
            unsafe { (calls.destroy)(pool) };
            Err(error)
        }
    }
}
