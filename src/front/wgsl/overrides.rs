//! Values for override constants.

use std::borrow::Cow;

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::valid::ModuleInfo;
use naga::{Module, Override};

use super::lower::clamp;
use super::parse::validation_error;
use crate::error::{Error, Result};
use crate::ir::{Source, Span};

/// Why overrides did not get their values.
pub enum Refused {
    /// The values are to blame.
    Values(Error),
    /// With the values the module is not valid, or naga made it so: see `constants`.
    Module(Error),
}

/// The module of one compute entry point with `values` (by name, or by the digits of an `@id`) in
/// the place of its overrides.
pub fn apply<'a>(
    module: &'a Module,
    info: &'a ModuleInfo,
    entry: &str,
    values: &[(&str, f64)],
    source: &Source,
) -> std::result::Result<(Cow<'a, Module>, Cow<'a, ModuleInfo>), Refused> {
    let constants = pipeline_constants(module, values, source).map_err(Refused::Values)?;
    if module.overrides.is_empty() {
        return Ok((Cow::Borrowed(module), Cow::Borrowed(info)));
    }
    let stage = Some((naga::ShaderStage::Compute, entry));
    process_overrides(module, info, stage, &constants).map_err(|error| {
        let described = described(module, source, &error);
        match error {
            PipelineConstantError::ValidationError(_) => Refused::Module(described),
            _ => Refused::Values(described),
        }
    })
}

fn pipeline_constants(
    module: &Module,
    values: &[(&str, f64)],
    source: &Source,
) -> Result<PipelineConstants> {
    let mut constants = PipelineConstants::default();
    for &(key, value) in values {
        if !keys(module).any(|known| known == key) {
            return Err(unknown(module, source, key));
        }
        if constants.insert(key.to_string(), value).is_some() {
            return Err(source
                .error(
                    Span::default(),
                    &format!("the override `{key}` has two values"),
                )
                .with_fix("Give each override one value."));
        }
    }
    Ok(constants)
}

/// What each override is called by.
fn keys(module: &Module) -> impl Iterator<Item = String> {
    module.overrides.iter().filter_map(|(_, o)| key(o))
}

/// What an override is called by.
pub fn key(known: &Override) -> Option<String> {
    match known.id {
        Some(id) => Some(id.to_string()),
        None => known.name.clone(),
    }
}

fn unknown(module: &Module, source: &Source, key: &str) -> Error {
    let known: Vec<String> = keys(module).map(|key| format!("`{key}`")).collect();
    let known = if known.is_empty() {
        "none".to_string()
    } else {
        known.join(", ")
    };
    source
        .error(
            Span::default(),
            &format!("there is no override `{key}`: the program has {known}"),
        )
        .with_fix("Call an override by its @id if it has one, else by its name.")
}

fn described(module: &Module, source: &Source, error: &PipelineConstantError) -> Error {
    match error {
        PipelineConstantError::MissingValue(key) => {
            let found = module
                .overrides
                .iter()
                .find(|(_, o)| self::key(o).as_ref() == Some(key));
            let span = found.map_or(Span::default(), |(handle, _)| {
                clamp(source, module.overrides.get_span(handle))
            });
            source
                .error(span, &format!("the override `{key}` has no value"))
                .with_fix("Pass a value for it, or give it an initialiser.")
        }
        PipelineConstantError::ValidationError(error) => validation_error(source, error),
        other => source
            .error(
                Span::default(),
                &format!("an override's value does not fit: {other}"),
            )
            .with_fix("Pass a finite number within the override's type."),
    }
}
