//! Text to words and signs.

#[derive(Clone, Debug, PartialEq)]
pub struct Word<'t> {
    pub text: &'t str,
    pub line: u32,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

/// Without comments; text in quotes is one word.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_kept) = if first.is_whitespace() {
            (first.len_utf8(), false)
        } else if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if let Some(inside) = rest.strip_prefix("/*") {
            (inside.find("*/").map_or(rest.len(), |end| end + 4), false)
        } else if let Some(inside) = rest.strip_prefix('"') {
            (inside.find('"').map_or(rest.len(), |end| end + 2), true)
        } else if is_word(first) {
            (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), true)
        } else {
            (first.len_utf8(), true)
        };
        let (word, behind) = rest.split_at(length);
        if is_kept {
            words.push(Word { text: word, line });
        }
        line += word.matches('\n').count() as u32;
        rest = behind;
    }
    words
}
