//! Statements that run from their beginning to their end.

use super::names::{Space, Variable};
use super::places::Place;
use super::program::Writer;
use super::types::{Scalar, Ty};

impl Writer {
    pub fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let nests = self.depth < 4 && self.budget > 0;
        match self.random.below(24) {
            0..=8 => self.assignment(),
            9..=11 => self.declaration(),
            12..=14 if nests => self.if_(),
            15 if nests => self.switch(),
            16 | 17 if nests && self.loops.len() < 2 => self.loop_(),
            18 => self.leave(),
            19 | 20 => self.call(),
            21 => self.atomic(),
            22 if self.result.is_some() => self.early_return(),
            _ => self.compound(),
        }
    }

    /// A new variable of this type; how it is written.
    pub fn variable(&mut self, ty: Ty) -> String {
        let value = match self.random.one_in(6) {
            true => None,
            false => Some(self.expression(&ty, 2)),
        };
        let name = self.fresh();
        let type_name = ty.name();
        let text = match self.style.below(6) {
            // The part of something larger; the last is found at run time only.
            0 => {
                self.line(&format!("var {name}: array<{type_name}, 2>;"));
                format!("{name}[1]")
            }
            1 => {
                self.line(&format!("var {name}: array<{type_name}, 3>;"));
                format!("{name}[g_one]")
            }
            _ => {
                self.line(&format!("var {name}: {type_name};"));
                name
            }
        };
        if let Some(value) = value {
            self.line(&format!("{text} = {value};"));
        }
        self.variables.push(Variable {
            text: text.clone(),
            ty,
            space: Space::Function,
        });
        text
    }

    fn declaration(&mut self) {
        let ty = self.any_type();
        if self.random.one_in(2) {
            self.variable(ty);
            return;
        }
        let value = self.expression(&ty, 2);
        let name = self.fresh();
        let value = match self.style.one_in(4) {
            true => self.passed_through(&ty, &value),
            false => value,
        };
        self.line(&format!("let {name} = {value};"));
        self.variables.push(Variable {
            text: name,
            ty,
            space: Space::Value,
        });
    }

    pub fn assignment(&mut self) {
        let Some(place) = self.place(|p| p.space != Space::Value) else {
            return self.put();
        };
        let ty = place.ty.clone();
        if self.random.one_in(8) {
            return self.chosen(&place);
        }
        if self.random.one_in(3) && !matches!(ty, Ty::Scalar(_)) {
            return self.by_parts(&place);
        }
        let value = self.expression(&ty, 3);
        self.assign(place, &value);
    }

    /// Something for everyone to see.
    fn put(&mut self) {
        let value = self.expression(&Ty::U32, 2);
        self.line(&format!("g_hash = mix_up(g_hash, {value});"));
    }

    fn assign(&mut self, place: Place, value: &str) {
        let value = match place.space {
            Space::Storage => self.clean(&place.ty, value),
            _ => value.into(),
        };
        let may_pass = matches!(place.space, Space::Function | Space::Private) && !place.in_vector;
        match self.style.below(6) {
            0 if may_pass => {
                let setter = self.setter(&place.ty, place.space);
                self.line(&format!("{setter}(&{}, {value});", place.text));
            }
            1 => {
                let value = self.named(&value);
                self.line(&format!("{} = {value};", place.text));
            }
            2 => {
                let value = self.passed_through(&place.ty, &value);
                self.line(&format!("{} = {value};", place.text));
            }
            _ => {
                let place = self.by_pointer(place);
                self.line(&format!("{} = {value};", place.text));
            }
        }
    }

    /// One value or another.
    fn chosen(&mut self, place: &Place) {
        let condition = self.expression(&Ty::BOOL, 2);
        let accept = self.expression(&place.ty, 2);
        let reject = self.expression(&place.ty, 2);
        if matches!(place.ty, Ty::Scalar(_) | Ty::Vector(..)) && self.style.one_in(2) {
            let value = format!("select({reject}, {accept}, {condition})");
            return self.assign(place.clone(), &value);
        }
        let condition = self.named(&condition);
        self.line(&format!("if {condition} {{"));
        self.assign(place.clone(), &accept);
        self.line("} else {");
        self.assign(place.clone(), &reject);
        self.line("}");
    }

    /// All parts of a place, at once or one after the other.
    fn by_parts(&mut self, place: &Place) {
        let parts = self.parts(&place.ty, 1);
        if self.style.one_in(2) {
            let value = self.constructed(&place.ty, &parts);
            return self.assign(place.clone(), &value);
        }
        let names: Vec<String> = parts.iter().map(|part| self.named(part)).collect();
        let indices = match place.ty {
            Ty::Struct(_) => None,
            _ => Some(()),
        };
        for (i, name) in names.iter().enumerate() {
            let text = match indices {
                Some(()) => format!("{}[{i}]", place.text),
                None => format!("{}.m{i}", place.text),
            };
            let part = self.part_type(&place.ty, i);
            let value = match place.space {
                Space::Storage => self.clean(&part, name),
                _ => name.clone(),
            };
            self.line(&format!("{text} = {value};"));
        }
    }

    fn part_type(&self, ty: &Ty, at: usize) -> Ty {
        match ty {
            Ty::Scalar(_) => ty.clone(),
            Ty::Vector(_, s) => Ty::Scalar(*s),
            Ty::Matrix(_, r, s) => Ty::Vector(*r, *s),
            Ty::Array(of, _) => (**of).clone(),
            Ty::Struct(n) => self.types.0[*n].members[at].ty.clone(),
        }
    }

    /// `a op= b`.
    fn compound(&mut self) {
        let place = self.place(|p| match p.ty {
            Ty::Scalar(s) | Ty::Vector(_, s) => {
                s != Scalar::Bool
                    && p.space != Space::Value
                    && !(p.space == Space::Storage && s.is_float())
            }
            _ => false,
        });
        let Some(place) = place else {
            return self.put();
        };
        let (Ty::Scalar(s) | Ty::Vector(_, s)) = place.ty else {
            return self.put();
        };
        if matches!(place.ty, Ty::Scalar(_))
            && !s.is_float()
            && s.bits() == 32
            && self.random.one_in(4)
        {
            let sign = *self.random.pick(&["+", "-"]);
            return match self.style.one_in(2) {
                true => self.line(&format!("{}{sign}{sign};", place.text)),
                false => self.line(&format!("{0} = {0} {sign} 1{1};", place.text, s.suffix())),
            };
        }
        let ops: &[&str] = match s.is_float() {
            true => &["+", "-", "*", "/"],
            false => &["+", "-", "*", "/", "%", "&", "|", "^"],
        };
        let op = *self.random.pick(ops);
        let value = self.expression(&place.ty, 2);
        match self.style.one_in(2) {
            true => {
                let place = self.by_pointer(place);
                self.line(&format!("{} {op}= {value};", place.text));
            }
            false => self.line(&format!("{0} = {0} {op} ({value});", place.text)),
        }
    }

    /// On words of the invocation's own, with results, and on common ones, without.
    fn atomic(&mut self) {
        if self.result.is_some() {
            return self.assignment();
        }
        let i32 = Ty::Scalar(Scalar::I32);
        match self.random.below(4) {
            0 => {
                let value = self.expression(&Ty::U32, 1);
                let bin = self.expression(&Ty::U32, 1);
                self.line(&format!("atomicAdd(&tally[{bin} % 4u], {value});"));
            }
            1 => {
                let value = self.expression(&Ty::U32, 1);
                self.line(&format!("atomicMax(&totals[{} % 5u], {value});", "me"));
            }
            2 => {
                let value = self.expression(&i32, 1);
                let compare = self.expression(&i32, 1);
                let name = self.fresh();
                self.line(&format!(
                    "let {name} = atomicCompareExchangeWeak(&cells[me].count, {compare}, {value});"
                ));
                self.line(&format!("if {name}.exchanged {{ g_hash += 3u; }}"));
                self.variables.push(Variable {
                    text: format!("{name}.old_value"),
                    ty: i32,
                    space: Space::Value,
                });
            }
            _ => {
                let value = self.expression(&i32, 1);
                let op = *(self.random)
                    .pick(&["Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exchange"]);
                let name = self.fresh();
                self.line(&format!(
                    "let {name} = atomic{op}(&cells[me].count, {value});"
                ));
                self.variables.push(Variable {
                    text: name,
                    ty: i32,
                    space: Space::Value,
                });
            }
        }
    }

    fn early_return(&mut self) {
        let Some(ty) = self.result.clone() else {
            return;
        };
        let condition = self.expression(&Ty::BOOL, 1);
        let condition = match self.random.one_in(2) {
            true => condition,
            false => format!("({condition}) && g_hash % 3u == 0u"),
        };
        let value = self.expression(&ty, 1);
        self.line(&format!("if {condition} {{ return {value}; }}"));
    }
}
