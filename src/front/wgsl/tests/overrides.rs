use super::{compile, options};
use crate::error::Status::InvalidProgram;
use crate::front::Options;

fn refused(text: &str, overrides: &[(&str, f64)], at: Option<(u32, u32)>, words: &str) {
    let options = Options {
        overrides,
        ..options()
    };
    let error = compile(text, &options).unwrap_err();
    assert_eq!(error.status(), InvalidProgram, "{error}");
    assert_eq!(error.position().map(|p| (p.line, p.column)), at, "{error}");
    assert!(error.message().contains(words), "{error}");
}

#[test]
fn wrong_values_are_refused() {
    let text = "@id(3) override a: u32 = 1;\noverride b: u32;\n@compute @workgroup_size(a, b) fn main() {}";
    refused(
        text,
        &[("c", 1.0)],
        None,
        "no override `c`: the program has `3`, `b`",
    );
    refused(text, &[("a", 1.0)], None, "no override `a`");
    refused(text, &[], Some((2, 1)), "the override `b` has no value");
    refused(text, &[("b", 1.0), ("b", 2.0)], None, "two values");
    refused(text, &[("b", f64::NAN)], None, "does not fit");
    refused(text, &[("b", 1e300)], None, "does not fit");
    refused(text, &[("b", 0.0)], None, "workgroup_size");
    refused(
        "@compute @workgroup_size(1) fn main() {}",
        &[("x", 1.0)],
        None,
        "has none",
    );
}
