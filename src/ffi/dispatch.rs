//! Running programs.

use std::sync::Arc;

use super::args::{invalid, slice};
use super::dispatch_desc::{ALONE, IN_BATCH, vyre_dispatch_desc};
use super::entry::entry;
use super::error::vyre_error;
use super::handle::{PROGRAMS, vyre_program};
use super::program_desc::room;
use super::report::vyre_dispatch_report;
use super::sized::{self, Output};
use super::status::vyre_status;
use crate::backend::{Backend, Dispatch, Program, Report};
use crate::error::{Error, Result};

/// Runs a program once (or `repeat` times) and waits until the grid is done and audited.
///
/// @param program the program
/// @param desc what to run; nothing that it points to is kept
/// @param report receives what was done; its struct_size is set by the caller; zeroed on failure; may be NULL
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK; VYRE_ERROR_INVALID_HANDLE, also for a buffer of another backend;
///         VYRE_ERROR_INVALID_ARGUMENT for NULL, a bad struct_size or flag, a grid that is zero in part, a misaligned
///         offset, or immediates of the wrong size; VYRE_ERROR_BINDING_MISMATCH if a binding is missing, superfluous,
///         named twice, too small, overlapping or of the wrong access; VYRE_ERROR_OUT_OF_RANGE for a range past its
///         buffer's end or a grid past the limits; VYRE_ERROR_GRID_TOO_LARGE; VYRE_ERROR_TIMEOUT;
///         VYRE_ERROR_DISPATCH_FAILED; VYRE_ERROR_BARRIER_AUDIT
///
/// Everything that is wrong with the call is found before anything runs. Calls that use one buffer are
/// ordered: readers together, a writer alone. After a failure while running, what the program wrote to buffers
/// is undefined, and host_out is untouched. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_dispatch(
    program: vyre_program,
    desc: *const vyre_dispatch_desc,
    report: *mut vyre_dispatch_report,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        // SAFETY: the function's contract: null or a structure with its size, valid for writes.
        let report = unsafe { optional_output(report, "report") }?;
        let (program, backend) = resolve(program)?;
        // SAFETY: the function's contract: null or a description with its size.
        let (desc, _) = unsafe { sized::read(desc, "desc") }?;
        // SAFETY: the function's contract: what it points to lives during the call.
        let mut dispatch = unsafe { desc.parse(&ALONE, &backend) }?;
        dispatch.timed = report.is_some();
        let done = program.run(&mut dispatch)?;
        if let Some(mut report) = report {
            report.set(&vyre_dispatch_report::from(done));
        }
    })
}

/// Does ahead of time what the first vyre_dispatch() with this description would have to do besides running:
/// checks it, and makes what pools of the backend do not hold yet (streams, memory for lent bindings). For a program with
/// grid barriers on CUDA it also times, once for the backend and for some milliseconds, which of the words that
/// workgroups can meet at are near (a few seconds at most, if others keep the device busy); else that is done after a few
/// dispatches.
///
/// @param program the program
/// @param desc what is going to be run; nothing of it is run, written or kept
/// @param err receives an error, NULL on success; may be NULL
/// @return what vyre_dispatch() returns for a description that is wrong, VYRE_ERROR_OUT_OF_DEVICE_MEMORY, or VYRE_OK
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_warm_up(
    program: vyre_program,
    desc: *const vyre_dispatch_desc,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let (program, backend) = resolve(program)?;
        // SAFETY: the function's contract: null or a description with its size.
        let (desc, _) = unsafe { sized::read(desc, "desc") }?;
        // SAFETY: the function's contract: what it points to lives during the call.
        program.warm_up(&unsafe { desc.parse(&ALONE, &backend) }?)?;
    })
}

/// Runs one program several times in order, each as vyre_dispatch() would and each audited.
///
/// @param program the program
/// @param descs what to run: count descriptions, each with the struct_size of the first, which is the
///        distance between them
/// @param count how many; 0 does nothing
/// @param reports receives count reports, each with the struct_size of the first; may be NULL
/// @param completed receives how many dispatches were completed, also on failure; may be NULL
/// @param err receives an error, NULL on success; its message names the description; may be NULL
/// @return VYRE_OK, or what vyre_dispatch() returns for the first description that fails
///
/// Handles, pointers, flags and struct_sizes of all descriptions are checked before the first runs. A failure
/// ends the batch; what the completed dispatches did stands. On a CUDA backend dispatches that follow the failed
/// one may have run by then. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_dispatch_batch(
    program: vyre_program,
    descs: *const vyre_dispatch_desc,
    count: usize,
    reports: *mut vyre_dispatch_report,
    completed: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [completed], {
        // SAFETY: the function's contract: null or count structures, valid for writes.
        let mut reports = unsafe { all_outputs(reports, count) }?;
        let (program, backend) = resolve(program)?;
        // SAFETY: the function's contract: null or count descriptions, and what they point to lives.
        let mut dispatches = unsafe { all_dispatches(descs, count, &backend) }?;
        for dispatch in &mut dispatches {
            dispatch.timed = !reports.is_empty();
        }
        let mut done = |index: usize, report: Report| {
            if let Some(output) = reports.get_mut(index) {
                output.set(&vyre_dispatch_report::from(report));
            }
            if !completed.is_null() {
                // SAFETY: not null, so valid for writes.
                unsafe { completed.write_unaligned(index + 1) };
            }
        };
        program
            .run_batch(&mut dispatches, &mut done)
            .map_err(|(index, error)| of_element("descs", index, error))?;
    })
}

type Loaded = (Arc<dyn Program>, Arc<dyn Backend>);

fn resolve(program: vyre_program) -> Result<Loaded> {
    PROGRAMS.with(program.id, &"program", |entry| {
        (entry.program.clone(), entry.backend.clone())
    })
}

/// # Safety
/// As [`Output::new`].
unsafe fn optional_output(
    report: *mut vyre_dispatch_report,
    what: &str,
) -> Result<Option<Output<vyre_dispatch_report>>> {
    if report.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { Output::new(report, what) }.map(Some)
}

/// # Safety
/// `reports` is null or points to `count` structures with their sizes, valid for writes.
unsafe fn all_outputs(
    reports: *mut vyre_dispatch_report,
    count: usize,
) -> Result<Vec<Output<vyre_dispatch_report>>> {
    let mut outputs = Vec::new();
    if reports.is_null() {
        return Ok(outputs);
    }
    outputs = room(count, "count")?;
    let mut stride = 0;
    for index in 0..count {
        // SAFETY: the caller says that each has the first one's size.
        let output = unsafe { Output::new(reports.byte_add(index * stride), "report") }
            .map_err(|error| of_element("reports", index, error))?;
        same_stride(&mut stride, output.stride(), "reports", index)?;
        outputs.push(output);
    }
    Ok(outputs)
}

/// Descriptions in a row that are the same become one dispatch, of so many times.
///
/// # Safety
/// `descs` is null or points to `count` descriptions with their sizes, whose pointers are valid during `'a`.
unsafe fn all_dispatches<'a>(
    descs: *const vyre_dispatch_desc,
    count: usize,
    backend: &Arc<dyn Backend>,
) -> Result<Vec<Dispatch<'a>>> {
    if slice(descs, count as u64, &"descs", "count")?.is_none() {
        return Ok(Vec::new());
    }
    let mut dispatches: Vec<Dispatch<'a>> = room(count, "count")?;
    let mut stride = 0;
    let mut previous = None;
    for index in 0..count {
        let in_element = |error| of_element("descs", index, error);
        // SAFETY: the caller says that each has the first one's size.
        let (desc, size) =
            unsafe { sized::read(descs.byte_add(index * stride), "desc") }.map_err(in_element)?;
        same_stride(&mut stride, size, "descs", index)?;
        match dispatches.last_mut() {
            // What they point to is the same, too.
            Some(same) if previous == Some(desc) => same.times += 1,
            _ => {
                // SAFETY: the caller's promise.
                dispatches.push(unsafe { desc.parse(&IN_BATCH, backend) }.map_err(in_element)?);
                previous = Some(desc);
            }
        }
    }
    Ok(dispatches)
}

/// The first element's size is the distance between elements, so the others must agree.
fn same_stride(stride: &mut usize, size: usize, array: &str, index: usize) -> Result<()> {
    if index == 0 {
        *stride = size;
    }
    if *stride == size {
        return Ok(());
    }
    Err(invalid(format!(
        "{array}[{index}].struct_size is {size}, but that of {array}[0], the distance between them, is {stride}"
    )))
}

/// Says which element of an array an error is about.
fn of_element(array: &str, index: usize, error: Error) -> Error {
    let message = format!("{array}[{index}]: {}", error.message());
    Error::new(error.status(), message)
        .with_fix(error.fix())
        .with_native_code(error.native_code())
        .with_position(error.position())
}
