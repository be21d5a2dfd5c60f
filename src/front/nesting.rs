//! Bounds how deeply a text nests before naga recurses through it.
//!
//! naga limits braces and parentheses itself, but an expression `a + a + a ...` nests as deeply as
//! it is long, and so does a chain of `else if`.

use crate::error::Result;
use crate::front::wgsl::tokens::tokens;
use crate::ir::{Source, Span};

/// Operators on the path from an expression's root to a leaf. naga and lowering take about 1 KiB of
/// stack for each.
const OPERATORS: u32 = 10_000;
/// Branches of one `if`.
const BRANCHES: u32 = 500;

/// Refuses texts that nest too deeply.
pub fn check(source: &Source) -> Result<()> {
    let mut depth = 0u32;
    // What the depth was where each open parenthesis or bracket stands.
    let mut open: Vec<u32> = Vec::new();
    let mut branches = 0u32;
    let mut after_brace = false;
    for token in tokens(source.text()) {
        match token.text {
            "(" | "[" => open.push(depth),
            // An index or a call is one more step for what follows it.
            ")" | "]" => depth = open.pop().unwrap_or(0) + 1,
            "," => depth = open.last().copied().unwrap_or(0),
            ";" | "{" | "}" => {
                depth = 0;
                open.clear();
            }
            "else" => branches += 1,
            sign if !sign.starts_with(|c: char| c.is_alphanumeric() || c == '_') => depth += 1,
            _ => {}
        }
        if after_brace && token.text != "else" {
            branches = 0;
        }
        after_brace = token.text == "}";
        let too_deep = match (depth > OPERATORS, branches > BRANCHES) {
            (true, _) => format!("an expression nests more than {OPERATORS} operators here"),
            (_, true) => format!("an `if` has more than {BRANCHES} branches here"),
            _ => continue,
        };
        let at = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        let span = Span::new(at(token.at), at(token.at + token.text.len()));
        return Err(source
            .error(span, &too_deep)
            .with_fix("Split it: use variables for parts of it, or a loop or a switch."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(text: &str) -> bool {
        check(&Source::new(text, None)).is_err()
    }

    #[test]
    fn long_chains_are_refused_and_long_lists_are_not() {
        assert!(is_refused(&"a+".repeat(20_000)));
        assert!(is_refused(&"!".repeat(20_000)));
        assert!(is_refused(&"a[0]".repeat(20_000)));
        assert!(is_refused(&"(a+".repeat(20_000)));
        assert!(is_refused(&"if a {} else ".repeat(1000)));
        assert!(!is_refused(&"a+b,".repeat(20_000)));
        assert!(!is_refused(&"a=b+c;".repeat(20_000)));
        assert!(!is_refused(&"if a {} else {} ".repeat(1000)));
        assert!(!is_refused(&format!(
            "x = array({});",
            "-1,".repeat(50_000)
        )));
        assert!(!is_refused(&format!("/*{}*/ a", "+".repeat(50_000))));
    }

    #[test]
    fn the_place_is_named() {
        let text = format!("let x =\n{}1;", "-".repeat(10_001));
        let error = check(&Source::new(text, None)).unwrap_err();
        let at = error.position().unwrap();
        assert_eq!((at.line, at.column), (2, 10_000));
    }
}
