//! The rows as text: for the terminal, and as the table of docs/accuracy.md.

use std::fs;
use std::path::Path;

use super::judge::Row;

const START: &str = "<!-- the table: written by tests/accuracy.rs -->\n";
const END: &str = "<!-- the end of the table -->\n";
const HEAD: &str = "| function | type | points | WGSL allows | vyre promises | CPU | CUDA |\n\
                    | --- | --- | --- | --- | --- | --- | --- |\n";
/// Of a backend that was not measured.
const UNKNOWN: &str = "not measured";

/// A measured cell of one backend, by function and type.
struct Line {
    key: String,
    fixed: String,
    cells: [String; 2],
}

fn key(function: &str, ty: &str) -> String {
    format!("| `{function}` | {ty} |")
}

fn fixed(row: &Row) -> String {
    let or_none = |text: &str| {
        if text.is_empty() {
            "—".to_string()
        } else {
            text.replace('|', "\\|")
        }
    };
    format!(
        "{} {} | {} | {}",
        key(&row.function, row.ty),
        row.points,
        or_none(&row.wgsl),
        or_none(&row.ours)
    )
}

/// The lines of a document that has the table.
fn lines(document: &str) -> Option<Vec<Line>> {
    let (_, after) = document.split_once(START)?;
    let (table, _) = after.split_once(END)?;
    let body = table.strip_prefix(HEAD).unwrap_or_default();
    Some(body.lines().filter_map(line).collect())
}

fn line(text: &str) -> Option<Line> {
    let mut parts = text.strip_suffix(" |")?.rsplitn(3, " | ");
    let (cuda, cpu, fixed) = (parts.next()?, parts.next()?, parts.next()?);
    let end = fixed.match_indices(" |").nth(1)?.0 + 2;
    Some(Line {
        key: fixed[..end].into(),
        fixed: fixed.into(),
        cells: [cpu.into(), cuda.into()],
    })
}

/// The document with this backend's column as measured; the other one stays as it is.
pub fn with_rows(document: &str, rows: &[Row], on_cuda: bool) -> String {
    let known = lines(document).unwrap_or_default();
    let mut table = String::from(HEAD);
    for row in rows {
        let key = key(&row.function, row.ty);
        let mut cells = (known.iter().find(|line| line.key == key)).map_or_else(
            || [UNKNOWN, UNKNOWN].map(String::from),
            |line| line.cells.clone(),
        );
        cells[usize::from(on_cuda)] = row.measured();
        table += &format!("{} | {} | {} |\n", fixed(row), cells[0], cells[1]);
    }
    match document.split_once(START) {
        Some((before, after)) => {
            let rest = after.split_once(END).map_or("", |(_, rest)| rest);
            format!("{before}{START}{table}{END}{rest}")
        }
        None => format!("{START}{table}{END}"),
    }
}

/// Writes the rows to a file, which may have a table already.
pub fn write(path: &Path, rows: &[Row], on_cuda: bool) {
    let before = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, with_rows(&before, rows, on_cuda))
        .unwrap_or_else(|error| panic!("{} cannot be written: {error}", path.display()));
}

/// Where the document's table is not what was measured. `loosely`: the functions whose errors are those of the C
/// library of this machine, and may be off by one unit.
pub fn differences(
    document: &str,
    rows: &[Row],
    on_cuda: bool,
    loosely: impl Fn(&Row) -> bool,
) -> Vec<String> {
    let Some(known) = lines(document) else {
        return vec!["there is no table".into()];
    };
    let mut wrong = Vec::new();
    for row in rows {
        let fixed = fixed(row);
        let key = key(&row.function, row.ty);
        let Some(line) = known.iter().find(|line| line.key == key) else {
            wrong.push(format!("{key} is missing"));
            continue;
        };
        let (said, measured) = (&line.cells[usize::from(on_cuda)], row.measured());
        let close = match (said.parse::<f64>(), measured.parse::<f64>()) {
            (Ok(said), Ok(measured)) => loosely(row) && (said - measured).abs() <= 1.0,
            _ => false,
        };
        if line.fixed != fixed {
            wrong.push(format!("it says {:?}, expected {fixed:?}", line.fixed));
        } else if *said != measured && !close && said != UNKNOWN {
            wrong.push(format!("{key} it says {said}, measured {measured}"));
        }
    }
    for line in &known {
        if !rows
            .iter()
            .any(|row| key(&row.function, row.ty) == line.key)
        {
            wrong.push(format!("{} is no longer measured", line.key));
        }
    }
    wrong
}

/// For people.
pub fn print(rows: &[Row]) {
    for row in rows {
        let verdict = match (&row.refused, row.failed) {
            (Some(_), _) => "refused".to_string(),
            (None, 0) => "ok".to_string(),
            (None, failed) => format!("FAILED at {failed} points"),
        };
        let (error, at) = match &row.largest {
            Some((error, at)) => (format!("{error:.4} ULP"), at.as_str()),
            None => ("bits".to_string(), ""),
        };
        println!(
            "{:<20} {} {:>7} points, {:>7} judged: {error:>14} at {at:<40} | WGSL: {} | vyre: {} | {verdict}",
            row.function, row.ty, row.points, row.judged, row.wgsl, row.ours,
        );
        for failure in &row.failures {
            println!("    {failure}");
        }
    }
}
