//! What a dispatch did.

use super::entry::entry;
use super::sized::{initialise, sized};
use crate::backend::Report;

/// What a finished dispatch did; sums over its repeats. Smallest struct_size: 16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_dispatch_report {
    /// sizeof(vyre_dispatch_report); set by the caller.
    pub struct_size: u32,
    /// 1 if every grid barrier was checked to have held, or there was none. 0 for a PTX program without the counter
    /// `_vyre_grid_barrier` that was launched cooperatively: it may have a barrier that this library does not know.
    pub audited: u32,
    /// Nanoseconds that the device worked.
    pub device_time_ns: u64,
    /// Grid barriers that the grid passed.
    pub barriers: u64,
    /// Arrivals of workgroups at them.
    pub arrivals: u64,
    /// Workgroups of one run.
    pub workgroups: u64,
    /// 1 if the program's code came from a cache when it was loaded, else 0.
    pub from_cache: u32,
    /// 0.
    pub reserved: u32,
}

sized!(vyre_dispatch_report, min 16, default {
    audited: 0,
    device_time_ns: 0,
    barriers: 0,
    arrivals: 0,
    workgroups: 0,
    from_cache: 0,
    reserved: 0,
});

/// Sets struct_size and zeroes the rest, as VYRE_DISPATCH_REPORT_INIT does.
///
/// @param report the structure; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_dispatch_report_init(report: *mut vyre_dispatch_report) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(report) }
    })
}

impl From<Report> for vyre_dispatch_report {
    fn from(report: Report) -> vyre_dispatch_report {
        vyre_dispatch_report {
            struct_size: size_of::<vyre_dispatch_report>() as u32,
            audited: u32::from(report.audited),
            device_time_ns: report.device_time_ns,
            barriers: report.barriers,
            arrivals: report.arrivals,
            workgroups: report.workgroups,
            from_cache: u32::from(report.from_cache),
            reserved: 0,
        }
    }
}
