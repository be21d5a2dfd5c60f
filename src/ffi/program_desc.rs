//! What to load.

use std::ffi::{c_char, c_void};

use super::args::{flags, invalid, reserved, slice};
use super::entry::entry;
use super::handle::Element;
use super::sized::{initialise, sized};
use super::text;
use crate::backend::{Format, ProgramDesc, ProgramFlags, PtxParameter};
use crate::error::{Error, Result, Status};
use crate::program::Access;

/// One of VYRE_PROGRAM_WGSL and VYRE_PROGRAM_PTX.
pub type vyre_program_format = u32;

/// WGSL text in UTF-8.
pub const VYRE_PROGRAM_WGSL: u32 = 1;
/// A PTX module; CUDA backends only.
pub const VYRE_PROGRAM_PTX: u32 = 2;

/// Program flag: leave out the bounds checks of dynamic indices. An index out of bounds is then
/// undefined behaviour, as in C.
pub const VYRE_PROGRAM_UNCHECKED: u64 = 1;
/// Program flag: allow fused multiply-add and approximations beyond WGSL's exact rules.
pub const VYRE_PROGRAM_FAST_MATH: u64 = 2;
/// Program flag: accept grid barriers that are not provably uniform. Invocations that then disagree fail
/// the dispatch.
pub const VYRE_PROGRAM_TRUST_UNIFORMITY: u64 = 4;

/// One of VYRE_PTX_PARAMETER_*.
pub type vyre_ptx_parameter_kind = u32;

/// PTX parameter: the 64-bit address of a binding's first byte.
pub const VYRE_PTX_PARAMETER_ADDRESS: u32 = 1;
/// PTX parameter: the 64-bit size of a binding's range in bytes.
pub const VYRE_PTX_PARAMETER_SIZE: u32 = 2;
/// PTX parameter: all immediates of the dispatch, as one block.
pub const VYRE_PTX_PARAMETER_IMMEDIATES: u32 = 3;

/// Gives an override constant of the program a value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_override {
    /// Its name, or the decimal digits of its id attribute; NUL-terminated UTF-8.
    pub name: *const c_char,
    /// Its value, converted to its type; a bool is false at 0.
    pub value: f64,
}

/// One parameter of a PTX kernel, in the kernel's order.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_ptx_parameter {
    /// One of VYRE_PTX_PARAMETER_*.
    pub kind: vyre_ptx_parameter_kind,
    /// Of the binding; 0 for immediates.
    pub group: u32,
    /// Of the binding; 0 for immediates.
    pub binding: u32,
    /// One of VYRE_ACCESS_*: how the kernel uses the binding; 0 for immediates.
    pub access: u32,
}

/// What to load. Smallest struct_size: 24.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_program_desc {
    /// sizeof(vyre_program_desc).
    pub struct_size: u32,
    /// One of VYRE_PROGRAM_WGSL and VYRE_PROGRAM_PTX; default WGSL.
    pub format: vyre_program_format,
    /// The program's bytes; need no NUL.
    pub code: *const c_void,
    /// How many.
    pub code_size: usize,
    /// Name of the entry point, NUL-terminated UTF-8; NULL: the only one.
    pub entry_point: *const c_char,
    /// For messages and traces, NUL-terminated UTF-8; may be NULL.
    pub label: *const c_char,
    /// Any of VYRE_PROGRAM_UNCHECKED, _FAST_MATH and _TRUST_UNIFORMITY.
    pub flags: u64,
    /// Values of override constants; may be NULL if override_count is 0.
    pub overrides: *const vyre_override,
    /// How many.
    pub override_count: usize,
    /// The PTX kernel's parameters; NULL for WGSL, which declares its own.
    pub parameters: *const vyre_ptx_parameter,
    /// How many; 0 for WGSL.
    pub parameter_count: usize,
    /// The PTX kernel's block size; {0, 0, 0}: what its `.reqntid` says. {0, 0, 0} for WGSL, which declares its own.
    pub workgroup_size: [u32; 3],
    /// Bytes of workgroup memory that the PTX kernel takes beyond what it declares (`.extern .shared`); 0 for WGSL.
    pub workgroup_memory: u32,
}

sized!(vyre_program_desc, min 24, default {
    format: VYRE_PROGRAM_WGSL,
    code: std::ptr::null(),
    code_size: 0,
    entry_point: std::ptr::null(),
    label: std::ptr::null(),
    flags: 0,
    overrides: std::ptr::null(),
    override_count: 0,
    parameters: std::ptr::null(),
    parameter_count: 0,
    workgroup_size: [0; 3],
    workgroup_memory: 0,
});

/// Fills a description with its defaults, as VYRE_PROGRAM_DESC_INIT does.
///
/// @param desc the description; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_desc_init(desc: *mut vyre_program_desc) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(desc) }
    })
}

impl vyre_program_desc {
    /// Checks the fields and borrows what they point to.
    ///
    /// # Safety
    /// The pointers are null or valid during `'a`, as the fields' comments say.
    pub(super) unsafe fn parse<'a>(&self) -> Result<ProgramDesc<'a>> {
        let known = VYRE_PROGRAM_UNCHECKED | VYRE_PROGRAM_FAST_MATH | VYRE_PROGRAM_TRUST_UNIFORMITY;
        flags(self.flags, known, "desc->flags")?;
        let format = match self.format {
            VYRE_PROGRAM_WGSL => Format::Wgsl,
            VYRE_PROGRAM_PTX => Format::Ptx,
            format => {
                return Err(invalid(format!(
                    "desc->format is {format}; VYRE_PROGRAM_WGSL (1) or VYRE_PROGRAM_PTX (2) was expected"
                )));
            }
        };
        if format != Format::Ptx && (self.workgroup_size != [0; 3] || self.workgroup_memory != 0) {
            return Err(invalid(
                "desc->workgroup_size or desc->workgroup_memory is set, but only a PTX program takes them".to_owned(),
            )
            .with_fix("Leave them at zero: a WGSL program declares its own."));
        }
        let code = slice(
            self.code.cast::<u8>(),
            self.code_size as u64,
            &"desc->code",
            "desc->code_size",
        )?;
        Ok(ProgramDesc {
            format,
            code: match code {
                // SAFETY: the caller promises that many bytes; they are only read.
                Some((start, len)) => unsafe { std::slice::from_raw_parts(start.as_ptr(), len) },
                None => &[],
            },
            // SAFETY: the caller's promise.
            entry_point: unsafe { text::optional(self.entry_point, &"desc->entry_point") }?,
            // SAFETY: the caller's promise.
            label: unsafe { text::optional(self.label, &"desc->label") }?,
            flags: ProgramFlags {
                unchecked: self.flags & VYRE_PROGRAM_UNCHECKED != 0,
                fast_math: self.flags & VYRE_PROGRAM_FAST_MATH != 0,
                trust_uniformity: self.flags & VYRE_PROGRAM_TRUST_UNIFORMITY != 0,
            },
            // SAFETY: the caller's promise.
            overrides: unsafe { self.overrides() }?,
            // SAFETY: the caller's promise.
            parameters: unsafe { self.parameters(format) }?,
            workgroup_size: self.workgroup_size,
            workgroup_memory: self.workgroup_memory,
        })
    }

    /// # Safety
    /// As [`Self::parse`].
    unsafe fn overrides<'a>(&self) -> Result<Vec<(&'a str, f64)>> {
        let given = slice(
            self.overrides,
            self.override_count as u64,
            &"desc->overrides",
            "desc->override_count",
        )?;
        let Some((start, count)) = given else {
            return Ok(Vec::new());
        };
        let mut overrides = room(count, "desc->override_count")?;
        for index in 0..count {
            // SAFETY: the caller promises `count` of them; C promises no alignment to a wrong pointer.
            let one = unsafe { start.as_ptr().add(index).read_unaligned() };
            let what = Element {
                array: "desc->overrides",
                index,
                field: ".name",
            };
            // SAFETY: the caller's promise.
            overrides.push((unsafe { text::required_text(one.name, &what) }?, one.value));
        }
        Ok(overrides)
    }

    /// # Safety
    /// As [`Self::parse`].
    unsafe fn parameters(&self, format: Format) -> Result<Vec<PtxParameter>> {
        let given = slice(
            self.parameters,
            self.parameter_count as u64,
            &"desc->parameters",
            "desc->parameter_count",
        )?;
        let Some((start, count)) = given else {
            return Ok(Vec::new());
        };
        if format != Format::Ptx {
            return Err(invalid(format!(
                "desc->parameter_count is {count}, but only a PTX program takes a parameter list"
            ))
            .with_fix("Pass NULL and 0: a WGSL program declares its own bindings."));
        }
        let mut parameters = room(count, "desc->parameter_count")?;
        for index in 0..count {
            // SAFETY: as in `overrides`.
            let one = unsafe { start.as_ptr().add(index).read_unaligned() };
            parameters.push(one.parse(index)?);
        }
        Ok(parameters)
    }
}

impl vyre_ptx_parameter {
    fn parse(&self, index: usize) -> Result<PtxParameter> {
        let (group, binding) = (self.group, self.binding);
        Ok(match self.kind {
            VYRE_PTX_PARAMETER_ADDRESS => PtxParameter::Address {
                group,
                binding,
                access: self.access(index)?,
            },
            VYRE_PTX_PARAMETER_SIZE => PtxParameter::Size {
                group,
                binding,
                access: self.access(index)?,
            },
            VYRE_PTX_PARAMETER_IMMEDIATES => {
                for (value, field) in [
                    (group, "group"),
                    (binding, "binding"),
                    (self.access, "access"),
                ] {
                    reserved(
                        value,
                        &format!("desc->parameters[{index}].{field}, of immediates,"),
                    )?;
                }
                PtxParameter::Immediates
            }
            kind => {
                return Err(invalid(format!(
                    "desc->parameters[{index}].kind is {kind}; VYRE_PTX_PARAMETER_ADDRESS (1), _SIZE (2) or _IMMEDIATES (3) was expected"
                )));
            }
        })
    }

    fn access(&self, index: usize) -> Result<Access> {
        super::reflection::access(self.access).ok_or_else(|| {
            invalid(format!(
                "desc->parameters[{index}].access is {}; VYRE_ACCESS_READ (1), _READ_WRITE (2) or _UNIFORM (3) was expected",
                self.access
            ))
        })
    }
}

/// An empty vector with room for a count that the caller chose.
pub(super) fn room<T>(count: usize, what: &str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    match vector.try_reserve_exact(count) {
        Ok(()) => Ok(vector),
        Err(_) => Err(Error::new(
            Status::OutOfHostMemory,
            format!("{what} is {count}: there is no memory for that many"),
        )),
    }
}
