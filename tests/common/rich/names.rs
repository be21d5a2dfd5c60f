//! What is in scope.

use super::types::Ty;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// A `let`, a parameter, a read-only buffer.
    Value,
    Function,
    Private,
    Workgroup,
    Storage,
}

#[derive(Clone, Debug)]
pub struct Variable {
    /// How it is written: a name, or a part of something.
    pub text: String,
    pub ty: Ty,
    pub space: Space,
}
