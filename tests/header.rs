//! The C header is generated from `src/ffi`, and this holds the committed one to it.
//!
//! `VYRE_UPDATE_HEADER=1 cargo test --test header` rewrites `include/vyre/vyre.h` and `vyre.symbols`.

mod header {
    pub mod exports;
    pub mod generate;
    pub mod sections;
}

use std::fs;
use std::path::Path;

use header::{exports, generate};

/// Compares a generated file with the committed one, or rewrites it.
fn hold(path: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("VYRE_UPDATE_HEADER").is_some_and(|on| on == "1") {
        fs::write(&path, generated).unwrap();
        return;
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let drift = committed
        .lines()
        .zip(generated.lines())
        .enumerate()
        .find(|(_, (old, new))| old != new);
    assert!(
        committed == generated,
        "{} is not what src/ffi says (first difference: {drift:?}). Run VYRE_UPDATE_HEADER=1 cargo test --test header",
        path.display()
    );
}

#[test]
fn the_header_is_what_the_sources_say() {
    hold("include/vyre/vyre.h", &generate::header());
}

#[test]
fn the_symbol_list_is_what_the_sources_say() {
    hold(
        "include/vyre/vyre.symbols",
        &exports::list(&exports::declared()),
    );
}

#[test]
fn the_header_declares_every_export_and_no_other() {
    let header = generate::header();
    let mut declared: Vec<&str> = header
        .lines()
        .filter(|line| !line.starts_with([' ', '*', '/', '#', '}']) && !line.starts_with("typedef"))
        .filter_map(|line| line.split_once('(').map(|(head, _)| head))
        .map(|head| head.rsplit([' ', '*']).next().unwrap_or(head))
        .collect();
    declared.sort_unstable();
    assert_eq!(declared, exports::declared());
}

#[test]
fn every_export_is_one_entry_macro_and_nothing_beside_it() {
    let functions = exports::functions();
    assert!(
        functions.len() > 40,
        "the sources were not read: {}",
        functions.len()
    );
    for function in functions {
        let exports::Function {
            name,
            body,
            attributes,
            parameters,
            gives,
        } = function;
        assert!(
            exports::is_one_entry(&body),
            "{name} has more than its entry! in it: {body}"
        );
        assert!(
            attributes.contains("#[unsafe(no_mangle)]"),
            "{name} is not exported"
        );
        assert!(attributes.contains("///"), "{name} has no documentation");
        assert!(
            attributes
                .replace("\n/// ", " ")
                .contains("Any thread may call"),
            "{name} does not say who may call it"
        );
        for parameter in parameters {
            assert!(
                attributes.contains(&format!("/// @param {parameter} ")),
                "{name} does not say what {parameter} is"
            );
        }
        assert!(
            !gives || attributes.contains("/// @return "),
            "{name} does not say what it returns"
        );
    }
}

#[test]
fn the_entry_check_can_fail() {
    assert!(exports::is_one_entry("entry!(value: 0, { f(1) })"));
    for body in [
        "",
        "f()",
        "f(); entry!(value: 0, 0)",
        "entry!(value: 0, 0); f()",
        "entry!(value: 0, 0) + entry!(value: 0, 0)",
    ] {
        assert!(!exports::is_one_entry(body), "{body}");
    }
}

#[test]
fn the_shared_library_exports_the_list_and_nothing_else() {
    assert_eq!(exports::of_library(), exports::declared());
}

#[test]
fn every_sized_structure_has_its_init_function_and_brace_macro() {
    let header = generate::header();
    for name in generate::sized_structures() {
        assert!(
            header.contains(&format!("void {name}_init({name} *")),
            "{name}_init"
        );
        assert!(
            header.contains(&format!("#define {}_INIT", name.to_uppercase())),
            "{name}"
        );
    }
}
