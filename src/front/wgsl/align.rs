//! The `@align` and `@size` attributes of structures, read from the text.
//!
//! naga places a member as its `@align` says, but forgets the attribute when the structure itself
//! becomes a member or an element, and then places that one wrongly. Its modules keep no trace of
//! the attribute. So where a program has one, structures are laid out anew.

use std::collections::HashMap;

use naga::{Module, TypeInner};

use super::lower::clamp;
use super::tokens::{Token, tokens};
use crate::error::{Result, Status};
use crate::ir::Source;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub align: Option<u32>,
    pub size: Option<u32>,
}

/// By structure; empty if nothing in the program is aligned by hand.
#[derive(Default)]
pub struct Attributes(HashMap<String, Vec<Member>>);

impl Attributes {
    pub fn read(source: &Source, module: &Module) -> Result<Attributes> {
        let tokens: Vec<Token<'_>> = tokens(source.text()).collect();
        if !tokens
            .windows(2)
            .any(|t| t[0].text == "@" && t[1].text == "align")
        {
            return Ok(Attributes::default());
        }
        let mut attributes = Attributes::default();
        for (i, token) in tokens.iter().enumerate() {
            if token.text != "struct" {
                continue;
            }
            let Some(name) = tokens.get(i + 1) else { break };
            let Some(members) = members(&tokens[i + 2..], &tokens) else {
                let what = format!("the attributes of `{}` are not understood", name.text);
                let span = clamp(source, (name.at..name.at + name.text.len()).into());
                return Err(source.error_as(Status::Unsupported, span, &what).with_fix(
                    "Write each @align and @size as a number or as the name of a constant.",
                ));
            };
            attributes.0.insert(name.text.to_string(), members);
        }
        // What the compiler dropped as unused is no matter; what it kept has to agree.
        for (_, ty) in module.types.iter() {
            if let (TypeInner::Struct { members, .. }, Some(name)) = (&ty.inner, &ty.name)
                && let Some(read) = attributes.0.get(name)
                && read.len() != members.len()
            {
                let what = format!("the members of `{name}` are not understood");
                return Err(source.error_as(Status::Unsupported, Default::default(), &what));
            }
        }
        Ok(attributes)
    }

    pub fn any_align(&self) -> bool {
        !self.0.is_empty()
    }

    pub fn of(&self, name: &str) -> Option<&[Member]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

/// What all `@size` attributes of a program may add up to.
const LARGEST: u64 = 1 << 30;

/// Refuses sizes with which naga's 32-bit offsets would wrap around.
pub fn check_sizes(source: &Source) -> Result<()> {
    let tokens: Vec<Token<'_>> = tokens(source.text()).collect();
    let mut total = 0u64;
    for attribute in tokens.windows(4) {
        if attribute[0].text != "@" || !matches!(attribute[1].text, "size" | "align") {
            continue;
        }
        let value = attribute[3];
        if value.text.starts_with(|c: char| c.is_ascii_digit())
            || number(value.text, &tokens).is_some()
        {
            let size = number(value.text, &tokens).map_or(u64::MAX, u64::from);
            total = total.saturating_add(size);
        }
        if total > LARGEST {
            let span = clamp(source, (value.at..value.at + value.text.len()).into());
            let what = format!("sizes and alignments add up to more than {LARGEST} bytes here");
            return Err(source
                .error(span, &what)
                .with_fix("Make the structures smaller."));
        }
    }
    Ok(())
}

/// The members between the braces that `tokens` starts with, in the whole `text`; `None` if they are not understood.
fn members(tokens: &[Token<'_>], text: &[Token<'_>]) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    let mut member = Member::default();
    let mut named = false;
    let mut depth = 0u32;
    let mut i = usize::from(tokens.first()?.text == "{");
    while let Some(token) = tokens.get(i) {
        match token.text {
            "@" if depth == 0 && !named => {
                let place = match tokens.get(i + 1)?.text {
                    "align" => Some(&mut member.align),
                    "size" => Some(&mut member.size),
                    _ => None,
                };
                if let Some(place) = place {
                    let arguments = tokens.get(i + 2..i + 5)?;
                    // A comma may follow the number.
                    let close = if arguments[2].text == "," {
                        i + 5
                    } else {
                        i + 4
                    };
                    if arguments[0].text != "(" || tokens.get(close)?.text != ")" {
                        return None;
                    }
                    *place = Some(number(arguments[1].text, text)?);
                    i = close;
                } else {
                    i += 1;
                }
            }
            "(" | "[" | "<" => depth += 1,
            ")" | "]" | ">" => depth = depth.checked_sub(1)?,
            ":" if depth == 0 => named = true,
            "," | "}" if depth == 0 => {
                if named {
                    members.push(std::mem::take(&mut member));
                }
                named = false;
                if token.text == "}" {
                    return Some(members);
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// A literal, or a module-scope constant that is declared as one.
fn number(word: &str, text: &[Token<'_>]) -> Option<u32> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return literal(word);
    }
    // naga drops constants of abstract type, so that its module cannot be asked.
    let at = text
        .windows(2)
        .position(|t| t[0].text == "const" && t[1].text == word)?;
    let declaration = &text[at..];
    let equals = declaration.iter().position(|t| t.text == "=")?;
    match declaration.get(equals + 1..equals + 3)? {
        [value, end] if end.text == ";" => literal(value.text),
        _ => None,
    }
}

fn literal(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(['u', 'i']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<Member>> {
        let tokens: Vec<_> = tokens(text).collect();
        members(&tokens, &tokens)
    }

    #[test]
    fn attributes_are_found_among_members() {
        let member = |align, size| Member { align, size };
        assert_eq!(
            read(
                "{ a: array<vec2<f32>, 3>, @align(0x10) @size(32u,) b: u32, @builtin(position) c: vec4f, }"
            ),
            Some(vec![
                member(None, None),
                member(Some(16), Some(32)),
                member(None, None)
            ])
        );
        assert_eq!(read("{ @align(4 * 4) a: u32 }"), None);
        assert_eq!(
            read("{ @align(n) a: u32 } const n: u32 = 8u;"),
            Some(vec![member(Some(8), None)])
        );
        assert_eq!(read("{ @align(unknown) a: u32 }"), None);
        assert_eq!(read("{ a: u32"), None);
    }
}
