//! The program text, and places in it.

use std::sync::Arc;

use crate::error::{Error, Position, Status};

/// A byte range of the source; empty at 0 when the place is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    pub fn is_known(self) -> bool {
        self.end > 0
    }
}

/// Text with the label that messages call it by.
#[derive(Clone, Debug)]
pub struct Source {
    text: Arc<str>,
    label: Option<Arc<str>>,
}

impl Source {
    pub fn new(text: impl Into<Arc<str>>, label: Option<&str>) -> Source {
        Source {
            text: text.into(),
            label: label.map(Arc::from),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The words of a span, on one line and shortened when long.
    pub fn excerpt(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let words = self
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("");
        let mut line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() > LONGEST {
            line = line.chars().take(LONGEST - 3).collect();
            line.push_str("...");
        }
        line
    }

    /// Line and column of a span's start; `None` when it is unknown.
    pub fn position(&self, span: Span) -> Option<Position> {
        if !span.is_known() {
            return None;
        }
        let before = self.text.as_bytes().get(..span.start as usize)?;
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        Some(Position {
            line: u32::try_from(line).ok()?,
            column: u32::try_from(before.len() - line_start + 1).ok()?,
        })
    }

    /// An INVALID_PROGRAM error at a span: `label:line:column: what`, the source line, a marker under it.
    pub fn error(&self, span: Span, what: &str) -> Error {
        self.error_as(Status::InvalidProgram, span, what)
    }

    /// As [`Source::error`], with another status.
    pub fn error_as(&self, status: Status, span: Span, what: &str) -> Error {
        let label = self.label().unwrap_or("program");
        let Some(at) = self.position(span) else {
            return Error::new(status, format!("{label}: {what}"));
        };
        let mut message = format!("{label}:{}:{}: {what}", at.line, at.column);
        if let Some(line) = self.text.lines().nth(at.line as usize - 1) {
            message.push_str(&marked_line(line, span, at));
        }
        Error::new(status, message).with_position(Some(at))
    }
}

/// The source line with a marker under the span; a window of it when the line is long.
fn marked_line(line: &str, span: Span, at: Position) -> String {
    const WINDOW: usize = 160;
    const BEFORE: usize = 60;
    let column = (at.column as usize - 1).min(line.len());
    let length = (span.end - span.start) as usize;
    let chars_before = String::from_utf8_lossy(&line.as_bytes()[..column])
        .chars()
        .count();
    let skip = if line.chars().count() > WINDOW {
        chars_before.saturating_sub(BEFORE)
    } else {
        0
    };
    let shown: String = line.chars().skip(skip).take(WINDOW).collect();
    let indent: String = shown
        .chars()
        .take(chars_before - skip)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let room = shown.chars().count().saturating_sub(chars_before - skip);
    let marker = "^".repeat(length.clamp(1, room.max(1)));
    format!("\n  {}\n  {indent}{marker}", shown.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_one() {
        let source = Source::new("ab\ncd\n", None);
        let at = |start, end| source.position(Span::new(start, end));
        assert_eq!(at(0, 1), Some(Position { line: 1, column: 1 }));
        assert_eq!(at(4, 5), Some(Position { line: 2, column: 2 }));
        assert_eq!(at(0, 0), None);
        assert_eq!(at(900, 901), None);
    }

    #[test]
    fn errors_show_the_line_and_mark_the_span() {
        let source = Source::new("fn f() {\n\tlet x = y;\n}\n", Some("a.wgsl"));
        let error = source.error(Span::new(18, 19), "no such name");
        assert_eq!(
            error.message(),
            "a.wgsl:2:10: no such name\n  \tlet x = y;\n  \t        ^"
        );
        assert_eq!(
            error.position(),
            Some(Position {
                line: 2,
                column: 10
            })
        );
    }

    #[test]
    fn a_long_line_is_windowed_around_the_span() {
        let text = format!("{}X{}", "a".repeat(5000), "b".repeat(5000));
        let message = Source::new(text, None)
            .error(Span::new(5000, 5001), "here")
            .message()
            .to_string();
        assert!(message.len() < 600, "{}", message.len());
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines[1].find('X'), lines[2].find('^'));
    }

    #[test]
    fn multi_byte_text_is_never_split() {
        let source = Source::new("// é\nlet ü = 1;", None);
        for start in 0..15 {
            for end in start..=15 {
                let _ = source.error(Span::new(start, end), "x");
                let _ = source.excerpt(Span::new(start, end));
            }
        }
    }
}
