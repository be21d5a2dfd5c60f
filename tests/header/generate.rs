//! The header's text: cbindgen once a section, and around it what cbindgen has no word for.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::sections::{PREAMBLE, SECTIONS};

pub fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/ffi/{file}.rs"))
}

pub fn header() -> String {
    let mut out = String::new();
    out.push_str("#ifndef VYRE_VYRE_H\n#define VYRE_VYRE_H\n\n");
    out.push_str(PREAMBLE);
    out.push_str("\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    out.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    for section in SECTIONS {
        write!(
            out,
            "\n/** @defgroup {} {}\n * {}\n * @{{\n */\n\n",
            section.group, section.title, section.text
        )
        .unwrap();
        out.push_str(bindings(section.files).trim());
        out.push_str("\n\n");
        for file in section.files {
            out.push_str(&brace_macros(file));
        }
        out.push_str("/** @} */\n");
    }
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* VYRE_VYRE_H */\n");
    out
}

fn bindings(files: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config);
    let bindings = files
        .iter()
        .fold(builder, |builder, file| builder.with_src(source(file)))
        .generate()
        .unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    // Every structure has a typedef of its name; with the tag the signatures would read worse.
    String::from_utf8(text)
        .unwrap()
        .replace("typedef struct ", "typedef\0")
        .replace("struct vyre_", "vyre_")
        .replace("typedef\0", "typedef struct ")
}

/// Structures that the sources declare with `sized!`.
pub fn sized_structures() -> Vec<String> {
    let files = SECTIONS.iter().flat_map(|section| section.files);
    files
        .flat_map(|file| sized_in(&read(file)))
        .map(|(name, _)| name)
        .collect()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(source(file)).unwrap()
}

/// Each `sized!` of a source file: the structure's name and its defaults, in Rust.
fn sized_in(text: &str) -> Vec<(String, Vec<String>)> {
    text.split("\nsized!(")
        .skip(1)
        .map(|rest| {
            let name = rest.split(',').next().unwrap().trim().to_owned();
            let (_, fields) = rest.split_once('{').unwrap();
            let (fields, _) = fields
                .split_once("\n})")
                .or(fields.split_once("});"))
                .unwrap();
            let defaults = fields
                .split(",\n")
                .filter_map(|field| field.split_once(':'))
                .map(|(_, value)| value.trim().trim_end_matches(',').to_owned())
                .collect();
            (name, defaults)
        })
        .collect()
}

/// The `VYRE_X_INIT` macros of a source file; a C test holds them equal to the init functions.
fn brace_macros(file: &str) -> String {
    let mut out = String::new();
    for (name, defaults) in sized_in(&read(file)) {
        let values: Vec<String> = defaults.iter().map(|value| in_c(value)).collect();
        write!(
            out,
            "/** Initial value of a {name}: what {name}_init() writes. */\n#define {}_INIT \\\n  {{ (uint32_t)sizeof({name}), {} }}\n\n",
            name.to_uppercase(),
            values.join(", ")
        )
        .unwrap();
    }
    out
}

fn in_c(value: &str) -> String {
    match value {
        "std::ptr::null()" => "NULL".into(),
        "[0; 3]" => "{ 0, 0, 0 }".into(),
        "0" => "0".into(),
        constant if constant.starts_with("VYRE_") => constant.into(),
        other => panic!("a default that has no C form yet: {other}"),
    }
}
