//! The WGSL of the documentation loads, or is refused where the text says so.
//!
//! A block that starts with "```wgsl refused" stands in the guide as a mistake.

use std::fs;
use std::path::Path;

use vyre::backend::{self, BackendDesc, Choice, Format, ProgramDesc};
use vyre::error::Status;

struct Block {
    /// For messages: the file and the line where the block starts.
    place: String,
    refused: bool,
    code: String,
}

fn blocks(path: &str) -> Vec<Block> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match open.as_mut() {
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => {
                block.code.push_str(line);
                block.code.push('\n');
            }
            None if line.starts_with("```wgsl") => {
                open = Some(Block {
                    place: format!("{path}:{}", number + 1),
                    refused: line.ends_with(" refused"),
                    code: String::new(),
                });
            }
            None => {}
        }
    }
    assert!(open.is_none(), "{path} ends within a block");
    blocks
}

fn check(path: &str, expected: usize, refused: usize) {
    let backend = backend::acquire(&BackendDesc {
        choice: Choice::Cpu,
        ordinal: 0,
        cpu_threads: 1,
    })
    .unwrap();
    let blocks = blocks(path);
    assert_eq!(blocks.len(), expected, "blocks of WGSL in {path}");
    assert_eq!(blocks.iter().filter(|b| b.refused).count(), refused);
    for Block {
        place,
        refused,
        code,
    } in blocks
    {
        let loaded = backend.clone().load(&ProgramDesc {
            label: Some(&place),
            ..ProgramDesc::new(Format::Wgsl, code.as_bytes())
        });
        match (loaded, refused) {
            (Ok(_), false) => {}
            (Err(error), false) => panic!("{place} should load: {error}"),
            (Ok(_), true) => panic!("{place} should be refused"),
            (Err(error), true) => {
                assert_eq!(error.status(), Status::InvalidProgram, "{place}: {error}");
                let message = error.message();
                assert!(message.contains("grid barrier"), "{place}: {message}");
            }
        }
    }
}

#[test]
fn the_guide_says_what_loads_and_what_is_refused() {
    check("docs/guide.md", 9, 3);
}

#[test]
fn the_program_that_shows_the_phases_loads() {
    check("docs/phases.md", 1, 0);
}
