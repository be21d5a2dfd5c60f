//! Override constants as constants of the text.
//!
//! naga computes the bodies of functions anew when overrides get their values, and there refuses
//! some valid ones ("Expression can't be introduced - it's already in scope"). It reads the same
//! program well when the values are written into it.

use std::fmt::Write;

use naga::{Module, TypeInner};

use super::overrides::key;
use super::tokens::{Token, tokens};
use super::types;
use crate::front::fold::{from_f16, to_f16};
use crate::ir::Scalar;

/// The text with a constant for each override, with everything else at its place; `None` if a
/// declaration is not found as expected. `values` are by name, or by the digits of an `@id`.
pub fn in_place_of_overrides(
    text: &str,
    module: &Module,
    values: &[(&str, f64)],
) -> Option<String> {
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    let mut kept = text.as_bytes().to_vec();
    let mut constants = String::new();
    for declaration in declarations(&tokens) {
        let Some(at) = declaration.iter().position(|t| t.text == "override") else {
            continue;
        };
        let name = declaration.get(at + 1)?.text;
        let (first, last) = (declaration.first()?.at, declaration.last()?.at);
        let initialiser = declaration
            .iter()
            .find(|t| t.text == "=")
            .map(|equals| &text[equals.at + 1..last]);
        let (_, known) = module
            .overrides
            .iter()
            .find(|(_, o)| o.name.as_deref() == Some(name))?;
        let TypeInner::Scalar(scalar) = module.types[known.ty].inner else {
            return None;
        };
        let scalar = types::scalar(scalar)?;
        let written = key(known).and_then(|key| values.iter().find(|(k, _)| *k == key));
        let value = match (written, initialiser) {
            (Some(&(_, value)), _) => literal(value, scalar),
            (None, Some(initialiser)) => initialiser.trim().to_string(),
            // The entry point does not use it, or its lack of a value would have been the error.
            (None, None) => literal(1.0, scalar),
        };
        // The line break ends a comment in the initialiser.
        let _ = write!(constants, "\nconst {name}: {scalar} = {value}\n;");
        for byte in &mut kept[first..=last] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    let mut text = String::from_utf8(kept).ok()?;
    text.push_str(&constants);
    Some(text)
}

/// The module's declarations that end in a semicolon, each with that.
fn declarations<'t, 'a>(tokens: &'t [Token<'a>]) -> impl Iterator<Item = &'t [Token<'a>]> {
    let mut depth = 0usize;
    let ends = move |token: &Token<'_>| {
        match token.text {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(token.text, ";" | "}")
    };
    tokens
        .split_inclusive(ends)
        .filter(|d| d.last().is_some_and(|t| t.text == ";"))
}

/// A value as WebGPU converts it to an override's type. `value` is known to fit.
fn literal(value: f64, scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => (value != 0.0 && !value.is_nan()).to_string(),
        // Abstract: the least value has no literal of its type.
        Scalar::I32 => (value as i32).to_string(),
        Scalar::U32 => (value as u32).to_string(),
        Scalar::I64 => match value as i64 {
            i64::MIN => format!("({} - 1)", i64::MIN + 1),
            value => value.to_string(),
        },
        Scalar::U64 => format!("{}lu", value as u64),
        // Rounded here: naga rounds digits to f32 first.
        Scalar::F16 => format!("{:?}h", from_f16(to_f16(value))),
        Scalar::F32 => format!("{:?}f", value as f32),
        Scalar::F64 => format!("{value:?}lf"),
    }
}

#[cfg(test)]
mod tests {
    use super::in_place_of_overrides;

    fn replaced(text: &str, values: &[(&str, f64)]) -> String {
        let module = naga::front::wgsl::parse_str(text).unwrap();
        let replaced = in_place_of_overrides(text, &module, values).unwrap();
        naga::front::wgsl::parse_str(&replaced).unwrap_or_else(|e| panic!("{replaced}: {e}"));
        replaced
    }

    #[test]
    fn everything_else_stays_in_place() {
        let text = "@id(3) override /* é */ a = 5 // b\n;fn f() -> i32 { return a; }\noverride b: bool;\noverride c: f32 = f32(a);";
        let blank = |declaration: &str| " ".repeat(declaration.len());
        assert_eq!(
            replaced(text, &[("b", 0.5)]),
            [
                &blank("@id(3) override /* é */ a = 5 // b"),
                " fn f() -> i32 { return a; }",
                &blank("override b: bool;"),
                &blank("override c: f32 = f32(a);"),
                "const a: i32 = 5 // b",
                ";",
                "const b: bool = true",
                ";",
                "const c: f32 = f32(a)",
                ";",
            ]
            .join("\n")
        );
        assert!(replaced(text, &[("3", -7.9)]).contains("const a: i32 = -7\n;"));
    }

    #[test]
    fn every_value_has_a_literal() {
        for (ty, value, literal) in [
            ("bool", f64::NAN, "false"),
            ("i32", -2147483648.9, "-2147483648"),
            ("u32", 4294967295.0, "4294967295"),
            ("i64", -9223372036854775808.0, "(-9223372036854775807 - 1)"),
            ("i64", 9e18, "9000000000000000000"),
            ("u64", 1.8e19, "18000000000000000000lu"),
            ("f32", 1e-45, "1e-45f"),
            ("f32", 3.4028234663852886e38, "3.4028235e38f"),
            ("f64", -0.1, "-0.1lf"),
            ("f64", 1.7976931348623157e308, "1.7976931348623157e308lf"),
        ] {
            let text = format!("override k: {ty};\n@compute @workgroup_size(1) fn main() {{}}");
            let replaced = replaced(&text, &[("k", value)]);
            assert!(
                replaced.ends_with(&format!("const k: {ty} = {literal}\n;")),
                "{replaced}"
            );
        }
        let replaced = replaced(
            "enable f16; override k: f16; override unused: u32;",
            &[("k", 1.0 + 2f64.powi(-11) + 2f64.powi(-40))],
        );
        assert!(
            replaced.contains("const k: f16 = 1.0009765625h\n;"),
            "{replaced}"
        );
        assert!(replaced.contains("const unused: u32 = 1\n;"), "{replaced}");
    }
}
