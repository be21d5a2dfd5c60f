//! Parts of variables.

use super::names::{Space, Variable};
use super::program::Writer;
use super::types::{Scalar, Ty};

/// Something that can be read, and assigned to if its space is not `Value`.
#[derive(Clone, Debug)]
pub struct Place {
    pub text: String,
    pub ty: Ty,
    pub space: Space,
    /// Components of vectors have no pointers.
    pub in_vector: bool,
}

impl Writer {
    /// A part of a variable that `wanted` accepts.
    pub fn place(&mut self, wanted: impl Fn(&Place) -> bool) -> Option<Place> {
        for _ in 0..10 {
            let at = self.random.below(self.variables.len());
            let Variable { text, ty, space } = self.variables[at].clone();
            let mut place = Place {
                text,
                ty,
                space,
                in_vector: false,
            };
            loop {
                let stops = wanted(&place);
                if stops && (self.random.one_in(2) || matches!(place.ty, Ty::Scalar(_))) {
                    return Some(place);
                }
                match self.part(place.clone()) {
                    Some(part) => place = part,
                    None if stops => return Some(place),
                    None => break,
                }
            }
        }
        None
    }

    fn part(&mut self, whole: Place) -> Option<Place> {
        let Place {
            text, ty, space, ..
        } = whole;
        let (text, ty, in_vector) = match ty {
            Ty::Scalar(_) => return None,
            Ty::Vector(n, s) => (self.component(&text, n), Ty::Scalar(s), true),
            Ty::Matrix(c, r, s) => {
                let index = self.index(c, false);
                (format!("{text}[{index}]"), Ty::Vector(r, s), false)
            }
            Ty::Array(of, n) => {
                let index = self.index(n, true);
                (format!("{text}[{index}]"), *of, false)
            }
            Ty::Struct(number) => {
                let members = &self.types.0[number].members;
                let at = self.random.below(members.len());
                (format!("{text}.m{at}"), members[at].ty.clone(), false)
            }
        };
        Some(Place {
            text,
            ty,
            space,
            in_vector,
        })
    }

    pub fn component(&mut self, text: &str, n: u32) -> String {
        if self.random.one_in(4) {
            let index = self.index(n, false);
            return format!("{text}[{index}]");
        }
        let at = self.random.below(n as usize);
        match self.style.below(4) {
            0 => format!("{text}[{at}]"),
            1 => format!("{text}.{}", ["r", "g", "b", "a"][at]),
            _ => format!("{text}.{}", ["x", "y", "z", "w"][at]),
        }
    }

    /// An index below `length`, and beyond it at times if `beyond`.
    fn index(&mut self, length: u32, beyond: bool) -> String {
        if self.random.one_in(2) {
            let at = self.random.below(length as usize);
            let suffix = *self.style.pick(&["", "u", "i"]);
            return format!("{at}{suffix}");
        }
        let beyond = u32::from(beyond && self.random.one_in(3));
        let modulus = length + beyond;
        let scalars: Vec<String> = (self.variables.iter())
            .filter(|v| v.ty == Ty::U32)
            .map(|v| v.text.clone())
            .collect();
        let by = self.random.pick(&scalars).clone();
        match self.style.below(3) {
            0 => format!("i32({by} % {modulus}u)"),
            _ => format!("{by} % {modulus}u"),
        }
    }

    /// Reads something of this type, if there is something.
    pub fn read(&mut self, ty: &Ty) -> Option<String> {
        if let Ty::Vector(n, s) = ty
            && self.random.one_in(3)
        {
            return self.swizzle(*n, *s);
        }
        let place = self.place(|place| place.ty == *ty)?;
        Some(self.by_pointer(place).text)
    }

    fn swizzle(&mut self, n: u32, s: Scalar) -> Option<String> {
        let place = self.place(|place| matches!(place.ty, Ty::Vector(_, of) if of == s))?;
        let Ty::Vector(of, _) = place.ty else {
            return None;
        };
        let picks: Vec<usize> = (0..n).map(|_| self.random.below(of as usize)).collect();
        let names = *self.style.pick(&["xyzw", "rgba"]);
        let names: Vec<&str> = names.split("").filter(|c| !c.is_empty()).collect();
        Some(match self.style.one_in(3) {
            true => {
                let parts: Vec<String> = (picks.iter())
                    .map(|&at| format!("{}.{}", place.text, names[at]))
                    .collect();
                format!("vec{n}({})", parts.join(", "))
            }
            false => {
                let parts: String = picks.iter().map(|&at| names[at]).collect();
                format!("{}.{parts}", place.text)
            }
        })
    }

    /// The same place, at times behind a pointer of its own.
    pub fn by_pointer(&mut self, place: Place) -> Place {
        if place.space == Space::Value
            || place.in_vector
            || !self.statements_fit
            || !self.style.one_in(6)
        {
            return place;
        }
        let name = self.fresh();
        self.line(&format!("let {name} = &{};", place.text));
        Place {
            text: format!("(*{name})"),
            ..place
        }
    }
}
