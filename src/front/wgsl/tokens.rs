//! The words and signs of a text, without its comments.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// A word (identifier, keyword or number) or one sign.
    pub text: &'a str,
    /// In bytes from the start.
    pub at: usize,
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += comment_length(rest.as_bytes());
            } else if first.is_whitespace() {
                at += first.len_utf8();
            } else {
                let length = if is_word_character(first) {
                    rest.find(|c| !is_word_character(c)).unwrap_or(rest.len())
                } else {
                    first.len_utf8()
                };
                let token = Token {
                    text: &rest[..length],
                    at,
                };
                at += length;
                return Some(token);
            }
        }
    })
}

/// Bytes of the block comment that starts a text; those nest.
fn comment_length(text: &[u8]) -> usize {
    let mut depth = 0u32;
    let mut at = 0;
    while at < text.len() {
        match text[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_spaces_are_left_out() {
        let seen: Vec<_> = tokens("a1 /* b /* c */ */+//d\n_é/* e")
            .map(|t| (t.text, t.at))
            .collect();
        assert_eq!(seen, [("a1", 0), ("+", 18), ("_é", 23)]);
    }
}
