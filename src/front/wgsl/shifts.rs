//! Constants shifted right by 64 bits or more.
//!
//! `-1 >> 64u` is -1 where the left side is an abstract integer, and naga computes 0. A shift by 63
//! gives what a longer one should, so naga is shown that. Other types of integers refuse such counts.
//! Here are the counts that are written as numbers; `counts` is about the others.

use std::ops::Range;

use super::tokens::{Token, tokens};

/// The text with counts of 64 and more lowered to 63 where they are written as numbers, with every
/// byte that follows at its place; `None` if there are none.
pub fn lowered(text: &str) -> Option<String> {
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    let mut counts = Vec::new();
    for at in places(&tokens) {
        operand(&tokens[at + 2..], &mut counts);
    }
    if counts.is_empty() {
        return None;
    }
    let mut text = text.to_string();
    for (range, suffix) in counts {
        let width = range.len();
        text.replace_range(range, &format!("{:width$}", format!("63{suffix}")));
    }
    Some(text)
}

/// The places of the operator `>>`, told from the ends of two template lists as the
/// specification's "template list discovery" does.
pub fn places(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    // Of each `<` that may open a list: how many parentheses are around it.
    let mut candidates: Vec<usize> = Vec::new();
    let mut depth = 0usize;
    let adjoins = |i: usize, text: &str| {
        tokens
            .get(i + 1)
            .is_some_and(|next| next.text == text && next.at == tokens[i].at + 1)
    };
    let mut i = 0;
    while i < tokens.len() {
        match tokens[i].text {
            "<" if i > 0 && is_name(tokens[i - 1].text) => {
                if adjoins(i, "<") || adjoins(i, "=") {
                    i += 1;
                } else {
                    candidates.push(depth);
                }
            }
            ">" if candidates.last() == Some(&depth) => drop(candidates.pop()),
            ">" if adjoins(i, ">") => {
                found.push(i);
                i += 1;
            }
            "(" | "[" => depth += 1,
            ")" | "]" => {
                candidates.retain(|&at| at < depth);
                depth = depth.saturating_sub(1);
            }
            "=" if adjoins(i, "=") => i += 1,
            "!" if adjoins(i, "=") => i += 1,
            ";" | "{" | ":" | "=" => {
                candidates.clear();
                depth = 0;
            }
            "&" | "|" if adjoins(i, tokens[i].text) => {
                candidates.retain(|&at| at < depth);
                i += 1;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Collects the long counts of an operand that is a number, or numbers in parentheses or a vector.
fn operand<'a>(tokens: &[Token<'a>], counts: &mut Vec<(Range<usize>, &'a str)>) {
    let is_vector = |word: &str| {
        matches!(
            word,
            "vec2" | "vec3" | "vec4" | "vec2u" | "vec3u" | "vec4u" | "u32"
        )
    };
    let mut found = Vec::new();
    let mut depth = 0;
    for token in tokens {
        match token.text {
            "(" | "<" => depth += 1,
            ")" | ">" if depth > 0 => depth -= 1,
            "," if depth > 0 => continue,
            word if is_vector(word) => continue,
            word => {
                let Some((value, suffix)) = number(word) else {
                    return;
                };
                if value >= 64 {
                    found.push((token.at..token.at + word.len(), suffix));
                }
            }
        }
        // `vec2<u32>` goes on with its parenthesis.
        if depth == 0 && token.text != ">" {
            counts.append(&mut found);
            return;
        }
    }
}

/// An integer's value and its suffix.
pub fn number(word: &str) -> Option<(u64, &str)> {
    let digits = word.strip_suffix(['u', 'i']).unwrap_or(word);
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    Some((value.ok()?, &word[digits.len()..]))
}

#[cfg(test)]
mod tests {
    use super::lowered;

    #[test]
    fn long_counts_are_lowered_in_place() {
        let cases = [
            ("x = -1 >> 64u;", Some("x = -1 >> 63u;")),
            ("(a)>>(0x100u)+1", Some("(a)>>(63u   )+1")),
            ("v >> (vec2(7u, 64, ))", Some("v >> (vec2(7u, 63, ))")),
            (
                "v >> vec3<u32>(64u, 1u, 200u) + 64u",
                Some("v >> vec3<u32>(63u, 1u, 63u ) + 64u"),
            ),
            ("v >> 63u", None),
            ("v << 64u", None),
            ("v >> (n + 64u)", None),
            ("v >> f(64u)", None),
            ("v > > 64", None),
            ("bitcast<vec2<u32>>(vec2(64u, 65u))", None),
            (
                "if (i < n && (j >> 64u) > 1)",
                Some("if (i < n && (j >> 63u) > 1)"),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(lowered(text).as_deref(), expected, "{text}");
        }
    }
}
