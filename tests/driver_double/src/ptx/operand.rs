//! What instructions take.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Thread(usize),
    Block(usize),
    Threads(usize),
    Blocks(usize),
    Lane,
    Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(u32),
    Value(u64),
    Special(Special),
    /// The address of the module's variable with this number; known when it is loaded.
    Variable(u32),
    /// Where the shared memory begins that is asked for at the launch: behind all that is declared.
    Dynamic,
}

/// The value of a word that is a number.
pub fn number(text: &str) -> Option<u64> {
    for (prefix, radix) in [
        ("0f", 16),
        ("0F", 16),
        ("0d", 16),
        ("0D", 16),
        ("0x", 16),
        ("0X", 16),
    ] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return u64::from_str_radix(digits.trim_end_matches('U'), radix).ok();
        }
    }
    text.trim_end_matches('U').parse().ok()
}

/// A word behind a percent sign that is no register.
pub fn special(text: &str) -> Option<Special> {
    let (what, axis) = text.split_once('.').unwrap_or((text, ""));
    let axis = ["x", "y", "z"].iter().position(|&a| a == axis);
    Some(match (what, axis) {
        ("%tid", Some(axis)) => Special::Thread(axis),
        ("%ctaid", Some(axis)) => Special::Block(axis),
        ("%ntid", Some(axis)) => Special::Threads(axis),
        ("%nctaid", Some(axis)) => Special::Blocks(axis),
        ("%laneid", None) => Special::Lane,
        ("%globaltimer" | "%clock64" | "%clock", None) => Special::Clock,
        _ => return None,
    })
}
