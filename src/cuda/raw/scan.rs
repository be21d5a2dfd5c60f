//! What PTX text says about its kernels: names, parameters, the block size that they insist on.
//!
//! Only what a launch needs is read; whether the text is right is the assembler's to say.

/// The counter of the module-scope contract.
pub const COUNTER: &str = "_vyre_grid_barrier";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    pub version: Option<String>,
    pub target: Option<String>,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// `.reqntid`: the only block size that it runs with.
    pub required: Option<[u32; 3]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// In bytes; `None` for a type that is not known.
    pub size: Option<u64>,
}

/// Reads a module's text.
pub fn scan(text: &str) -> Scan {
    let tokens = tokens(text);
    let mut scan = Scan::default();
    let mut at = 0;
    while at < tokens.len() {
        let next = tokens.get(at + 1);
        match tokens[at] {
            ".version" => scan.version = next.map(|s| (*s).to_owned()),
            ".target" => scan.target = next.map(|s| (*s).to_owned()),
            ".entry" => {
                let (entry, end) = entry(&tokens, at + 1);
                scan.entries.extend(entry);
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    scan
}

/// Words and single signs, without comments.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace())
                .unwrap_or(rest.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |end| end + 4)
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            tokens.push(&rest[..length]);
            length
        } else {
            let length = first.len_utf8();
            tokens.push(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    tokens
}

/// The entry whose name stands at `at`, and where its body begins.
fn entry(tokens: &[&str], at: usize) -> (Option<Entry>, usize) {
    let Some(&name) = tokens.get(at) else {
        return (None, tokens.len());
    };
    let mut entry = Entry {
        name: name.to_owned(),
        parameters: Vec::new(),
        required: None,
    };
    let mut at = at + 1;
    if tokens.get(at) == Some(&"(") {
        let end = find(tokens, at, ")");
        let list = &tokens[at + 1..end.max(at + 1)];
        entry.parameters = (list.split(|&token| token == ","))
            .filter(|declaration| declaration.contains(&".param"))
            .map(|declaration| Parameter {
                name: name_of(declaration),
                size: bytes_of(declaration),
            })
            .collect();
        at = end;
    }
    while at < tokens.len() && !matches!(tokens[at], "{" | ";") {
        if tokens[at] == ".reqntid" {
            entry.required = required(&tokens[at + 1..]);
        }
        at += 1;
    }
    (Some(entry), at)
}

fn find(tokens: &[&str], from: usize, what: &str) -> usize {
    (from..tokens.len())
        .find(|&at| tokens[at] == what)
        .unwrap_or(tokens.len())
}

/// One to three numbers with commas between; missing ones are 1.
fn required(tokens: &[&str]) -> Option<[u32; 3]> {
    let mut size = [1; 3];
    for (axis, place) in size.iter_mut().enumerate() {
        if axis > 0 && tokens.get(2 * axis - 1) != Some(&",") {
            break;
        }
        *place = tokens.get(2 * axis)?.parse().ok()?;
    }
    Some(size)
}

/// The last word, but for the length of an array.
fn name_of(declaration: &[&str]) -> String {
    let end = (declaration.iter().position(|&token| token == "[")).unwrap_or(declaration.len());
    declaration[..end]
        .last()
        .map_or_else(String::new, |name| (*name).to_owned())
}

/// Bytes of a parameter: `.param .align 8 .b8 name[24]` or `.param .u64 .ptr .global name`.
fn bytes_of(declaration: &[&str]) -> Option<u64> {
    let scalar = declaration.iter().find_map(|token| {
        Some(match *token {
            ".u8" | ".s8" | ".b8" => 1,
            ".u16" | ".s16" | ".b16" | ".f16" => 2,
            ".u32" | ".s32" | ".b32" | ".f32" | ".f16x2" => 4,
            ".u64" | ".s64" | ".b64" | ".f64" => 8,
            ".b128" => 16,
            _ => return None,
        })
    })?;
    let Some(open) = declaration.iter().position(|&token| token == "[") else {
        return Some(scalar);
    };
    let count: u64 = declaration.get(open + 1)?.parse().ok()?;
    scalar.checked_mul(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        // .entry in_a_comment ()
        .version 7.8 /* .version 9.9 */
        .target sm_90, debug
        .address_size 64
        .visible .entry main(
            .param .u64 .ptr .global .align 16 main_param_0,
            .param .align 8 .b8 main_param_1[24],
            .param .u32 main_param_2
        )
        .maxntid 1024, 1, 1
        .reqntid 64, 2
        { ret; }
        .entry bare { ret; }
        .visible .entry none() .reqntid 32 { ret; }
    ";

    #[test]
    fn kernels_are_found_with_their_parameters() {
        let scan = scan(TEXT);
        assert_eq!(scan.version.as_deref(), Some("7.8"));
        assert_eq!(scan.target.as_deref(), Some("sm_90"));
        let names: Vec<_> = scan.entries.iter().map(|e| &e.name[..]).collect();
        assert_eq!(names, ["main", "bare", "none"]);
        let sizes: Vec<_> = scan.entries[0].parameters.iter().map(|p| p.size).collect();
        assert_eq!(sizes, [Some(8), Some(24), Some(4)]);
        let names: Vec<_> = scan.entries[0]
            .parameters
            .iter()
            .map(|p| &p.name[..])
            .collect();
        assert_eq!(names, ["main_param_0", "main_param_1", "main_param_2"]);
        assert_eq!(scan.entries[0].required, Some([64, 2, 1]));
        assert_eq!(scan.entries[1].parameters, []);
        assert_eq!(scan.entries[2].required, Some([32, 1, 1]));
    }

    #[test]
    fn no_text_makes_it_panic() {
        for end in 0..TEXT.len() {
            scan(&TEXT[..end]);
            scan(&TEXT[end..]);
        }
        for text in [
            ".entry",
            ".entry x(",
            ".entry x() .reqntid",
            "/*",
            "//",
            ".entry x(.param .b8 y[",
        ] {
            scan(text);
        }
        assert_eq!(
            scan(".entry x(.param .b8 y[99999999999999999999])").entries[0].parameters[0].size,
            None
        );
    }
}
