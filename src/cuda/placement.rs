//! Which launch slots are near.
//!
//! A device's second-level cache is in parts, and how long an atomic takes from a multiprocessor depends on the part that
//! holds its address: where few workgroups meet, a barrier takes up to one and a half times as long on one slot as on
//! another. Which address is in which part is nobody's to know, so barriers are timed on each.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use super::context::Entered;
use super::driver::sys::{CUdeviceptr, CUmodule};
use super::ptx::abi::slot;
use super::stream::StreamHandle;
use super::wait;
use crate::error::{Error, Result, Status};

/// Blocks of one thread meet at each counter in turn: four times to warm up, then twelve times by the clock of block 0. It
/// ends after a million polls whatever happens.
pub const KERNEL: &str = "\
.version 6.4
.target sm_70
.address_size 64

.visible .entry vyre_placement(.param .u64 counters, .param .u32 stride, .param .u32 count, .param .u64 cycles)
.reqntid 1, 1, 1
{
	.reg .pred %p<4>;
	.reg .b32 %r<12>;
	.reg .b64 %d<6>;
	ld.param.u64 %d0, [counters];
	ld.param.u32 %r0, [stride];
	ld.param.u32 %r1, [count];
	ld.param.u64 %d1, [cycles];
	cvta.to.global.u64 %d0, %d0;
	cvta.to.global.u64 %d1, %d1;
	cvt.u64.u32 %d2, %r0;
	mov.u32 %r2, %nctaid.x;
	mov.u32 %r3, %ctaid.x;
	mov.b32 %r4, 0;
	mov.b32 %r5, 0;
$counter:
	mov.b32 %r6, 0;
	mov.b32 %r7, 0;
$meeting:
	setp.eq.u32 %p0, %r7, 4;
	@%p0 mov.u64 %d3, %clock64;
	add.u32 %r6, %r6, %r2;
	atom.add.acq_rel.gpu.global.u32 %r8, [%d0+0], 1;
	add.u32 %r8, %r8, 1;
$poll:
	setp.ge.u32 %p1, %r8, %r6;
	@%p1 bra $met;
	ld.acquire.gpu.global.u32 %r8, [%d0+0];
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p2, %r5, 1000000;
	@%p2 bra $poll;
	bra $end;
$met:
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p0, %r7, 16;
	@%p0 bra $meeting;
	mov.u64 %d4, %clock64;
	sub.u64 %d4, %d4, %d3;
	cvt.u32.u64 %r9, %d4;
	setp.eq.u32 %p3, %r3, 0;
	@%p3 st.global.u32 [%d1+0], %r9;
	add.u64 %d0, %d0, %d2;
	add.u64 %d1, %d1, 4;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p0, %r4, %r1;
	@%p0 bra $counter;
$end:
	ret;
}
";

/// So few that all of them may be near one part of the cache.
const FEW: u32 = 8;
/// It takes two milliseconds, unless others keep the device busy.
const PATIENCE: Duration = Duration::from_secs(2);

/// The counters of zeroed slots from the nearest to the farthest, by their numbers, with those for few workgroups and for
/// one on each multiprocessor valued alike. `cycles` is room for a u32 for each of `COUNT`. The counters are not zero
/// afterwards.
pub(super) fn nearest_first<const COUNT: usize>(
    entered: &Entered<'_>,
    stream: StreamHandle,
    slots: CUdeviceptr,
    cycles: CUdeviceptr,
    multiprocessors: u32,
    zero: impl Fn() -> Result<()>,
) -> Result<[usize; COUNT]> {
    let module = Loaded::new(entered)?;
    let mut scores = [0.0; COUNT];
    for blocks in [FEW.min(multiprocessors), multiprocessors] {
        zero()?;
        let taken = match module.time::<COUNT>(stream, slots, cycles, blocks) {
            Err(error) if error.status() == Status::Timeout => {
                // It may yet run, and to unload it would be to wait for it: it stays for as long as the context.
                std::mem::forget(module);
                return Err(error);
            }
            taken => taken?,
        };
        let least = taken.iter().copied().min().unwrap_or(0).max(1);
        for (score, cycles) in scores.iter_mut().zip(taken) {
            *score += f64::from(cycles) / f64::from(least);
        }
    }
    let mut order = std::array::from_fn(|number| number);
    order.sort_by(|&a: &usize, &b: &usize| scores[a].total_cmp(&scores[b]));
    Ok(order)
}

struct Loaded<'e> {
    entered: &'e Entered<'e>,
    module: CUmodule,
}

impl<'e> Loaded<'e> {
    fn new(entered: &'e Entered<'e>) -> Result<Loaded<'e>> {
        let image = format!("{KERNEL}\0");
        let mut module = null_mut();
        // SAFETY: the text ends with a zero, and there are no options; the context is current.
        let code = unsafe {
            (entered.api().module_load_data_ex)(
                &mut module,
                image.as_ptr().cast(),
                0,
                null_mut(),
                null_mut(),
            )
        };
        entered.check(code, "cuModuleLoadDataEx")?;
        Ok(Loaded { entered, module })
    }

    fn time<const COUNT: usize>(
        &self,
        stream: StreamHandle,
        mut counters: CUdeviceptr,
        mut cycles: CUdeviceptr,
        blocks: u32,
    ) -> Result<[u32; COUNT]> {
        let api = self.entered.api();
        let mut function = null_mut();
        // SAFETY: the place is valid for a write, and the name ends with a zero.
        let code = unsafe {
            (api.module_get_function)(&mut function, self.module, c"vyre_placement".as_ptr())
        };
        self.entered.check(code, "cuModuleGetFunction")?;
        let (mut stride, mut count) = (slot::SIZE, COUNT as u32);
        let mut parameters: [*mut c_void; 4] = [
            (&raw mut counters).cast(),
            (&raw mut stride).cast(),
            (&raw mut count).cast(),
            (&raw mut cycles).cast(),
        ];
        // SAFETY: these are the kernel's parameters, and what their addresses point to is the caller's to write.
        let code = unsafe {
            (api.launch_cooperative_kernel)(
                function,
                blocks,
                1,
                1,
                1,
                1,
                1,
                0,
                stream.raw(),
                parameters.as_mut_ptr(),
            )
        };
        self.entered.check(code, "cuLaunchCooperativeKernel")?;
        let mut taken = [0u32; COUNT];
        if !wait::stream(self.entered, stream, Some(Instant::now() + PATIENCE))? {
            return Err(Error::new(Status::Timeout, "the device is busy"));
        }
        // SAFETY: there are as many bytes on both sides, and nothing runs that uses them.
        let code = unsafe {
            (api.memcpy_dtoh_async)(
                taken.as_mut_ptr().cast(),
                cycles,
                size_of_val(&taken),
                stream.raw(),
            )
        };
        self.entered.check(code, "cuMemcpyDtoHAsync")?;
        wait::stream(self.entered, stream, None)?;
        Ok(taken)
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing of it runs any more.
        unsafe { (self.entered.api().module_unload)(self.module) };
    }
}
