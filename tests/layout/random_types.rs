//! Random structures: nested, aligned and padded by hand in every spelling.

use std::rc::Rc;

use super::random::Random;
use super::rules::{Member, Scalar, Struct, Type};

pub struct Generator {
    pub random: Random,
    /// Only what WGSL allows in a uniform buffer.
    pub uniform: bool,
    pub atomics: bool,
    /// In the order of declaration.
    pub structs: Vec<Rc<Struct>>,
}

const SCALARS: [Scalar; 6] = [
    Scalar::U32,
    Scalar::I32,
    Scalar::F32,
    Scalar::F16,
    Scalar::U64,
    Scalar::F64,
];

/// Module-scope constants that attributes use.
pub const CONSTANTS: &str = "const SIXTEEN = 16;\nconst eight: u32 = 4u + 4u;\n";

impl Generator {
    fn scalar(&mut self) -> Scalar {
        *self.random.pick(&SCALARS)
    }

    fn plain(&mut self) -> Type {
        let count = |g: &mut Self| 2 + g.random.below(3) as u64;
        match self.random.below(if self.atomics { 5 } else { 4 }) {
            0 => Type::Scalar(self.scalar()),
            1 => Type::Vector(3, self.scalar()),
            2 => Type::Vector(count(self), self.scalar()),
            3 => {
                let scalar = *self.random.pick(&[Scalar::F32, Scalar::F32, Scalar::F16]);
                Type::Matrix(count(self), count(self), scalar)
            }
            _ => Type::Atomic(*self.random.pick(&[Scalar::U32, Scalar::I32])),
        }
    }

    fn member_type(&mut self, depth: u32) -> Type {
        let inner = |g: &mut Self| match g.random.below(3) {
            0 if depth > 0 => Type::Struct(g.structure(depth - 1)),
            1 if depth > 0 && !g.structs.is_empty() => {
                let at = g.random.below(g.structs.len());
                Type::Struct(g.structs[at].clone())
            }
            _ => g.plain(),
        };
        let ty = inner(self);
        if !self.random.one_in(3) {
            return ty;
        }
        // The stride of an array in a uniform buffer is a multiple of 16.
        if self.uniform && ty.stride() % 16 != 0 {
            return ty;
        }
        let count = 1 + self.random.below(3) as u64;
        Type::Array(Rc::new(ty), count)
    }

    /// A structure of which some members have attributes; in a uniform buffer the first has and every array.
    pub fn structure(&mut self, depth: u32) -> Rc<Struct> {
        let count = 1 + self.random.below(3);
        let members = (0..count).map(|i| self.member(depth, i == 0)).collect();
        let made = Rc::new(Struct {
            name: format!("S{}", self.structs.len()),
            members,
        });
        self.structs.push(made.clone());
        made
    }

    fn member(&mut self, depth: u32, is_first: bool) -> Member {
        let ty = self.member_type(depth);
        let mut attributes = Vec::new();
        let mut align = None;
        let is_array = matches!(ty, Type::Array(..));
        if (self.uniform && (is_first || is_array)) || self.random.one_in(3) {
            let least = if self.uniform {
                ty.align().max(16)
            } else {
                ty.align()
            };
            let value = least << self.random.below(4);
            align = Some(value);
            attributes.push(format!("@align({})", self.spelled(value)));
        }
        let mut size = None;
        if self.random.one_in(4) {
            let value = ty.size() + self.random.below(20) as u64;
            size = Some(value);
            attributes.push(format!("@size({})", self.spelled(value)));
        }
        if self.random.one_in(2) {
            attributes.reverse();
        }
        let attributes: String = attributes.iter().map(|a| format!("{a} ")).collect();
        Member {
            ty,
            align,
            size,
            attributes,
        }
    }

    fn spelled(&mut self, value: u64) -> String {
        match self.random.below(8) {
            0 => format!("{value:#x}"),
            1 => format!("{value}u,"),
            2 if value == 16 => "SIXTEEN".to_string(),
            3 if value == 8 => "eight".to_string(),
            4 if value.is_multiple_of(16) => format!("(SIXTEEN * {}) /* by hand */", value / 16),
            5 if value.is_multiple_of(8) => format!("eight * {}u // by hand\n  ", value / 8),
            6 => format!("max({value}, 1 << 1)"),
            _ => value.to_string(),
        }
    }
}
