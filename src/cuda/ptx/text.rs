//! Registers, operands, and the words of the source that comments quote.

use std::fmt;

use crate::ir::{Scalar, Source, Span};

/// Registers carry bits; the instructions say what the bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Pred,
    B16,
    B32,
    B64,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::Pred, Class::B16, Class::B32, Class::B64];

    /// What carries a scalar: an f16 as the f32 that it equals, so that each operation can be
    /// rounded once by a conversion on every machine.
    pub fn of(scalar: Scalar) -> Class {
        match scalar {
            Scalar::Bool => Class::Pred,
            Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F16 => Class::B32,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => Class::B64,
        }
    }

    pub fn ty(self) -> &'static str {
        match self {
            Class::Pred => "pred",
            Class::B16 => "b16",
            Class::B32 => "b32",
            Class::B64 => "b64",
        }
    }

    pub fn prefix(self) -> &'static str {
        match self {
            Class::Pred => "%p",
            Class::B16 => "%h",
            Class::B32 => "%r",
            Class::B64 => "%d",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reg {
    pub class: Class,
    pub number: u32,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.prefix(), self.number)
    }
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Val {
    Reg(Reg),
    Int(u64),
    /// By their bits.
    F32(u32),
    F64(u64),
}

impl Val {
    pub fn f64(x: f64) -> Val {
        Val::F64(x.to_bits())
    }
}

impl From<Reg> for Val {
    fn from(reg: Reg) -> Val {
        Val::Reg(reg)
    }
}

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Val::Reg(reg) => reg.fmt(f),
            Val::Int(bits) if *bits < 1 << 16 => bits.fmt(f),
            Val::Int(bits) => write!(f, "{bits:#x}"),
            Val::F32(bits) => write!(f, "0f{bits:08X}"),
            Val::F64(bits) => write!(f, "0d{bits:016X}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelName(pub u32);

impl fmt::Display for LabelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// The source by lines.
pub struct Lines<'p> {
    text: &'p str,
    starts: Vec<usize>,
}

impl<'p> Lines<'p> {
    pub fn of(source: &'p Source) -> Lines<'p> {
        let text = source.text();
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines {
            text,
            starts: std::iter::once(0).chain(after).collect(),
        }
    }

    /// The number of a span's line, from 1.
    pub fn number(&self, span: Span) -> Option<usize> {
        span.is_known()
            .then(|| (self.starts).partition_point(|&start| start <= span.start as usize))
    }

    /// A line's words, fit for a comment.
    pub fn words(&self, number: usize) -> String {
        let start = self.starts[number - 1];
        let line = self.text[start..].lines().next().unwrap_or_default();
        quoted(line)
    }
}

/// Words for a comment: one line of plain ASCII, shortened when long. Barrier markers are counted
/// in the text, and each has a `#`, so a quoted one must not keep it.
pub fn quoted(words: &str) -> String {
    const LONGEST: usize = 90;
    let mut plain: String = (words.trim().chars())
        .map(|c| match c {
            '#' | '\\' => '.',
            ' '..='~' => c,
            '\t' => ' ',
            _ => '?',
        })
        .take(LONGEST)
        .collect();
    if words.trim().chars().nth(LONGEST).is_some() {
        plain.push_str("...");
    }
    plain
}

/// A PTX identifier for an entry point's name, which may have any letter.
pub fn kernel_name(entry_point: &str) -> String {
    let mut name = String::from("vyre_");
    for c in entry_point.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            c => name.push_str(&format!("${:x}$", u32::from(c))),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_stay_on_their_line_and_are_no_marker() {
        assert_eq!(
            quoted("  // grid.sync barrier #3 \\"),
            "// grid.sync barrier .3 ."
        );
        assert_eq!(quoted("let \u{fc} =\t1;"), "let ? = 1;");
        assert_eq!(quoted(&"x".repeat(500)).len(), 93);
    }

    #[test]
    fn kernel_names_are_distinct_identifiers() {
        assert_eq!(kernel_name("main"), "vyre_main");
        assert_eq!(kernel_name("\u{fc}"), "vyre_$fc$");
    }

    #[test]
    fn lines_count_from_one() {
        let source = Source::new("ab\ncd\n", None);
        let lines = Lines::of(&source);
        assert_eq!(lines.number(Span::new(0, 1)), Some(1));
        assert_eq!(lines.number(Span::new(3, 4)), Some(2));
        assert_eq!(lines.number(Span::default()), None);
        assert_eq!(lines.words(2), "cd");
    }
}
