//! Functions of the program: small ones that exist when they are used, and random ones.

use super::names::{Space, Variable};
use super::program::Writer;
use super::types::{Scalar, Ty};

/// A random function: what it takes, by value, then by pointer if so, and what it gives.
#[derive(Clone)]
pub struct Function {
    name: String,
    values: Vec<Ty>,
    pointer: Option<Ty>,
    result: Ty,
}

impl Writer {
    /// Adds a function of this name, unless there is one, whose text `write` gives.
    fn helper(&mut self, name: String, write: impl FnOnce(&mut Writer, &str) -> String) -> String {
        if !self.helpers.contains(&name) {
            self.helpers.push(name.clone());
            let text = write(self, &name);
            self.functions.push_str(&text);
        }
        name
    }

    /// The value without NaNs. Those of scalars are there from the start.
    pub fn clean(&mut self, ty: &Ty, value: &str) -> String {
        match ty {
            Ty::Scalar(s) if !s.is_float() => return value.into(),
            Ty::Vector(_, s) if !s.is_float() => return value.into(),
            Ty::Scalar(s) => return format!("clean_{}({value})", s.name()),
            _ => {}
        }
        let name = self.helper(format!("clean_{}", ty.word()), |writer, name| {
            let parts: Vec<String> = (writer.parts_of(ty, "x").into_iter())
                .map(|(text, ty)| writer.clean(&ty, &text))
                .collect();
            let ty = ty.name();
            format!(
                "fn {name}(x: {ty}) -> {ty} {{ return {ty}({}); }}\n",
                parts.join(", ")
            )
        });
        format!("{name}({value})")
    }

    /// A word that depends on all of the value.
    pub fn fold(&mut self, ty: &Ty, value: &str) -> String {
        let name = self.helper(format!("fold_{}", ty.word()), |writer, name| {
            let sum = match ty {
                Ty::Scalar(s) => scalar_bits(*s),
                _ => (writer.parts_of(ty, "x").into_iter()).fold("1u".into(), |sum, (text, ty)| {
                    let part = writer.fold(&ty, &text);
                    format!("mix_up({sum}, {part})")
                }),
            };
            format!("fn {name}(x: {}) -> u32 {{ return {sum}; }}\n", ty.name())
        });
        format!("{name}({value})")
    }

    fn parts_of(&self, ty: &Ty, of: &str) -> Vec<(String, Ty)> {
        match ty {
            Ty::Scalar(_) => Vec::new(),
            Ty::Vector(n, s) => (0..*n)
                .map(|i| (format!("{of}[{i}]"), Ty::Scalar(*s)))
                .collect(),
            Ty::Matrix(c, r, s) => (0..*c)
                .map(|i| (format!("{of}[{i}]"), Ty::Vector(*r, *s)))
                .collect(),
            Ty::Array(inner, n) => (0..*n)
                .map(|i| (format!("{of}[{i}]"), (**inner).clone()))
                .collect(),
            Ty::Struct(n) => (self.types.0[*n].members.iter().enumerate())
                .map(|(i, m)| (format!("{of}.m{i}"), m.ty.clone()))
                .collect(),
        }
    }

    /// The same value, after a call.
    pub fn passed_through(&mut self, ty: &Ty, value: &str) -> String {
        let name = self.helper(format!("same_{}", ty.word()), |_, name| {
            let ty = ty.name();
            format!("fn {name}(x: {ty}) -> {ty} {{ var y: {ty}; y = x; if g_one == 0u {{ return {ty}(); }} return y; }}\n")
        });
        format!("{name}({value})")
    }

    /// A function that assigns through a pointer.
    pub fn setter(&mut self, ty: &Ty, space: Space) -> String {
        let space = match space {
            Space::Private => "private",
            _ => "function",
        };
        self.helper(format!("put_{space}_{}", ty.word()), |_, name| {
            let ty = ty.name();
            format!("fn {name}(p: ptr<{space}, {ty}>, x: {ty}) {{ *p = x; }}\n")
        })
    }

    /// Writes a random function.
    pub fn random_function(&mut self) {
        let name = self.fresh();
        let values: Vec<Ty> = (0..1 + self.random.below(3))
            .map(|_| self.any_type())
            .collect();
        let pointer = self.random.one_in(2).then(|| self.any_type());
        let result = self.any_type();
        let variables = self.variables.clone();
        let outer = std::mem::take(&mut self.text);

        let mut parameters = Vec::new();
        for ty in &values {
            let name = self.fresh();
            parameters.push(format!("{name}: {}", ty.name()));
            self.variables.push(Variable {
                text: name,
                ty: ty.clone(),
                space: Space::Value,
            });
        }
        if let Some(ty) = &pointer {
            let name = self.fresh();
            parameters.push(format!("{name}: ptr<function, {}>", ty.name()));
            self.variables.push(Variable {
                text: format!("(*{name})"),
                ty: ty.clone(),
                space: Space::Function,
            });
        }
        let head = format!(
            "fn {name}({}) -> {} {{",
            parameters.join(", "),
            result.name()
        );
        self.line(&head);
        self.indent = 1;
        self.result = Some(result.clone());
        for _ in 0..2 + self.random.below(6) {
            self.statement();
        }
        let value = self.expression(&result, 2);
        self.line(&format!("return {value};"));
        self.result = None;
        self.indent = 0;
        self.line("}");

        let text = std::mem::replace(&mut self.text, outer);
        self.functions.push_str(&text);
        self.variables = variables;
        self.random_functions.push(Function {
            name,
            values,
            pointer,
            result,
        });
    }

    /// Calls one of the random functions.
    pub fn call(&mut self) {
        if self.random_functions.is_empty() {
            return self.assignment();
        }
        let at = self.random.below(self.random_functions.len());
        let function = self.random_functions[at].clone();
        let mut arguments: Vec<String> = (function.values.iter())
            .map(|ty| self.expression(ty, 1))
            .collect();
        if let Some(ty) = &function.pointer {
            let place = self.place(|p| p.space == Space::Function && !p.in_vector && p.ty == *ty);
            let place = match place {
                Some(place) => place.text,
                None => self.variable(ty.clone()),
            };
            // `&(*p)` is as lawful as `p`.
            arguments.push(format!("&{place}"));
        }
        let name = self.fresh();
        let call = format!("{}({})", function.name, arguments.join(", "));
        self.line(&format!("let {name} = {call};"));
        self.variables.push(Variable {
            text: name,
            ty: function.result,
            space: Space::Value,
        });
    }
}

fn scalar_bits(s: Scalar) -> String {
    match s {
        Scalar::Bool | Scalar::I32 | Scalar::U32 => "u32(x)".into(),
        Scalar::I64 | Scalar::U64 => "u32(x) ^ u32(x >> 32u)".into(),
        Scalar::F32 => "bitcast<u32>(clean_f32(x))".into(),
        // Exact, and back.
        Scalar::F16 => "bitcast<u32>(f32(clean_f16(x)))".into(),
    }
}
