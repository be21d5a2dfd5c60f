//! docs/wgsl.md is true: each example of its tables loads or is refused with the status and the words that stand beside
//! it, and the tables of formats are those of the library.

mod harness;

use std::collections::BTreeSet;
use std::path::Path;

use vyre::backend::Backend;
use vyre::error::Status;

/// A row of a table, by the table's heads.
struct Row {
    line: usize,
    cells: Vec<(String, String)>,
}

impl Row {
    fn get(&self, head: &str) -> Option<&str> {
        let cell = self.cells.iter().find(|(name, _)| name == head);
        cell.map(|(_, text)| text.as_str())
    }

    /// What stands in the cell's code spans.
    fn spans(&self, head: &str) -> Vec<&str> {
        let cell = self
            .get(head)
            .unwrap_or_else(|| panic!("docs/wgsl.md:{}: no cell under {head}", self.line));
        cell.split('`').skip(1).step_by(2).collect()
    }
}

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/wgsl.md");
    std::fs::read_to_string(path).expect("the document is there")
}

/// The cells of a line of a table; a bar within one is written with a backslash.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    (inner.replace("\\|", "\u{1}").split('|'))
        .map(|cell| cell.trim().replace('\u{1}', "|"))
        .collect()
}

fn rows() -> Vec<Row> {
    let text = document();
    let mut rows = Vec::new();
    let mut heads: Option<Vec<String>> = None;
    for (number, line) in text.lines().enumerate() {
        if !line.starts_with('|') {
            heads = None;
            continue;
        }
        if line.starts_with("| ---") {
            continue;
        }
        match &heads {
            None => heads = Some(cells(line)),
            Some(heads) => {
                let cells = cells(line);
                let line = number + 1;
                assert_eq!(cells.len(), heads.len(), "docs/wgsl.md:{line}: cells");
                let cells = heads.iter().cloned().zip(cells).collect();
                rows.push(Row { line, cells });
            }
        }
    }
    rows
}

/// The entry point that the document shows, with other statements and with declarations in front.
fn program(example: &str) -> String {
    if example.contains("@compute") {
        return example.to_string();
    }
    let text = document();
    let shown = text.split("```wgsl\n").nth(1).expect("a block of WGSL");
    let shown = shown.split("```").next().expect("its end");
    let statement = "  out[id.x] = input[local];\n";
    assert!(shown.contains(statement), "the entry point's statement");
    let (declarations, statements) = example.split_once("main:").unwrap_or(("", example));
    let main = shown.replace(statement, &format!("{statements}\n"));
    format!("{declarations}\n{main}")
}

fn status_of(name: &str) -> Status {
    match name {
        "VYRE_ERROR_UNSUPPORTED" => Status::Unsupported,
        "VYRE_ERROR_INVALID_PROGRAM" => Status::InvalidProgram,
        other => panic!("{other} is not a status that the document names"),
    }
}

#[test]
fn every_example_does_what_its_row_says() {
    let backend = harness::backend(1);
    let (mut accepted, mut refused) = (0, 0);
    let mut wrong = Vec::new();
    for row in rows() {
        if row.get("example").is_none() {
            continue;
        }
        let spans = row.spans("example");
        let place = format!("docs/wgsl.md:{}", row.line);
        let [example] = spans[..] else {
            panic!("{place}: {} examples", spans.len());
        };
        let loaded = harness::try_load(&backend, &program(example), Default::default());
        match (row.get("message"), loaded) {
            (None, Ok(_)) => accepted += 1,
            (None, Err(error)) => wrong.push(format!("{place} is refused: {error}")),
            (Some(_), Ok(_)) => wrong.push(format!("{place} loads: {example}")),
            (Some(message), Err(error)) => {
                refused += 1;
                let words = message.trim_matches('"');
                let status = row.spans("status");
                if error.status() != status_of(status[0]) || !error.message().contains(words) {
                    wrong.push(format!("{place}, expected {message}: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 60 && refused > 40, "{accepted} and {refused}");
}

#[test]
fn the_block_loads() {
    harness::load(&harness::backend(1), &program("out[0] = 1u;"));
}

#[test]
fn the_tables_of_storage_formats_are_complete() {
    let backend = harness::backend(1);
    let mut named = BTreeSet::new();
    for row in rows() {
        let (head, size) = match row.get("bytes of a texel") {
            Some(size) => ("storage formats", Some(size.parse::<u64>().expect("bytes"))),
            None if row.get("storage formats that are refused").is_some() => {
                ("storage formats that are refused", None)
            }
            None => continue,
        };
        for format in row.spans(head) {
            assert!(named.insert(format.to_string()), "{format} stands twice");
            let text = format!(
                "@group(0) @binding(0) var t: texture_storage_2d<{format}, read_write>;
                @compute @workgroup_size(1) fn main() {{ textureStore(t, vec2(0), textureLoad(t, vec2(0))); }}"
            );
            match (harness::try_load(&backend, &text, Default::default()), size) {
                (Ok(program), Some(size)) => {
                    let binding = &program.reflection().bindings[0];
                    assert_eq!(binding.min_size, 16 + size, "{format}");
                }
                (Err(error), None) => {
                    assert_eq!(error.status(), Status::Unsupported, "{error}");
                    assert!(error.message().contains(format), "{error}");
                }
                (Ok(_), None) => panic!("{format} loads"),
                (Err(error), Some(_)) => panic!("{error}"),
            }
        }
    }
    // All that naga has.
    assert_eq!(named.len(), 41, "{named:?}");
}

/// Whether texels of a format word are read at all.
fn is_read(backend: &std::sync::Arc<dyn Backend>, ty: &str, word: u32) -> bool {
    let text = format!(
        "@group(0) @binding(0) var t: texture_2d<{ty}>;
        @group(0) @binding(1) var<storage, read_write> out: array<vec4<{ty}>>;
        @compute @workgroup_size(1) fn main() {{ out[0] = textureLoad(t, vec2(0), 0); }}"
    );
    let program = harness::load(backend, &text);
    let texture = [1, 1, 1, word, 0x3c3c_3c3c, 0x3c3c_3c3c, 1, 1];
    let buffers = [
        harness::buffer(backend, &texture),
        harness::buffer(backend, &[0; 4]),
    ];
    harness::try_run(&program, harness::dispatch([1, 1, 1], &buffers)).expect("it runs");
    harness::words(&buffers[1]) != [0; 4]
}

#[test]
fn the_table_of_format_words_is_complete() {
    let backend = harness::backend(1);
    let rows: Vec<Row> = rows()
        .into_iter()
        .filter(|row| row.get("format word").is_some())
        .collect();
    for word in 0..32u32 {
        let text = word.to_string();
        let row = rows
            .iter()
            .find(|row| row.get("format word") == Some(&text));
        let types = row.map(|row| row.spans("for")).unwrap_or_default();
        for ty in ["f32", "i32", "u32"] {
            let is_named = types.contains(&ty);
            assert_eq!(is_read(&backend, ty, word), is_named, "{word} of {ty}");
        }
    }
    assert_eq!(rows.len(), 6);
}

#[test]
fn links_within_the_document_lead_somewhere() {
    let text = document();
    let anchor = |title: &str| {
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    let titles: BTreeSet<String> = (text.lines())
        .filter_map(|line| line.strip_prefix("## "))
        .map(anchor)
        .collect();
    let links: Vec<&str> = (text.split("](#").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .collect();
    assert!(links.len() > 10);
    for link in links {
        assert!(titles.contains(link), "#{link}");
    }
}
