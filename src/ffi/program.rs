//! Loading, asking and releasing programs.

use std::ffi::c_char;
use std::sync::Arc;

use super::args::{invalid, required};
use super::backend::resolve as backend_of;
use super::entry::entry;
use super::error::vyre_error;
use super::handle::{PROGRAMS, ProgramEntry, vyre_backend, vyre_program};
use super::program_desc::vyre_program_desc;
use super::reflection::{vyre_binding_properties, vyre_program_properties};
use super::sized::{self, Output};
use super::status::vyre_status;
use super::text;
use crate::backend::{Program, PtxContract};
use crate::error::Result;
use crate::log::{Level, log};
use crate::program::BindingInfo;

/// Compiles a program.
///
/// @param backend the backend that it runs on, and which it keeps alive
/// @param desc what to load; nothing that it points to is kept
/// @param out receives the program, owned by the caller until vyre_program_release(); {0} on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK; VYRE_ERROR_INVALID_HANDLE; VYRE_ERROR_INVALID_ARGUMENT for NULL, a bad struct_size, format,
///         flag or string, or for PTX parameters or a workgroup size that do not fit the kernel;
///         VYRE_ERROR_INVALID_PROGRAM with a source position if it does not parse, validate or prove uniform, lacks the
///         entry point or an override, or if the driver's assembler refuses it; VYRE_ERROR_UNSUPPORTED for what this
///         backend cannot run; VYRE_ERROR_IO if no folder for the cache on disk is named (CUDA)
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_load(
    backend: vyre_backend,
    desc: *const vyre_program_desc,
    out: *mut vyre_program,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [out], {
        let out = required(out, &"out")?;
        let backend = backend_of(backend)?;
        // SAFETY: the function's contract: null or a description with its size.
        let (desc, _) = unsafe { sized::read(desc, "desc") }?;
        // SAFETY: the function's contract: what it points to lives during the call.
        let program = backend.clone().load(&unsafe { desc.parse() }?)?;
        log(Level::Debug, || describe(&*program));
        let id = PROGRAMS.insert(ProgramEntry { program, backend })?;
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(vyre_program { id }) };
    })
}

/// A program's interface.
///
/// @param program the program
/// @param info receives the properties; its struct_size is set by the caller
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a bad struct_size
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_info(
    program: vyre_program,
    info: *mut vyre_program_properties,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        // SAFETY: the function's contract: null or a structure with its size, valid for writes.
        let mut info = unsafe { Output::new(info, "info") }?;
        info.set(&vyre_program_properties::from(resolve(program)?.reflection()));
    })
}

/// One binding of a program.
///
/// @param program the program
/// @param index from 0, below the program's binding_count; in the order of (group, binding)
/// @param info receives the properties; its struct_size is set by the caller
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for an index too large, NULL or a bad
///         struct_size
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_binding(
    program: vyre_program,
    index: u32,
    info: *mut vyre_binding_properties,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        // SAFETY: the function's contract: null or a structure with its size, valid for writes.
        let mut info = unsafe { Output::new(info, "info") }?;
        let program = resolve(program)?;
        info.set(&vyre_binding_properties::from(binding(&*program, index)?));
    })
}

/// The name of a binding's variable, by two calls.
///
/// @param program the program
/// @param index from 0, below the program's binding_count
/// @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if the index is too large, capacity is
///         too small or there is nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_binding_name(
    program: vyre_program,
    index: u32,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        let program = resolve(program)?;
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&binding(&*program, index)?.name, text, capacity, required) }?;
    })
}

/// The name of a program's entry point, by two calls.
///
/// @param program the program
/// @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if capacity is too small or there is
///         nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_entry_point(
    program: vyre_program,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        let program = resolve(program)?;
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&program.reflection().entry_point, text, capacity, required) }?;
    })
}

/// One of VYRE_PTX_*.
pub type vyre_ptx_contract = u32;

/// PTX text as the backend launches it; for reading.
pub const VYRE_PTX_AS_DISPATCHED: u32 = 0;
/// PTX text with the counter of its grid barriers in the module, to be loaded as a VYRE_PROGRAM_PTX. Its
/// parameters are an address and a size for each binding in order, and the immediates if there are any.
pub const VYRE_PTX_MODULE_SCOPE: u32 = 1;

/// A program's PTX text, by two calls.
///
/// @param program the program
/// @param contract VYRE_PTX_AS_DISPATCHED or VYRE_PTX_MODULE_SCOPE; both give the text of a PTX program as it was
///        loaded
/// @param text receives NUL-terminated text; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_UNSUPPORTED if the program has no PTX (on the CPU) or has a
///         gridBarrier() in a loop, which the module-scope contract does not allow, or VYRE_ERROR_INVALID_ARGUMENT if
///         the contract is none of these, capacity is too small or there is nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_ptx(
    program: vyre_program,
    contract: vyre_ptx_contract,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        let program = resolve(program)?;
        let ptx = program.ptx(match contract {
            VYRE_PTX_AS_DISPATCHED => PtxContract::AsDispatched,
            VYRE_PTX_MODULE_SCOPE => PtxContract::ModuleScope,
            contract => {
                return Err(invalid(format!(
                    "contract is {contract}; VYRE_PTX_AS_DISPATCHED (0) or VYRE_PTX_MODULE_SCOPE (1) was expected"
                )));
            }
        })?;
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&ptx, text, capacity, required) }?;
    })
}

/// Gives a program back. It is freed when the last dispatch of it ends.
///
/// @param program the program; its handle is stale afterwards
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
///
/// Any thread may call, also while others dispatch the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_release(
    program: vyre_program,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        drop(PROGRAMS.remove(program.id, &"program")?);
    })
}

fn resolve(program: vyre_program) -> Result<Arc<dyn Program>> {
    PROGRAMS.with(program.id, &"program", |entry| entry.program.clone())
}

fn binding(program: &dyn Program, index: u32) -> Result<&BindingInfo> {
    let bindings = &program.reflection().bindings;
    bindings.get(index as usize).ok_or_else(|| {
        invalid(format!(
            "index is {index} but the program has {} bindings",
            bindings.len()
        ))
    })
}

fn describe(program: &dyn Program) -> String {
    let reflection = program.reflection();
    format!(
        "loaded {} of {}: {} bindings, {} grid barriers",
        reflection.entry_point,
        reflection
            .label
            .as_deref()
            .unwrap_or("a program without a label"),
        reflection.bindings.len(),
        reflection.grid_barriers
    )
}
