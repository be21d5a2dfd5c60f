//! WGSL, through naga.
//!
//! `parse` has naga read and validate the text, `entry` picks the entry point, `overrides` gives
//! the override constants their values. `lower` then walks the entry point once: `statement` and
//! `call` are the control flow (calls are inlined; `frame` is one inlined instance), `expression`
//! the computations with `math` for the built-in functions, `value` what expressions give,
//! `pointer` and `memory` where variables live and how they are reached, `globals` the module's
//! variables that `reach` finds in use. `layout` places the members of structures (with `attributes`, which naga forgets), `types` holds what types are made of, `indexed` which arrays need memory, `features` what is
//! refused, and `barrier` is about `gridBarrier()`
//! and `subgroup` lowers what subgroups do. `texture` makes buffers of textures. `shifts` and `counts` are around a fault of naga's arithmetic, `constants` around one of its overrides, `immediates` around one of its validator.

mod atomic;
mod attributes;
mod barrier;
mod call;
mod constants;
mod counts;
mod entry;
mod expression;
mod features;
mod frame;
mod globals;
mod immediates;
mod indexed;
mod layout;
mod lower;
mod math;
mod memory;
mod overrides;
mod parse;
mod pointer;
mod reach;
mod shifts;
mod statement;
mod subgroup;
#[cfg(test)]
mod tests;
mod texture;
pub mod tokens;
mod types;
mod value;

use super::{Options, nesting};
use crate::error::{Error, Result, Status};
use crate::ir::{Program, Source};
use overrides::Refused;

/// naga and lowering recurse with the program's nesting, which `nesting` bounds; at those bounds
/// they stay below this. Only the pages that are touched take memory.
const STACK: usize = 256 << 20;
/// Bytes of one program text. naga takes time in the square of the number of declarations, so this
/// also bounds how long a hostile text can take.
const LONGEST: usize = 2 << 20;

/// Parses, validates and lowers one entry point.
pub fn compile(text: &str, options: &Options<'_>) -> Result<Program> {
    let source = Source::new(text, options.label);
    if text.len() > LONGEST {
        let label = options.label.unwrap_or("program");
        return Err(Error::new(
            Status::InvalidProgram,
            format!(
                "{label}: the text is {} bytes long, more than the {LONGEST} that are allowed",
                text.len()
            ),
        ));
    }
    nesting::check(&source)?;
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .name("vyre-front".to_string())
            .stack_size(STACK)
            .spawn_scoped(scope, || compile_here(&source, options))
            .map_err(|error| {
                Error::new(
                    Status::OutOfHostMemory,
                    format!("no thread could be started to read the program: {error}"),
                )
                .with_native_code(error.raw_os_error().unwrap_or(0))
            })?;
        worker
            .join()
            .unwrap_or_else(|payload| Err(entry::panicked(&*payload)))
    })
}

fn compile_here(source: &Source, options: &Options<'_>) -> Result<Program> {
    let parsed = parse::parse(source, source.text())?;
    let entry = entry::select(&parsed.module, source, options.entry_point)?;
    let name = &parsed.module.entry_points[entry].name;
    let lowered = |parsed: &parse::Parsed, values| {
        let (module, info) = overrides::apply(&parsed.module, &parsed.info, name, values, source)?;
        let entry = module
            .entry_points
            .iter()
            .position(|e| e.stage == naga::ShaderStage::Compute && e.name == *name)
            .expect("overrides keep the entry point");
        Ok(lower::lower(
            source,
            options,
            (&module, &info),
            (&parsed.alignments, &parsed.immediates),
            entry,
        ))
    };
    match lowered(&parsed, options.overrides) {
        Ok(program) => program,
        Err(Refused::Values(error)) => Err(error),
        Err(Refused::Module(error)) => {
            let values = options.overrides;
            constants::in_place_of_overrides(source.text(), &parsed.module, values)
                .and_then(|text| parse::parse(source, &text).ok())
                .and_then(|parsed| lowered(&parsed, &[]).ok())
                .unwrap_or(Err(error))
        }
    }
}
