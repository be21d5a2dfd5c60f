//! Parsing and validation by naga, and its errors in our form.

use std::collections::HashSet;
use std::error::Error as _;

use naga::front::wgsl::ParseError;
use naga::valid::{
    Capabilities, EntryPointError, GlobalUse, ModuleInfo, ValidationError, ValidationFlags,
    Validator,
};
use naga::{ImageClass, Module, StorageAccess, TypeInner, WithSpan};

use super::layout::{self, Alignments};
use super::lower::clamp;
use super::{attributes, barrier, counts, entry, features, immediates, shifts, subgroup};
use crate::error::{Error, Result};
use crate::ir::{Source, Span};

/// What lowering handles, and what it refuses under a clearer name than naga's.
fn capabilities() -> Capabilities {
    Capabilities::IMMEDIATES
        | Capabilities::FLOAT64
        | Capabilities::SHADER_FLOAT16
        | Capabilities::SHADER_FLOAT16_IN_FLOAT32
        | Capabilities::SHADER_INT64
        | Capabilities::SHADER_INT64_ATOMIC_MIN_MAX
        | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS
        | Capabilities::SHADER_FLOAT32_ATOMIC
        | Capabilities::SUBGROUP
        | Capabilities::SUBGROUP_BARRIER
        | Capabilities::RAY_QUERY
        | Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY
        | Capabilities::BUFFER_BINDING_ARRAY
        | Capabilities::STORAGE_BUFFER_BINDING_ARRAY
        | Capabilities::STORAGE_TEXTURE_BINDING_ARRAY
        | Capabilities::TEXTURE_EXTERNAL
        | Capabilities::TEXTURE_ATOMIC
        | Capabilities::TEXTURE_INT64_ATOMIC
        | Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS
        | Capabilities::CUBE_ARRAY_TEXTURES
        | Capabilities::MULTISAMPLED_SHADING
        | Capabilities::EARLY_DEPTH_TEST
        | Capabilities::PRIMITIVE_INDEX
        | Capabilities::DUAL_SOURCE_BLENDING
        | Capabilities::CLIP_DISTANCES
}

/// A valid module, and what it does not say.
pub struct Parsed {
    pub module: Module,
    pub info: ModuleInfo,
    pub alignments: Alignments,
    /// Names of the buffers that are immediates.
    pub immediates: HashSet<String>,
}

/// A valid module. `source` is the user's text, and `text` that or one with the same things at the
/// same places.
pub fn parse(source: &Source, text: &str) -> Result<Parsed> {
    let text = subgroup::without_directives(text);
    let text = barrier::with_declaration(&text);
    let read = read(source, &text)?;
    // What naga refuses as it stands is refused; the other text is only for its arithmetic.
    let numbers = shifts::lowered(&text);
    let text = numbers.as_deref().unwrap_or(&text);
    match counts::lowered(source, text, |text| self::read(source, text).is_ok())?.or(numbers) {
        Some(text) => self::read(source, &text),
        None => Ok(read),
    }
}

fn read(source: &Source, text: &str) -> Result<Parsed> {
    let said = attributes::Said::read(source, text)?;
    let mut module = match naga::front::wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => return Err(parse_error(source, &error)),
    };
    barrier::check(&module, source)?;
    let attributes = said.of(source, &module)?;
    let alignments = layout::correct(&mut module, &attributes, source)?;
    let immediates = immediates::disguise(&mut module);
    let info = Validator::new(ValidationFlags::all(), capabilities())
        .validate(&subgroup::in_one_dimension(&module))
        .map_err(|error| {
            features::refusal(&module, source, &error)
                .or_else(|| collision(&module, source, &error))
                .or_else(|| misuse(&module, source, &error))
                .unwrap_or_else(|| validation_error(source, &error))
        })?;
    Ok(Parsed {
        module,
        info,
        alignments,
        immediates,
    })
}

fn parse_error(source: &Source, error: &ParseError) -> Error {
    let in_text = |span: naga::Span| {
        span.to_range()
            .is_none_or(|range| range.start < source.text().len())
    };
    let ends_in_text = |span: naga::Span| {
        span.to_range()
            .is_none_or(|range| range.end <= source.text().len())
    };
    if error.labels().any(|(span, _)| !in_text(span)) {
        // The added declaration is in the way; what is wrong shows without it.
        if let Err(alone) =
            naga::front::wgsl::parse_str(&subgroup::without_directives(source.text()))
            && alone.labels().all(|(span, _)| ends_in_text(span))
        {
            return described_parse_error(source, &alone);
        }
        if let Some((span, _)) = error.labels().find(|&(span, _)| in_text(span)) {
            return source
                .error(
                    clamp(source, span),
                    "`gridBarrier` is the name of vyre's grid barrier and cannot name something else here",
                )
                .with_fix("Give it another name.");
        }
    }
    described_parse_error(source, error)
}

fn described_parse_error(source: &Source, error: &ParseError) -> Error {
    if error.notes().any(|note| note.contains("recursion limit")) {
        return source.error(Span::default(), "the program is nested too deeply");
    }
    let mut what = error
        .message()
        .replace("found \"\"", "found the end of the text");
    let mut primary = Span::default();
    for (i, (span, text)) in error.labels().enumerate() {
        let span = clamp(source, span);
        if i == 0 {
            primary = last_character_if_at_end(source, span);
        }
        describe(&mut what, source, span, text, i == 0);
    }
    for note in error.notes() {
        what.push_str("; note: ");
        what.push_str(note.trim());
    }
    source.error(primary, &what)
}

/// Two variables that the entry point uses have one binding.
fn collision(module: &Module, source: &Source, error: &WithSpan<ValidationError>) -> Option<Error> {
    let ValidationError::EntryPoint {
        source: EntryPointError::BindingCollision(handle),
        ..
    } = error.as_inner()
    else {
        return None;
    };
    let variable = &module.global_variables[*handle];
    let binding = variable.binding.as_ref()?;
    let (other, _) = module
        .global_variables
        .iter()
        .find(|&(h, v)| h != *handle && v.binding.as_ref() == Some(binding))?;
    let name = |h: naga::Handle<naga::GlobalVariable>| {
        module.global_variables[h].name.as_deref().unwrap_or("_")
    };
    let what = format!(
        "`{}` and `{}` are both bound at @group({}) @binding({})",
        name(*handle),
        name(other),
        binding.group,
        binding.binding
    );
    let span = clamp(source, module.global_variables.get_span(*handle));
    Some(
        source
            .error(span, &what)
            .with_fix("Give each variable that the entry point uses a binding of its own."),
    )
}

/// A storage texture is read or written, but not declared to be.
fn misuse(module: &Module, source: &Source, error: &WithSpan<ValidationError>) -> Option<Error> {
    let ValidationError::EntryPoint {
        source: EntryPointError::InvalidGlobalUsage(handle, usage),
        ..
    } = error.as_inner()
    else {
        return None;
    };
    let variable = &module.global_variables[*handle];
    let TypeInner::Image {
        class: ImageClass::Storage { access, .. },
        ..
    } = module.types[variable.ty].inner
    else {
        return None;
    };
    let name = variable.name.as_deref().unwrap_or("_");
    let is_written = usage.contains(GlobalUse::WRITE) && !access.contains(StorageAccess::STORE);
    let (used, declared) = match is_written {
        true => ("written", "read"),
        false => ("read", "write"),
    };
    let what = format!("the texture `{name}` is {used}, but its access mode is `{declared}`");
    let span = clamp(source, module.global_variables.get_span(*handle));
    let error = source.error(span, &what);
    Some(error.with_fix("Declare the texture with `read_write`."))
}

pub fn validation_error(source: &Source, error: &WithSpan<ValidationError>) -> Error {
    let mut what = error.as_inner().to_string();
    let mut cause = error.as_inner().source();
    while let Some(inner) = cause {
        what.push_str(": ");
        what.push_str(&inner.to_string());
        cause = inner.source();
    }
    let mut what = without_handles(&what);
    let mut primary = Span::default();
    // naga adds spans from the inside out: the first is the closest to the fault.
    for (i, (span, text)) in error.spans().enumerate() {
        let span = clamp(source, *span);
        if i == 0 {
            primary = span;
        }
        // Handles mean nothing to a reader.
        if !text.starts_with("naga::") {
            describe(&mut what, source, span, text, i == 0);
        }
    }
    if !primary.is_known()
        && let ValidationError::EntryPoint { name, .. } = error.as_inner()
    {
        primary = entry::declaration_span(source, name);
    }
    source.error(primary, &what)
}

/// Appends a label's text, with its place unless it is the primary one.
fn describe(what: &mut String, source: &Source, span: Span, text: &str, primary: bool) {
    if text.is_empty() || what.contains(text) {
        return;
    }
    what.push_str("; ");
    if !primary && let Some(at) = source.position(span) {
        what.push_str(&format!("{}:{}: ", at.line, at.column));
    }
    what.push_str(text);
}

/// An unexpected end of the text is shown at the last character that is not white space.
fn last_character_if_at_end(source: &Source, span: Span) -> Span {
    let text = source.text();
    if (span.start as usize) < text.len() || text.trim_end().is_empty() {
        return span;
    }
    let end = text.trim_end().len();
    let last = text[..end].char_indices().next_back().map_or(0, |(i, _)| i);
    let at = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
    Span::new(at(last), at(end))
}

/// naga names expressions, types and functions by index (` [3]`), which means nothing to a reader.
fn without_handles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" [") {
        let (before, bracket) = rest.split_at(at);
        kept.push_str(before);
        let digits = bracket[2..].trim_start_matches(|c: char| c.is_ascii_digit());
        match digits.strip_prefix(']') {
            Some(after) if digits.len() < bracket.len() - 2 => rest = after,
            _ => {
                kept.push_str(" [");
                rest = &bracket[2..];
            }
        }
    }
    kept.push_str(rest);
    kept.replace("Call to is invalid", "The call is invalid")
}

#[cfg(test)]
mod tests {
    use super::without_handles;

    #[test]
    fn handles_are_left_out() {
        assert_eq!(
            without_handles("Call to [0] is invalid: Argument 1 value [12] is [a] [3"),
            "The call is invalid: Argument 1 value is [a] [3"
        );
    }
}
