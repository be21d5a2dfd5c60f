//! Constants shifted right by 64 bits or more, where the count is not written as a number.
//!
//! `const N = 64; const X = -1 >> N;` is the fault of naga's that `shifts` is about, and only naga knows what
//! `N` is. So it is asked: it reads the text again with each such count made to divide by zero if it is a constant of 64 or
//! more. Of such a count, 63 is what naga is shown in its place, or the program is refused where that does not fit.

use std::collections::HashMap;
use std::ops::Range;

use super::shifts;
use super::tokens::{Token, tokens};
use crate::error::{Error, Result};
use crate::ir::{Source, Span};

/// After so many counts the next one is refused: each is a reading of the text.
const MOST: usize = 32;

/// The text with long constant counts lowered to 63 in their places; `None` if there are none.
/// `text` is what naga accepts; `is_valid` says whether it accepts another.
pub fn lowered(
    source: &Source,
    text: &str,
    is_valid: impl Fn(&str) -> bool,
) -> Result<Option<String>> {
    let mut sites = sites(text);
    if let Some(site) = sites.iter().find(|site| is_unclear(&text[(*site).clone()])) {
        return Err(unclear(source, site));
    }
    let mut text = text.to_string();
    for round in 0.. {
        let Some(found) = long(source, &text, &sites)? else {
            return Ok((round > 0).then_some(text));
        };
        let site = sites[found].clone();
        let Some(shorter) = (round < MOST)
            .then(|| shown(&text, &site))
            .flatten()
            .filter(|text| is_valid(text))
        else {
            return Err(source
                .error(
                    span(&site),
                    "a constant is shifted right by 64 bits or more",
                )
                .with_fix("Shift by 63, which gives the same, or write the count as a number."));
        };
        text = shorter;
        sites.retain(|other| other.start < site.start || site.end <= other.start);
    }
    unreachable!("the last round returns")
}

fn span(site: &Range<usize>) -> Span {
    let at = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    Span::new(at(site.start), at(site.end))
}

/// Whether a constant count has parts that naga does not compute: it would be taken modulo the width.
fn is_unclear(count: &str) -> bool {
    tokens(count).any(|token| is_left_to_later(token.text))
}

fn unclear(source: &Source, site: &Range<usize>) -> Error {
    source
        .error(
            span(site),
            "by how much a constant is shifted right is not known when the program is loaded",
        )
        .with_fix("Write the count as a number, or give it a name with `let`.")
}

/// With 63 in the place of the count, if there is room for it.
fn shown(text: &str, site: &Range<usize>) -> Option<String> {
    let before = &text[..site.start];
    let start = before.trim_end().len();
    let width = site.end - start;
    // A comment in front would swallow it; its end is no space.
    if width < 2 || !before[..start].ends_with(">>") {
        return None;
    }
    let mut shorter = text.to_string();
    shorter.replace_range(start..site.end, &format!("{:width$}", "63"));
    Some(shorter)
}

/// Which of the counts is a constant of 64 or more.
fn long(source: &Source, text: &str, sites: &[Range<usize>]) -> Result<Option<usize>> {
    if sites.is_empty() {
        return Ok(None);
    }
    let (probe, places) = probe(text, sites);
    let Err(error) = naga::front::wgsl::parse_str(&probe) else {
        return Ok(None);
    };
    let at = error.labels().next().and_then(|(span, _)| span.to_range());
    // Of counts within counts, the innermost.
    let found = at.and_then(|at| {
        (places.iter().enumerate())
            .filter(|(_, place)| place.start <= at.start && at.start < place.end)
            .min_by_key(|(_, place)| place.len())
    });
    match found {
        Some((found, _)) if error.message().contains("ivision by zero") => Ok(Some(found)),
        _ => {
            let site = found.map_or(&sites[0], |(found, _)| &sites[found]);
            Err(unclear(source, site))
        }
    }
}

/// The text in which each count has a zero added that cannot be computed if the count is a constant of 64
/// or more: of the count's type, be it a vector, and without a name that the program could have taken. Also where
/// each count came to stand.
fn probe(text: &str, sites: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let mut ends: Vec<(usize, String)> = (sites.iter())
        .map(|site| {
            let count = &text[site.clone()];
            let zero = format!(") + 0u * (1u / (32u / (({count}) / 2u + 1u))))");
            (site.end, zero)
        })
        .collect();
    let mut probe = String::new();
    let mut places = vec![0..0; sites.len()];
    let mut copied = 0;
    // Sites start in order; those that are open end in the reverse order.
    let mut open: Vec<usize> = Vec::new();
    let mut close = |upto: usize, open: &mut Vec<usize>, probe: &mut String, copied: &mut usize| {
        while let Some(&site) = open.last()
            && ends[site].0 <= upto
        {
            let (end, zero) = std::mem::take(&mut ends[site]);
            probe.push_str(&text[*copied..end]);
            probe.push_str(&zero);
            places[site].end = probe.len();
            *copied = end;
            open.pop();
        }
    };
    let mut starts = Vec::new();
    for (at, site) in sites.iter().enumerate() {
        close(site.start, &mut open, &mut probe, &mut copied);
        probe.push_str(&text[copied..site.start]);
        copied = site.start;
        starts.push(probe.len());
        probe.push_str("((");
        open.push(at);
    }
    close(usize::MAX, &mut open, &mut probe, &mut copied);
    probe.push_str(&text[copied..]);
    for (place, start) in places.iter_mut().zip(starts) {
        place.start = start;
    }
    (probe, places)
}

/// The counts that may be constants of 64 or more and are no numbers, of what may be an abstract integer.
fn sites(text: &str) -> Vec<Range<usize>> {
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    let places = shifts::places(&tokens);
    if places.is_empty() {
        return Vec::new();
    }
    let constants = constants(&tokens);
    (places.into_iter())
        .filter(|&at| at > 0 && may_be_constant(&tokens, at - 1, &constants))
        .filter_map(|at| {
            let end = operand_end(&tokens, at + 2)?;
            let count = at + 2..end;
            let is_long = may_be_long(&tokens, count.clone(), &constants);
            let last = &tokens[end - 1];
            is_long.then(|| tokens[count.start].at..last.at + last.text.len())
        })
        .collect()
}

/// The names of constants, and of types in the place of others, each with its value where all that have the name are written as numbers, or 64 for others.
fn constants<'a>(tokens: &[Token<'a>]) -> HashMap<&'a str, u64> {
    let mut known: HashMap<&str, u64> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        let (Some(name), "const" | "alias") = (tokens.get(at + 1), token.text) else {
            continue;
        };
        // `const N = 5;` or `const N: u32 = 5;`
        let equals = match tokens.get(at + 2).map(|sign| sign.text) {
            Some(":") => at + 4,
            _ => at + 2,
        };
        let value = match tokens.get(equals..equals + 3) {
            Some([equals, number, end]) if equals.text == "=" && end.text == ";" => {
                shifts::number(number.text).map_or(64, |(value, _)| value)
            }
            _ => 64,
        };
        let most = known.entry(name.text).or_default();
        *most = value.max(*most);
    }
    known
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether the operand that ends with this token may be an abstract integer: one that names a variable or has a
/// suffix is not.
fn may_be_constant(tokens: &[Token<'_>], last: usize, constants: &HashMap<&str, u64>) -> bool {
    let word = tokens[last].text;
    if is_name(word) {
        return has_constants_only(tokens, last..last + 1, constants);
    }
    if let ")" | "]" = word {
        let opened = opened(tokens, last);
        return opened.is_some_and(|at| has_constants_only(tokens, at..last, constants));
    }
    let is_hex = word.starts_with("0x") || word.starts_with("0X");
    let suffixes: &[char] = if is_hex {
        &['u', 'i']
    } else {
        &['u', 'i', 'f', 'h']
    };
    !word.ends_with(suffixes)
}

/// Whether a count may be a constant of 64 or more: not if it names a variable, or is a number or a name of a small one.
fn may_be_long(tokens: &[Token<'_>], count: Range<usize>, constants: &HashMap<&str, u64>) -> bool {
    if let [one] = tokens[count.clone()] {
        // `shifts` has seen to numbers.
        return constants.get(one.text).is_some_and(|&value| value >= 64);
    }
    has_constants_only(tokens, count, constants)
}

/// Whether all names are of constants, members, functions or types.
fn has_constants_only(
    tokens: &[Token<'_>],
    range: Range<usize>,
    constants: &HashMap<&str, u64>,
) -> bool {
    range.into_iter().all(|at| {
        let is_called = matches!(tokens.get(at + 1), Some(next) if matches!(next.text, "(" | "<"));
        let is_member = at > 0 && tokens[at - 1].text == ".";
        let word = tokens[at].text;
        // Types stand in template lists.
        let is_known = matches!(word, "u32" | "i32" | "f32" | "f16" | "true" | "false");
        !is_name(word) || is_called || is_member || is_known || constants.contains_key(word)
    })
}

/// Whether naga leaves the function to when the program runs, whatever its operands are.
fn is_left_to_later(word: &str) -> bool {
    let starts = ["pack2x", "pack4x", "unpack2x", "unpack4x"];
    starts.iter().any(|start| word.starts_with(start))
        || matches!(
            word,
            "bitcast" | "extractBits" | "insertBits" | "ldexp" | "modf" | "frexp" | "quantizeToF16"
        )
}

/// Where the operand ends that starts at `at`: signs, then a name, a number or parentheses, then what is called,
/// indexed or chosen.
fn operand_end(tokens: &[Token<'_>], mut at: usize) -> Option<usize> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
    while matches!(text(at), "-" | "!" | "~" | "&" | "*") {
        at += 1;
    }
    let first = text(at);
    if first == "(" {
        at = closed(tokens, at, "(", ")")?;
    } else if first.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        at += 1;
        if is_name(first)
            && text(at) == "<"
            && matches!(first, "vec2" | "vec3" | "vec4" | "array" | "bitcast")
        {
            at = closed(tokens, at, "<", ">")?;
        }
    } else {
        return None;
    }
    loop {
        at = match text(at) {
            "(" => closed(tokens, at, "(", ")")?,
            "[" => closed(tokens, at, "[", "]")?,
            "." => at + 2,
            _ => return (at <= tokens.len()).then_some(at),
        };
    }
}

/// Where the parenthesis or bracket opens that closes at `last`.
fn opened(tokens: &[Token<'_>], last: usize) -> Option<usize> {
    let mut depth = 0usize;
    (0..=last).rev().find(|&at| {
        match tokens[at].text {
            ")" | "]" => depth += 1,
            "(" | "[" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// After the sign that closes the one at `at`.
fn closed(tokens: &[Token<'_>], at: usize, opens: &str, closes: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        if token.text == opens {
            depth += 1;
        } else if token.text == closes {
            depth -= 1;
            if depth == 0 {
                return Some(i + 1);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{probe, sites};

    fn found(text: &str) -> Vec<&str> {
        sites(text).into_iter().map(|site| &text[site]).collect()
    }

    #[test]
    fn counts_that_may_be_long_constants_are_found() {
        let cases: [(&str, &[&str]); 17] = [
            ("const N = 64; const X = -1 >> N;", &["N"]),
            ("const N = 7; const X = -1 >> N;", &[]),
            (
                "const N = 7; fn f() { const N = M + 1; _ = (-1) >> N; }",
                &["N"],
            ),
            ("const N: u32 = 64u; const X = 1u >> N;", &[]),
            ("const N: u32 = 64u; let y = x >> N;", &[]),
            ("const X = -1 >> (32 + 32) + 1;", &["(32 + 32)"]),
            ("const X = -1 >> n;", &[]),
            ("const X = -1 >> f(64)[1].x;", &["f(64)[1].x"]),
            (
                "const X = vec2(-1) >> vec2<u32>(64, 1);",
                &["vec2<u32>(64, 1)"],
            ),
            ("const X = -1 >> 64;", &[]),
            ("const A = 8 - 9; const X = A >> (A + 65);", &["(A + 65)"]),
            (
                "const N = 1 << 6; const X = -9 >> (N >> N);",
                &["(N >> N)", "N"],
            ),
            ("const N = 64; let y = (x + 1) >> N;", &[]),
            ("const N = 64; let y = x[N] >> N;", &["N"]),
            ("const N = 64; let y = (N - 65) >> N;", &["N"]),
            ("x >>= N;", &[]),
            ("const X = -0x1f >> (64 + 0);", &["(64 + 0)"]),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn a_probe_keeps_what_is_around_its_counts() {
        let text = "const N = 1 << 6; const X = -9 >> (N >> N) + 1;";
        let (probe, places) = probe(text, &sites(text));
        let zero = |count: &str| format!(" + 0u * (1u / (32u / (({count}) / 2u + 1u))))");
        let inner = format!("((N){}", zero("N"));
        let outer = format!("(((N >> {inner})){}", zero("(N >> N)"));
        let expected = format!("const N = 1 << 6; const X = -9 >> {outer} + 1;");
        assert_eq!(probe, expected);
        assert_eq!(&probe[places[0].clone()], outer);
        assert_eq!(&probe[places[1].clone()], inner);
    }
}
