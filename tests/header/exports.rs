//! The exported functions: as the sources have them, and as the built library does.

use std::path::PathBuf;
use std::process::Command;

use super::generate::source;
use super::sections::SECTIONS;

pub struct Function {
    pub name: String,
    /// The comment and attribute lines above it.
    pub attributes: String,
    /// Between its outer braces.
    pub body: String,
    /// Their names.
    pub parameters: Vec<String>,
    /// Whether it returns something.
    pub gives: bool,
}

/// Every `extern "C"` function that the sources of the C surface export.
pub fn functions() -> Vec<Function> {
    let folder = source("mod");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut functions = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices("extern \"C\" fn vyre_") {
            functions.push(function(&text, at));
        }
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let in_header = SECTIONS.iter().any(|section| section.files.contains(&stem));
        assert!(
            in_header || !text.contains("no_mangle"),
            "{} exports something but is in no section of the header",
            file.display()
        );
        assert_eq!(
            text.matches("#[unsafe(no_mangle)]").count(),
            text.matches("extern \"C\" fn vyre_").count(),
            "{} exports something that is no vyre_ function, or forgets to",
            file.display()
        );
    }
    functions
}

fn function(text: &str, at: usize) -> Function {
    let rest = &text[at + "extern \"C\" fn ".len()..];
    let name = rest[..rest.find('(').unwrap()].to_owned();
    let open = rest.find(" {\n").unwrap() + 2;
    // rustfmt puts the closing brace of an item at the start of a line, and no other one there.
    let close = open + rest[open..].find("\n}\n").unwrap();
    let signature = &rest[..open];
    let (parameters, result) = signature
        .split_once('(')
        .unwrap()
        .1
        .rsplit_once(')')
        .unwrap();
    let above = &text[..at];
    let start = above.rfind("\n\n").unwrap_or(0);
    Function {
        name,
        attributes: above[start..].trim().to_owned(),
        body: rest[open..close].trim().to_owned(),
        parameters: parameters
            .split(',')
            .filter_map(|parameter| parameter.split_once(':'))
            .map(|(name, _)| name.trim().to_owned())
            .collect(),
        gives: result.contains("->"),
    }
}

/// Whether a body is one call of `entry!` from its first character to its last.
pub fn is_one_entry(body: &str) -> bool {
    let Some(rest) = body.strip_prefix("entry!(") else {
        return false;
    };
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == rest.len();
        }
    }
    false
}

/// Their names, sorted.
pub fn declared() -> Vec<String> {
    let mut names: Vec<String> = functions().into_iter().map(|f| f.name).collect();
    names.sort();
    names
}

pub fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}

/// What `nm` sees in the shared library that cargo built for this test.
pub fn of_library() -> Vec<String> {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap().join("libvyre.so");
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--format=posix"])
        .arg(&library)
        .output()
        .expect("nm, of binutils, is needed");
    assert!(
        output.status.success(),
        "nm cannot read {}",
        library.display()
    );
    let mut names: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect();
    names.sort();
    names
}
