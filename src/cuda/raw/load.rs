//! From a description of a PTX kernel to something to launch.

use std::ffi::CStr;
use std::sync::Arc;

use super::scan::{self, Entry, Scan};
use super::{Counter, Raw, audit, parameters};
use crate::backend::ProgramDesc;
use crate::cuda::compiled::{Compiled, Origin};
use crate::cuda::context::Entered;
use crate::cuda::device::Device;
use crate::cuda::driver::code;
use crate::cuda::module::{Function, Module};
use crate::error::{Error, Result, Status};
use crate::program::{Limits, Reflection};

const COUNTER: &CStr = c"_vyre_grid_barrier";
const ABORT: &CStr = c"_vyre_grid_abort";

pub fn compile(
    device: &Arc<Device>,
    entered: &Entered<'_>,
    desc: &ProgramDesc<'_>,
    limits: &Limits,
) -> Result<Compiled> {
    let text = text(desc.code)?;
    if let Some((name, _)) = desc.overrides.first() {
        return Err(invalid(format!(
            "override `{name}` is given, but a PTX module has no override constants"
        )));
    }
    let scan = scan::scan(text);
    let entry = entry(&scan, desc.entry_point)?;
    let module = Module::load(device, entered, text.as_bytes())
        .map_err(|error| explained(error, &scan, device))?;
    let counter = counter(&module, entered, text)?;
    let function = module.function(entered, &entry.name)?;
    let size = workgroup_size(desc, entry, &function, limits)?;
    let dynamic = desc.workgroup_memory;
    let memory = u64::from(function.resources.shared) + u64::from(dynamic);
    if memory > limits.workgroup_memory {
        return Err(invalid(format!(
            "`{}` needs {memory} bytes of workgroup memory ({} of its own and desc->workgroup_memory, {dynamic}); {} has {}",
            entry.name, function.resources.shared, device.capabilities.name, limits.workgroup_memory
        ))
        .with_fix("Ask for less workgroup memory."));
    }
    if dynamic > 0 {
        function.allow_dynamic_shared(entered, dynamic)?;
    }
    let taken = own_parameters(&function, entered, entry)?;
    let interface = parameters::interface(
        &entry.name,
        &desc.parameters,
        &taken,
        limits.immediates_size,
    )?;
    let threads = size.iter().product();
    let blocks = function.occupancy(entered, threads, dynamic)?;
    let at_once = u64::from(blocks) * u64::from(device.capabilities.multiprocessors);
    let grid_barriers = match &counter {
        Some(counter) => u32::try_from(counter.barriers).unwrap_or(u32::MAX),
        None => 0,
    };
    Ok(Compiled {
        reflection: Reflection {
            entry_point: entry.name.clone(),
            label: desc.label.map(str::to_owned),
            workgroup_size: size,
            workgroup_memory: memory,
            immediates_size: interface.immediates_size,
            bindings: interface.bindings,
            grid_barriers,
            workgroup_barriers: 0,
            max_cooperative_workgroups: at_once,
        },
        function,
        at_once,
        origin: Origin::Raw(Raw {
            text: text.to_owned(),
            parameters: interface.passed,
            dynamic,
            counter,
        }),
    })
}

/// The part of a load that asks nothing of the driver.
pub fn check(desc: &ProgramDesc<'_>, most_immediates: u32) -> Result<()> {
    let text = text(desc.code)?;
    let scan = scan::scan(text);
    let entry = entry(&scan, desc.entry_point)?;
    if text.contains(scan::COUNTER) {
        audit::ceiling(audit::barriers(text), [1; 3])?;
    }
    let taken = &entry.parameters;
    parameters::interface(&entry.name, &desc.parameters, taken, most_immediates)?;
    given_size(desc, entry).map(|_| ())
}

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}

/// The module's text, without the NUL that ends C's strings.
fn text(code: &[u8]) -> Result<&str> {
    let refuse =
        |message: &str, fix: &str| Err(Error::new(Status::InvalidProgram, message).with_fix(fix));
    let end = (code.iter().rposition(|&byte| byte != 0)).map_or(0, |last| last + 1);
    let code = &code[..end];
    if code.starts_with(b"\x7fELF") || code.starts_with(b"\x50\xed\x55\xba") {
        return refuse(
            "the code is a cubin or fat binary, but PTX text was expected",
            "Pass what `nvcc -ptx` or NVRTC's nvrtcGetPTX gives.",
        );
    }
    match std::str::from_utf8(code) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => refuse(
            "the code is not text: it is not UTF-8, or has a zero byte inside",
            "Pass the PTX text as it is, without its NUL.",
        ),
    }
}

/// The kernel of that name, or the only one.
fn entry<'s>(scan: &'s Scan, name: Option<&str>) -> Result<&'s Entry> {
    let known = || match scan.entries.as_slice() {
        [] => "none".to_owned(),
        entries => {
            let names: Vec<_> = entries.iter().map(|e| format!("`{}`", e.name)).collect();
            names.join(", ")
        }
    };
    let found = match (name, scan.entries.as_slice()) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(name), entries) => entries.iter().find(|entry| entry.name == name),
    };
    found.ok_or_else(|| {
        let message = match name {
            Some(name) => format!("the module has no kernel `{name}`; it has {}", known()),
            None => format!(
                "entry_point is not given, and the module does not have just one kernel; it has {}",
                known()
            ),
        };
        Error::new(Status::InvalidProgram, message)
            .with_fix("Pass the name of a `.visible .entry` of the module as entry_point (C++ kernels have mangled names unless declared extern \"C\").")
    })
}

/// What a module under the module-scope contract declares.
fn counter(module: &Module, entered: &Entered<'_>, text: &str) -> Result<Option<Counter>> {
    let word = |name: &CStr| match module.global(entered, name)? {
        Some((address, 4)) => Ok(Some(address)),
        None => Ok(None),
        Some((_, size)) => Err(Error::new(
            Status::InvalidProgram,
            format!(
                "the module's {} has {size} bytes; 4 were expected",
                name.to_string_lossy()
            ),
        )
        .with_fix("Declare it as a 32-bit word: `.visible .global .align 128 .u32`.")),
    };
    let Some(address) = word(COUNTER)? else {
        return Ok(None);
    };
    let abort = word(ABORT)?;
    let barriers = audit::barriers(text);
    // Refused here, and not at the first dispatch.
    audit::ceiling(barriers, [1; 3])?;
    Ok(Some(Counter::new(address, abort, barriers)))
}

/// The block size that the module insists on, or that the caller names.
fn given_size(desc: &ProgramDesc<'_>, entry: &Entry) -> Result<[u32; 3]> {
    let name = &entry.name;
    let [x, y, z] = desc.workgroup_size;
    match (desc.workgroup_size, entry.required) {
        ([0, 0, 0], Some(required)) => Ok(required),
        ([0, 0, 0], None) => {
            Err(invalid(format!(
                "desc->workgroup_size is {{0, 0, 0}}, and `{name}` does not say with .reqntid what it must be"
            ))
            .with_fix("Set desc->workgroup_size to the block size that the kernel is written for."))
        }
        (given, Some(required)) if given != required => {
            let [a, b, c] = required;
            Err(invalid(format!(
                "desc->workgroup_size is {{{x}, {y}, {z}}}, but `{name}` runs with {{{a}, {b}, {c}}} only (.reqntid)"
            ))
            .with_fix("Leave desc->workgroup_size at {0, 0, 0} to take the kernel's own."))
        }
        (given, _) => Ok(given),
    }
}

/// The same, if the function can have it.
fn workgroup_size(
    desc: &ProgramDesc<'_>,
    entry: &Entry,
    function: &Function,
    limits: &Limits,
) -> Result<[u32; 3]> {
    let name = &entry.name;
    let size = given_size(desc, entry)?;
    let [x, y, z] = size;
    let threads = size.iter().map(|&n| u64::from(n)).product::<u64>();
    let most = u64::from(
        function
            .resources
            .max_threads
            .min(limits.workgroup_invocations),
    );
    let is_possible =
        (size.iter().zip(limits.workgroup_size)).all(|(&n, most)| (1..=most).contains(&n));
    if !is_possible || threads > most {
        let [a, b, c] = limits.workgroup_size;
        return Err(invalid(format!(
            "a workgroup of {{{x}, {y}, {z}}} is not possible for `{name}`: at least 1 and at most {{{a}, {b}, {c}}}, and {most} invocations in all (it takes {} registers each)",
            function.resources.registers
        ))
        .with_fix("Use a smaller workgroup_size."));
    }
    Ok(size)
}

/// The kernel's parameters with the sizes that the driver tells, where it does.
fn own_parameters(
    function: &Function,
    entered: &Entered<'_>,
    entry: &Entry,
) -> Result<Vec<scan::Parameter>> {
    let mut parameters = entry.parameters.clone();
    let Some(sizes) = function.parameter_sizes(entered)? else {
        return Ok(parameters);
    };
    parameters.truncate(sizes.len());
    for (index, &size) in sizes.iter().enumerate() {
        match parameters.get_mut(index) {
            Some(parameter) => parameter.size = Some(size),
            None => parameters.push(scan::Parameter {
                name: format!("parameter {index}"),
                size: Some(size),
            }),
        }
    }
    Ok(parameters)
}

/// Says what the module was made for, when the driver cannot load it.
fn explained(error: Error, scan: &Scan, device: &Device) -> Error {
    let told = matches!(
        error.native_code(),
        code::UNSUPPORTED_PTX_VERSION | code::NO_BINARY_FOR_GPU | code::INVALID_PTX
    );
    if !told {
        return error;
    }
    let unknown = || "unknown".to_owned();
    let (major, minor) = device.capabilities.compute_capability;
    let driver = device.context.driver.version;
    let message = format!(
        "{} (the module: .version {}, .target {}; here: a driver for CUDA {}.{}, and compute capability {major}.{minor})",
        error.message(),
        scan.version.clone().unwrap_or_else(unknown),
        scan.target.clone().unwrap_or_else(unknown),
        driver / 1000,
        driver % 1000 / 10,
    );
    Error::new(error.status(), message)
        .with_fix(error.fix())
        .with_native_code(error.native_code())
        .with_position(error.position())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ptx_text_is_refused() {
        assert_eq!(text(b".version 7.0\0\0").unwrap(), ".version 7.0");
        for code in [
            &b"\x7fELF\x02"[..],
            b"\x50\xed\x55\xba",
            b"a\0b",
            b"\xff\xfe",
        ] {
            assert_eq!(text(code).unwrap_err().status(), Status::InvalidProgram);
        }
    }

    #[test]
    fn kernels_are_found_by_name_or_alone() {
        let one = scan::scan(".visible .entry main() { ret; }");
        assert_eq!(entry(&one, None).unwrap().name, "main");
        let error = entry(&one, Some("mian")).unwrap_err();
        assert!(error.message().contains("`mian`") && error.message().contains("`main`"));
        let two = scan::scan(".entry a() { ret; } .entry b() { ret; }");
        assert!(
            entry(&two, None)
                .unwrap_err()
                .message()
                .contains("`a`, `b`")
        );
        assert!(
            entry(&scan::scan(""), None)
                .unwrap_err()
                .message()
                .contains("none")
        );
    }
}
