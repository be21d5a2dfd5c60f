//! A workgroup of a program with subgroup operations: its invocations need not stand at one place.
//!
//! A segment runs for those who stopped where it begins. While anybody stands at a subgroup operation, the
//! earliest one in the program's order is next, for all who stand there: the others come to it later or not at
//! all, as branches that part meet again behind both. Only then a barrier counts, and all must have come to it.

use super::emit::abi;
use super::frame::Exchange;
use super::grid::{Fault, Run};

impl Run<'_> {
    /// As `workgroup`, from `at` to a grid barrier or the end.
    pub(super) fn in_turns(
        &self,
        mut at: u32,
        id: [u32; 3],
        (exchange, scratch): (Exchange, *mut u8),
        persistent: *mut u8,
    ) -> Result<u32, Fault> {
        // SAFETY: the area lies within the frame, aligned, and emitted code writes it only while it runs.
        let codes = || unsafe {
            let start = scratch.add(exchange.codes().offset as usize).cast::<u32>();
            std::slice::from_raw_parts_mut(start, exchange.invocations() as usize)
        };
        codes().fill(at);
        loop {
            let Some(segment) = self.compiled.code.segment(at) else {
                unreachable!("emitted code notes resume points that have segments");
            };
            // SAFETY: the context and both frames are as the code was emitted for, and the dispatch holds
            // the locks of all bound buffers.
            let code = unsafe { segment(self.context, id[0], id[1], id[2], scratch, persistent) };
            if code == abi::STOPPED {
                return Err(Fault::Stopped);
            }
            let codes = codes();
            let waiting = codes.iter().copied();
            if let Some(next) = waiting.filter(|&c| self.compiled.is_for_subgroup(c)).min() {
                // SAFETY: nobody runs in this frame now.
                unsafe { self.meet(next, codes, exchange, scratch) };
                at = next;
                continue;
            }
            let first = codes[0];
            if let Some(invocation) = codes.iter().position(|&code| code != first) {
                return Err(Fault::Invocations {
                    workgroup: id,
                    first,
                    other: codes[invocation],
                    invocation: invocation as u32,
                });
            }
            if first == abi::END || self.compiled.is_grid_barrier(first) {
                return Ok(first);
            }
            at = first;
        }
    }

    /// Lets each subgroup exchange what those of it brought who stand at `site`.
    ///
    /// # Safety
    /// As of `Collective::run`; the codes are those of `exchange`.
    unsafe fn meet(&self, site: u32, codes: &[u32], exchange: Exchange, scratch: *mut u8) {
        let Some(collective) = self.compiled.collective(site) else {
            // A barrier brings nothing.
            return;
        };
        let size = super::SUBGROUP_SIZE as usize;
        for (number, subgroup) in codes.chunks(size).enumerate() {
            let here = |active, (lane, &code)| active | u32::from(code == site) << lane;
            let active = subgroup.iter().enumerate().fold(0u32, here);
            if active != 0 {
                // SAFETY: as the caller says; each bit stands for an invocation that has a code.
                unsafe { collective.run(exchange, scratch, (number * size) as u64, active) };
            }
        }
    }
}
