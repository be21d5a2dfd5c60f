//! `gridBarrier()`: the one function that the language gains.

use naga::{Module, Statement};

use super::lower::clamp;
use super::tokens::tokens;
use crate::error::Result;
use crate::ir::Source;

pub const GRID_BARRIER: &str = "gridBarrier";

/// The text that naga reads: the user's, and behind it the declaration where it is missing, so
/// that spans stay true.
pub fn with_declaration(text: &str) -> String {
    let mut whole = text.to_string();
    let words: Vec<&str> = tokens(text).map(|t| t.text).collect();
    let named = words.contains(&GRID_BARRIER);
    let declared = words.windows(2).any(|w| w == ["fn", GRID_BARRIER]);
    if named && !declared {
        whole.push_str("\nfn gridBarrier() {}");
    }
    whole
}

/// Refuses a declaration that is more than a name.
pub fn check(module: &Module, source: &Source) -> Result<()> {
    let declared = module
        .functions
        .iter()
        .find(|(_, f)| f.name.as_deref() == Some(GRID_BARRIER));
    let Some((handle, function)) = declared else {
        return Ok(());
    };
    let is_empty = function
        .body
        .iter()
        .all(|s| matches!(s, Statement::Return { value: None }))
        && function.expressions.is_empty()
        && function.local_variables.is_empty();
    if function.arguments.is_empty() && function.result.is_none() && is_empty {
        return Ok(());
    }
    let span = clamp(source, module.functions.get_span(handle));
    Err(source
        .error(
            span,
            "`gridBarrier` has to be declared without parameters, result and statements",
        )
        .with_fix(
            "Write `fn gridBarrier() {}` or leave the declaration out: vyre gives calls of it their meaning.",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_is_added_where_a_call_lacks_it() {
        let added = |text: &str| with_declaration(text).len() > text.len();
        assert!(!added("fn f() {}"));
        assert!(added("fn f() { gridBarrier(); }"));
        assert!(!added("fn gridBarrier() {} fn f() { gridBarrier(); }"));
        assert!(!added(
            "fn /* a /* b */ */ gridBarrier() {} fn f() { gridBarrier(); }"
        ));
        assert!(added("// fn gridBarrier() {}\nfn f() { gridBarrier(); }"));
        assert!(added("/* fn gridBarrier() {} */ fn f() { gridBarrier(); }"));
        assert!(!added("// gridBarrier"));
        assert!(!added("fn my_gridBarrier() {} fn gridBarriers() {}"));
        assert!(!added("/* gridBarrier"));
    }
}
