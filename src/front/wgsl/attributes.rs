//! The `@align` and `@size` attributes of structures, read from the text: naga's modules keep no trace of them.

use std::collections::HashMap;

use naga::{Expression, Literal, Module, TypeInner};

use super::lower::clamp;
use super::tokens::{Token, tokens};
use crate::error::{Error, Result, Status};
use crate::ir::{Source, Span};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    pub align: Option<u32>,
    pub size: Option<u32>,
}

/// The members of each structure; empty where the program has no such attribute.
pub type Attributes = HashMap<String, Vec<Member>>;

/// What an attribute says.
struct Argument<'a> {
    text: &'a str,
    /// Of the attribute's `@`, and past its parenthesis.
    at: std::ops::Range<usize>,
    structure: usize,
    member: usize,
    is_align: bool,
    value: Option<u32>,
}

struct Structure<'a> {
    name: Token<'a>,
    /// `None`: not understood.
    members: Option<Vec<Member>>,
}

/// What the text says, before naga has read it.
#[derive(Default)]
pub struct Said<'a> {
    structures: Vec<Structure<'a>>,
    arguments: Vec<Argument<'a>>,
}

/// What all attributes of a program may add up to.
const LARGEST: u64 = 1 << 30;

impl<'a> Said<'a> {
    /// Reads the attributes of the user's text, which `whole` begins with. Refuses numbers with which naga's 32-bit
    /// offsets would wrap around.
    pub fn read(source: &'a Source, whole: &str) -> Result<Said<'a>> {
        let tokens: Vec<Token<'a>> = tokens(source.text()).collect();
        let mut said = Said::default();
        if !tokens
            .windows(2)
            .any(|t| t[0].text == "@" && matches!(t[1].text, "align" | "size"))
        {
            return Ok(said);
        }
        for (i, token) in tokens.iter().enumerate() {
            let (true, Some(&name)) = (token.text == "struct", tokens.get(i + 1)) else {
                continue;
            };
            let mut reader = Reader {
                text: source.text(),
                structure: said.structures.len(),
                arguments: &mut said.arguments,
            };
            let members = reader.members(&tokens[i + 2..]);
            said.structures.push(Structure { name, members });
        }
        evaluate(whole, &mut said.arguments);
        let mut total = 0u64;
        for argument in &said.arguments {
            total += u64::from(argument.value.unwrap_or(0));
            if total > LARGEST {
                let start = argument.text.as_ptr() as usize - source.text().as_ptr() as usize;
                let at = clamp(source, (start..start + argument.text.len()).into());
                let what = format!("sizes and alignments add up to more than {LARGEST} bytes here");
                return Err(source
                    .error(at, &what)
                    .with_fix("Make the structures smaller."));
            }
        }
        Ok(said)
    }

    /// The attributes by structure, if naga read the same structures with the same members.
    pub fn of(mut self, source: &Source, module: &Module) -> Result<Attributes> {
        if self.structures.is_empty() {
            return Ok(Attributes::default());
        }
        for argument in &self.arguments {
            let structure = &mut self.structures[argument.structure];
            let member = structure
                .members
                .as_mut()
                .and_then(|members| members.get_mut(argument.member));
            let (Some(member), Some(value)) = (member, argument.value) else {
                return Err(not_understood(source, structure.name));
            };
            let place = if argument.is_align {
                &mut member.align
            } else {
                &mut member.size
            };
            *place = Some(value);
        }
        let mut declared = HashMap::new();
        for (handle, ty) in module.types.iter() {
            if let (TypeInner::Struct { members, .. }, Some(name)) = (&ty.inner, &ty.name) {
                declared.insert(name.as_str(), (handle, members));
            }
        }
        let mut attributes = Attributes::new();
        for Structure { name, members } in self.structures {
            let (Some(members), Some((_, known))) = (members, declared.remove(name.text)) else {
                return Err(not_understood(source, name));
            };
            let same = |(a, b): (&naga::StructMember, &Member)| a.name.as_deref() == Some(&b.name);
            if known.len() != members.len() || !known.iter().zip(&members).all(same) {
                return Err(not_understood(source, name));
            }
            attributes.insert(name.text.to_string(), members);
        }
        // What remains are the results of built-in functions, which no program can name.
        match declared.iter().find(|(name, _)| !name.starts_with("__")) {
            None => Ok(attributes),
            Some((name, (handle, _))) => {
                let span = clamp(source, module.types.get_span(*handle));
                Err(not_understood_at(source, span, name))
            }
        }
    }
}

struct Reader<'a, 'b> {
    text: &'a str,
    structure: usize,
    arguments: &'b mut Vec<Argument<'a>>,
}

impl<'a> Reader<'a, '_> {
    /// The members between the braces that `tokens` starts with; `None` if they are not understood.
    fn members(&mut self, tokens: &[Token<'a>]) -> Option<Vec<Member>> {
        let mut members: Vec<Member> = Vec::new();
        let mut name = "";
        let mut typed = false;
        // Between parentheses `<` and `>` compare; elsewhere they hold the parameters of a type.
        let mut open: Vec<&str> = Vec::new();
        if tokens.first()?.text != "{" {
            return None;
        }
        let mut i = 1;
        while let Some(token) = tokens.get(i) {
            i += 1;
            match token.text {
                "@" if open.is_empty() && !typed => {
                    let attribute = tokens.get(i)?.text;
                    i += 1;
                    if matches!(attribute, "align" | "size") {
                        let (text, length) = self.argument(&tokens[i..])?;
                        i += length;
                        let end = tokens[i - 1].at + 1;
                        self.arguments.push(Argument {
                            text,
                            at: token.at..end,
                            value: None,
                            structure: self.structure,
                            member: members.len(),
                            is_align: attribute == "align",
                        });
                    }
                }
                "(" | "[" => open.push(token.text),
                "<" if open.last().is_none_or(|&o| o == "<") => open.push("<"),
                ">" if open.last() == Some(&"<") => drop(open.pop()),
                ")" | "]" => drop(open.pop()?),
                // The text is broken. To read on would take as long again for each structure that begins in here.
                "{" | ";" => return None,
                ":" if open.is_empty() => typed = true,
                "," | "}" if open.is_empty() => {
                    if typed {
                        members.push(Member {
                            name: name.to_string(),
                            ..Member::default()
                        });
                    }
                    typed = false;
                    if token.text == "}" {
                        return Some(members);
                    }
                }
                word if open.is_empty() && !typed => name = word,
                _ => {}
            }
        }
        None
    }

    /// What stands between the parentheses that `tokens` starts with, and how many tokens that takes.
    fn argument(&self, tokens: &[Token<'a>]) -> Option<(&'a str, usize)> {
        let first = tokens.first()?;
        let mut depth = 0u32;
        for (i, token) in tokens.iter().enumerate() {
            match token.text {
                "(" => depth += 1,
                ")" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                // A comma may follow the number.
                let last = tokens[..i].last().filter(|t| t.text == ",");
                let end = last.unwrap_or(token).at;
                return Some((self.text.get(first.at + 1..end)?, i + 1));
            }
        }
        None
    }
}

fn not_understood(source: &Source, name: Token<'_>) -> Error {
    let span = clamp(source, (name.at..name.at + name.text.len()).into());
    not_understood_at(source, span, name.text)
}

fn not_understood_at(source: &Source, span: Span, name: &str) -> Error {
    let what = format!("the attributes of `{name}` are not understood");
    source
        .error_as(Status::Unsupported, span, &what)
        .with_fix("Write each @align and @size as a number or as the name of a constant.")
}

/// Gives the arguments their values. Numbers are read here; naga computes what else there is, from a text without
/// the attributes.
fn evaluate(whole: &str, arguments: &mut [Argument<'_>]) {
    for argument in arguments.iter_mut() {
        argument.value = literal(argument.text.trim());
    }
    if arguments.iter().all(|a| a.value.is_some()) {
        return;
    }
    let mut text = String::with_capacity(whole.len());
    let mut end = 0;
    for argument in arguments.iter() {
        // In a broken text one may begin inside of another.
        let Some(before) = whole.get(end..argument.at.start) else {
            return;
        };
        text.push_str(before);
        end = argument.at.end;
    }
    text.push_str(&whole[end..]);
    for (i, argument) in arguments.iter().enumerate() {
        if argument.value.is_none() {
            // The line ends before the parenthesis: the argument may end with a comment.
            text.push_str(&format!(
                "\nconst {CONSTANT}{i} = u32({}\n);",
                argument.text
            ));
        }
    }
    // What is wrong with the text shows when naga reads the whole.
    let Ok(module) = naga::front::wgsl::parse_str(&text) else {
        return;
    };
    for (_, constant) in module.constants.iter() {
        let name = constant.name.as_deref().unwrap_or_default();
        let index = name.strip_prefix(CONSTANT).and_then(|i| i.parse().ok());
        if let (Some(i), Expression::Literal(Literal::U32(value))) =
            (index, &module.global_expressions[constant.init])
            && let Some(argument) = arguments.get_mut::<usize>(i)
        {
            argument.value = Some(*value);
        }
    }
}

/// Names of the constants that have naga compute attributes.
const CONSTANT: &str = "vyre_attribute_";

fn literal(word: &str) -> Option<u32> {
    let digits = word.strip_suffix(['u', 'i']).unwrap_or(word);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, then the text of the alignment and the size.
    type Seen<'a> = (String, Option<&'a str>, Option<&'a str>);

    fn members(text: &str) -> Option<Vec<Seen<'_>>> {
        let tokens: Vec<_> = tokens(text).collect();
        let mut arguments = Vec::new();
        let mut reader = Reader {
            text,
            structure: 0,
            arguments: &mut arguments,
        };
        let members = reader.members(&tokens)?;
        let said = |member: usize, is_align: bool| {
            let mut of = arguments.iter().filter(|a| a.member == member);
            of.find(|a| a.is_align == is_align).map(|a| a.text.trim())
        };
        let seen = members.into_iter().enumerate();
        Some(
            seen.map(|(i, m)| (m.name, said(i, true), said(i, false)))
                .collect(),
        )
    }

    #[test]
    fn attributes_are_found_among_members() {
        let member = |name: &str, align, size| (name.to_string(), align, size);
        assert_eq!(
            members(
                "{ a: array<vec2<f32>, 3>, @align(0x10) @size(32u,) b: u32, @builtin(position) c: vec4f, }"
            ),
            Some(vec![
                member("a", None, None),
                member("b", Some("0x10"), Some("32u")),
                member("c", None, None)
            ])
        );
        assert_eq!(
            members(
                "{ @size(max(8, n)) @align (4 * (1 + 1)) a: array<u32, (4 >> 1)>, b: array<array<u32, (3 < 2) + 4>, 2> }"
            ),
            Some(vec![
                member("a", Some("4 * (1 + 1)"), Some("max(8, n)")),
                member("b", None, None)
            ])
        );
        for broken in [
            "{ a: u32",
            "{ a: u32; }",
            "{ a: u32, struct B { b: u32 }",
            "a: u32 }",
            "{ @align(4 a: u32 }",
        ] {
            assert_eq!(members(broken), None, "{broken}");
        }
    }
}
