//! Types, variables, and who agrees on them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Bool,
    I32,
    U32,
    I64,
    U64,
}

impl Ty {
    pub const ALL: [Ty; 5] = [Ty::Bool, Ty::I32, Ty::U32, Ty::I64, Ty::U64];
    pub const INTS: [Ty; 4] = [Ty::I32, Ty::U32, Ty::I64, Ty::U64];

    pub fn name(self) -> &'static str {
        match self {
            Ty::Bool => "bool",
            Ty::I32 => "i32",
            Ty::U32 => "u32",
            Ty::I64 => "i64",
            Ty::U64 => "u64",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::I32 | Ty::U32 => 32,
            Ty::I64 | Ty::U64 => 64,
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Ty::I32 | Ty::I64)
    }

    pub fn suffix(self) -> &'static str {
        match self {
            Ty::Bool => "",
            Ty::I32 => "i",
            Ty::U32 => "u",
            Ty::I64 => "li",
            Ty::U64 => "lu",
        }
    }
}

/// Who agrees: on a variable's value, or on what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Grid,
    Workgroup,
    Varying,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Grid, Level::Workgroup, Level::Varying];
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    pub level: Level,
    pub is_mutable: bool,
}

/// A function-scope array of u32.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub length: u32,
}
