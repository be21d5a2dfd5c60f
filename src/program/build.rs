//! From text to a checked program.

use crate::error::{Error, Result, Status};
use crate::front::{self, Options};
use crate::ir::uniformity::{self, Uniformity};
use crate::ir::{Program, validate};

/// What the backend that will run a program allows.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub workgroup_size: [u32; 3],
    pub workgroup_invocations: u32,
    /// In bytes.
    pub workgroup_memory: u64,
    /// In bytes.
    pub immediates_size: u32,
}

/// A lowered program and what was proven about it.
pub struct Checked {
    pub program: Program,
    pub uniformity: Uniformity,
}

/// Lowers, validates and proves. `trust`: accept grid barriers that cannot be proven uniform.
pub fn build(code: &[u8], options: &Options<'_>, trust: bool, limits: &Limits) -> Result<Checked> {
    let text = text(code)?;
    let program = front::wgsl::compile(text, options)?;
    // A fault of the lowering, not of the text; found here rather than as wrong results.
    validate(&program).map_err(|fault| {
        Error::new(
            Status::Internal,
            format!("the program was lowered wrongly: {fault}"),
        )
    })?;
    check_limits(&program, limits)?;
    let uniformity = uniformity::analyse(&program);
    match uniformity.refusal(&program) {
        Some(refusal) if !trust => Err(refusal),
        _ => Ok(Checked {
            program,
            uniformity,
        }),
    }
}

fn text(code: &[u8]) -> Result<&str> {
    std::str::from_utf8(code).map_err(|error| {
        let at = error.valid_up_to();
        Error::new(
            Status::InvalidProgram,
            format!(
                "WGSL is UTF-8 text, but byte {at} of {} (0x{:02x}) does not belong to any character",
                code.len(),
                code[at],
            ),
        )
        .with_fix("Save the program as UTF-8, or pass VYRE_PROGRAM_PTX if it is PTX.")
    })
}

fn check_limits(program: &Program, limits: &Limits) -> Result<()> {
    let over = |what: &str, seen: u64, most: u64, fix: &str| {
        Err(Error::new(
            Status::InvalidProgram,
            format!(
                "entry point `{}`: {what} is {seen}, but this backend allows {most}",
                program.entry_point
            ),
        )
        .with_fix(fix))
    };
    for (axis, (&seen, &most)) in ["x", "y", "z"]
        .iter()
        .zip(program.workgroup_size.iter().zip(&limits.workgroup_size))
    {
        if seen > most {
            return over(
                &format!("the workgroup size in {axis}"),
                u64::from(seen),
                u64::from(most),
                "Use a smaller @workgroup_size; vyre_backend_info() gives the limits.",
            );
        }
    }
    let invocations = program.workgroup_invocations();
    if invocations > u64::from(limits.workgroup_invocations) {
        return over(
            "the number of invocations in a workgroup",
            invocations,
            u64::from(limits.workgroup_invocations),
            "Use a smaller @workgroup_size; vyre_backend_info() gives the limits.",
        );
    }
    if program.workgroup_memory() > limits.workgroup_memory {
        return over(
            "workgroup memory in bytes",
            program.workgroup_memory(),
            limits.workgroup_memory,
            "Use smaller var<workgroup> variables; vyre_backend_info() gives the limit.",
        );
    }
    if program.immediates_size > limits.immediates_size {
        return over(
            "the size of the immediates in bytes",
            u64::from(program.immediates_size),
            u64::from(limits.immediates_size),
            "Pass large parameters in a uniform or storage buffer.",
        );
    }
    Ok(())
}
