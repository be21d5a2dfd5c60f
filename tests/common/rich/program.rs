//! A program: its types, what it is given, its functions, its entry point.

use super::ELEMENTS;
use super::flow::Loop;
use super::functions::Function;
use super::names::{Space, Variable};
use super::random::Random;
use super::types::{Scalar, Struct, Ty, Types};

pub struct Writer {
    /// Decides what is computed.
    pub random: Random,
    /// Decides how it is written. Nothing that it decides may change what `random` is asked.
    pub style: Random,
    pub types: Types,
    pub variables: Vec<Variable>,
    /// Names of constants and overrides.
    pub constants: Vec<(String, Scalar)>,
    /// Functions, as written so far, and the names of those that are there once.
    pub functions: String,
    pub helpers: Vec<String>,
    pub random_functions: Vec<Function>,
    pub text: String,
    pub indent: usize,
    /// Statements that may still nest.
    pub budget: usize,
    pub depth: usize,
    pub loops: Vec<Loop>,
    /// What the function being written gives; `None` in the entry point.
    pub result: Option<Ty>,
    /// Whether what is being written may be preceded by statements.
    pub statements_fit: bool,
    names: usize,
    size: [u32; 3],
}

impl Writer {
    pub fn new(mut random: Random, style: Random, size: [u32; 3]) -> Writer {
        let budget = 10 + random.below(30);
        Writer {
            random,
            style,
            types: Types::default(),
            variables: Vec::new(),
            constants: Vec::new(),
            functions: String::new(),
            helpers: Vec::new(),
            random_functions: Vec::new(),
            text: String::new(),
            indent: 0,
            budget,
            depth: 0,
            loops: Vec::new(),
            result: None,
            statements_fit: true,
            names: 0,
            size,
        }
    }

    pub fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    pub fn line(&mut self, text: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    pub fn any_type(&mut self) -> Ty {
        self.random_type(true, 2)
    }

    fn random_type(&mut self, may_be_bool: bool, depth: u32) -> Ty {
        let s = match may_be_bool {
            true => *self.random.pick(&Scalar::ALL),
            false => *self.random.pick(&Scalar::NUMBERS),
        };
        let n = 2 + self.random.below(3) as u32;
        match self.random.below(10) {
            0..=3 => Ty::Scalar(s),
            4 | 5 => Ty::Vector(n, s),
            6 => {
                let s = *self.random.pick(&[Scalar::F16, Scalar::F32]);
                Ty::Matrix(n, 2 + self.random.below(3) as u32, s)
            }
            7 if depth > 0 => {
                let of = self.random_type(may_be_bool, depth - 1);
                Ty::Array(Box::new(of), 1 + self.random.below(3) as u32)
            }
            _ => {
                let fitting: Vec<usize> = (0..self.types.0.len())
                    .filter(|&n| may_be_bool || !self.types.0[n].has_bool)
                    .collect();
                match fitting.is_empty() || depth == 0 {
                    true => Ty::Scalar(s),
                    false => Ty::Struct(*self.random.pick(&fitting)),
                }
            }
        }
    }

    fn structures(&mut self) {
        for number in 0..3 + self.random.below(3) {
            // The first is for buffers.
            let may_be_bool = number > 0 && self.random.one_in(3);
            let mut members = Vec::new();
            let mut text = format!("struct S{number} {{ ");
            for at in 0..1 + self.random.below(4) {
                let ty = self.random_type(may_be_bool, 1);
                let plain = self.types.has_bool(&ty);
                let aligned =
                    (!plain && self.random.one_in(5)).then(|| self.random.below(3) as u32);
                let longer =
                    (!plain && self.random.one_in(6)).then(|| 4 * self.random.below(6) as u32);
                let member = self.types.member(ty, aligned, longer);
                text += &format!("{}m{at}: {}, ", member.attributes, member.ty.name());
                members.push(member);
            }
            let has_bool = members.iter().any(|m| self.types.has_bool(&m.ty));
            self.types.0.push(Struct { members, has_bool });
            self.line(&format!("{text}}}"));
        }
    }

    fn known(&mut self, text: &str, ty: Ty, space: Space) {
        self.variables.push(Variable {
            text: text.into(),
            ty,
            space,
        });
    }

    fn buffers(&mut self) -> [Ty; 4] {
        let shared = [0; 4].map(|_| self.random_type(false, 2));
        let [own, more, given, board] = &shared;
        let lines = [
            format!("@group(0) @binding(0) var<storage, read> input: array<{}>;", given.name()),
            format!("@group(0) @binding(1) var<storage, read_write> items: array<{}>;", own.name()),
            format!("@group(0) @binding(2) var<storage, read_write> more: array<{}>;", more.name()),
            "struct Cell { count: atomic<i32>, spare: array<vec2<f32>, 2> }".into(),
            "@group(0) @binding(3) var<storage, read_write> cells: array<Cell>;".into(),
            "@group(0) @binding(4) var<storage, read_write> totals: array<atomic<u32>, 5>;".into(),
            "@group(0) @binding(5) var<storage, read_write> output: array<u32>;".into(),
            "struct Uniforms { a: vec4<u32>, b: mat3x3<f32>, c: array<vec4<i32>, 3>, d: f32, e: u32 }".into(),
            "@group(0) @binding(6) var<uniform> uniforms: Uniforms;".into(),
            "@group(0) @binding(7) var<storage, read> words: array<u32>;".into(),
            format!(
                "var<workgroup> board: array<{}, {}>;",
                board.name(),
                self.size.iter().product::<u32>()
            ),
            "var<workgroup> tally: array<atomic<u32>, 4>;".into(),
        ];
        for line in lines {
            self.line(&line);
        }
        shared
    }

    /// Constants, overrides and private variables.
    fn globals(&mut self) {
        for (s, kind) in [
            (Scalar::I32, "const"),
            (Scalar::F32, "const"),
            (Scalar::F16, "const"),
            (Scalar::U64, "const"),
            (Scalar::U32, "override"),
            (Scalar::I32, "override"),
            (Scalar::F32, "override"),
        ] {
            let name = self.fresh();
            let value = self.literal(s);
            self.line(&format!("{kind} {name}: {} = {value};", s.name()));
            self.constants.push((name, s));
        }
        self.line("const tables = array<array<vec2<i32>, 3>, 2>(array<vec2<i32>, 3>(), array(vec2(5, -3), vec2(1, 2), vec2(-70000, 9)));");
        self.line("var<private> g_hash: u32 = 7u;");
        self.line("var<private> g_one: u32;");
        for s in Scalar::ALL {
            let name = s.name();
            self.line(&format!("var<private> g_{name}: {name};"));
            self.known(&format!("g_{name}"), Ty::Scalar(s), Space::Private);
        }
        for at in 0..2 {
            let ty = self.any_type();
            self.line(&format!("var<private> p{at}: {};", ty.name()));
            self.known(&format!("p{at}"), ty, Space::Private);
        }
    }

    pub fn program(mut self) -> String {
        self.structures();
        let [own, more, given, board] = self.buffers();
        self.globals();
        let table = Ty::Array(Box::new(Ty::Vector(2, Scalar::I32)), 3);
        // Of constants alone naga would compute constants, and refuse those that overflow.
        self.known("tables[g_one]", table, Space::Value);
        self.known("input", Ty::Array(Box::new(given), ELEMENTS), Space::Value);
        self.known("uniforms.a", Ty::Vector(4, Scalar::U32), Space::Value);
        self.known("uniforms.b", Ty::Matrix(3, 3, Scalar::F32), Space::Value);
        let vectors = Ty::Array(Box::new(Ty::Vector(4, Scalar::I32)), 3);
        self.known("uniforms.c", vectors, Space::Value);
        let head = std::mem::take(&mut self.text);
        self.functions.push_str(FUNCTIONS);
        for _ in 0..self.random.below(4) {
            self.random_function();
        }

        self.budget = 8 + self.random.below(30);
        let [x, y, z] = self.size;
        self.line(&format!("@compute @workgroup_size({x}, {y}, {z})"));
        self.text.push_str(ENTRY);
        self.indent = 1;
        self.line(&format!(
            "let me = gid.x + (gid.y + gid.z * groups.y * {y}u) * groups.x * {x}u;"
        ));
        self.first_values();
        self.known("items[me]", own, Space::Storage);
        self.known("more[me]", more, Space::Storage);
        self.known("board[local]", board.clone(), Space::Workgroup);
        self.known(
            "cells[me].spare",
            Ty::Array(Box::new(Ty::Vector(2, Scalar::F32)), 2),
            Space::Storage,
        );
        while self.budget > 0 {
            self.statement();
            if self.random.one_in(8) {
                self.exchange(&board);
            }
        }
        self.finish();
        format!("enable f16;\n{head}{}{}", self.functions, self.text)
    }

    fn first_values(&mut self) {
        self.line("g_one = groups.x / groups.x;");
        for s in Scalar::ALL {
            let at = self.random.below(8);
            let word = format!("words[(me + {at}u) % {ELEMENTS}u]");
            let value = match s {
                Scalar::Bool => format!("{word} % 2u == 0u"),
                Scalar::F16 => format!("f16({word} % 1000u) / 8.0h"),
                Scalar::F32 => format!("f32(i32({word})) / 1024.0"),
                Scalar::I64 | Scalar::U64 => {
                    format!("({0}({word}) << 29u) ^ {0}(me)", s.name())
                }
                _ => format!("{}({word})", s.name()),
            };
            self.line(&format!("g_{} = {value};", s.name()));
        }
    }

    /// Everyone reads what the others of the workgroup have.
    fn exchange(&mut self, board: &Ty) {
        let size: u32 = self.size.iter().product();
        let barrier = *self.random.pick(&["workgroupBarrier();", "gridBarrier();"]);
        let by = self.random.below(9);
        let name = self.fresh();
        self.line(barrier);
        self.line(&format!("let {name} = board[(local + {by}u) % {size}u];"));
        self.known(&name, board.clone(), Space::Value);
        let count = self.fresh();
        self.line(&format!("let {count} = atomicLoad(&tally[{}]);", by % 4));
        self.known(&count, Ty::U32, Space::Value);
        self.line(barrier);
    }

    /// Everything that was computed goes out.
    fn finish(&mut self) {
        if self.random.one_in(3) {
            let condition = self.expression(&Ty::BOOL, 2);
            self.line(&format!("if {condition} {{ return; }}"));
        }
        self.line("var sum = mix_up(g_hash, 1u);");
        for Variable { text, ty, .. } in self.variables.clone() {
            if text == "input" || text.starts_with("tables") || text.starts_with("uniforms") {
                continue;
            }
            let part = self.fold(&ty, &text);
            self.line(&format!("sum = mix_up(sum, {part});"));
        }
        self.line("output[me] = sum;");
        self.indent = 0;
        self.line("}");
    }
}

const FUNCTIONS: &str = "
fn mix_up(a: u32, b: u32) -> u32 {
    if a % 5u == 0u { return b * 31u + a; }
    return (a << 7u) ^ (a >> 3u) ^ b;
}
fn clean_f32(x: f32) -> f32 { return select(x, 1.5f, x != x); }
fn clean_f16(x: f16) -> f16 { return select(x, 1.5h, x != x); }
";

const ENTRY: &str = "\
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) local: u32,
        @builtin(num_workgroups) groups: vec3<u32>) {
";
