//! PTX text, as far as the emitter writes it, to instructions.

use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// By class (p, h, r, d) and number.
    Reg(usize, usize),
    Imm(u64),
    List(Vec<Arg>),
    /// Base and offset.
    Memory(Box<Arg>, u64),
    Symbol(String),
    Special(String),
}

#[derive(Debug)]
pub struct Instruction {
    pub guard: Option<(usize, bool)>,
    /// The opcode's parts between the dots.
    pub op: Vec<String>,
    pub args: Vec<Arg>,
}

/// A module with one kernel.
#[derive(Default)]
pub struct Module {
    pub code: Vec<Instruction>,
    pub labels: HashMap<String, usize>,
    /// Registers of each class.
    pub registers: [usize; 4],
    /// Name and bytes of shared and local variables.
    pub shared: Vec<(String, usize)>,
    pub local: Vec<(String, usize)>,
    pub constants: Vec<(String, Vec<u8>)>,
}

fn class(letter: &str) -> usize {
    ["p", "h", "r", "d"]
        .iter()
        .position(|&c| c == letter)
        .expect("a known class")
}

fn arg(text: &str) -> Arg {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('{') {
        return Arg::List(inner.trim_end_matches('}').split(',').map(arg).collect());
    }
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.trim_end_matches(']');
        let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
        let offset: i64 = offset.parse().expect("an offset");
        return Arg::Memory(Box::new(arg(base)), offset.cast_unsigned());
    }
    if let Some(name) = text.strip_prefix('%') {
        return match name[1..].parse() {
            Ok(number) if name.starts_with(['p', 'h', 'r', 'd']) => {
                Arg::Reg(class(&name[..1]), number)
            }
            _ => Arg::Special(name.to_string()),
        };
    }
    for (prefix, radix) in [("0f", 16), ("0d", 16), ("0x", 16), ("", 10)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && let Ok(bits) = u64::from_str_radix(digits, radix)
        {
            return Arg::Imm(bits);
        }
    }
    Arg::Symbol(text.to_string())
}

/// At commas outside of brackets.
fn split(text: &str) -> Vec<Arg> {
    let (mut args, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                args.push(arg(&text[start..i]));
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        args.push(arg(&text[start..]));
    }
    args
}

fn variable(line: &str) -> (String, usize) {
    let words = line
        .split(" = ")
        .next()
        .expect("a declaration")
        .trim_end_matches(';');
    let last = words.split_whitespace().last().expect("a name");
    match last.split_once('[') {
        Some((name, size)) => (name.into(), size.trim_end_matches(']').parse().unwrap_or(0)),
        None => (last.into(), 4),
    }
}

pub fn module(text: &str) -> Module {
    let mut module = Module::default();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.starts_with(".reg") {
            let (name, count) = line.split_once('<').expect("a count");
            let letter = name.split('%').nth(1).expect("a prefix");
            let count = count.trim_end_matches(">;").parse().expect("a number");
            module.registers[class(letter)] = count;
        } else if line.starts_with(".shared") || line.starts_with(".extern .shared") {
            module.shared.push(variable(line));
        } else if line.starts_with(".local") {
            module.local.push(variable(line));
        } else if line.starts_with(".global") {
            let (name, _) = variable(line);
            let bytes = line
                .split_once('{')
                .expect("bytes")
                .1
                .trim_end_matches("};");
            let bytes = bytes
                .split(',')
                .map(|b| b.parse().expect("a byte"))
                .collect();
            module.constants.push((name, bytes));
        } else if let Some(label) = line.strip_suffix(':') {
            module.labels.insert(label.into(), module.code.len());
        } else if let Some(line) = line.strip_suffix(';') {
            module.code.push(instruction(line));
        } else {
            let frames = ["", "{", "}"].contains(&line) || line.starts_with('.');
            assert!(frames, "what is {line:?}?");
        }
    }
    module
}

fn instruction(line: &str) -> Instruction {
    let (guard, rest) = match line.strip_prefix('@') {
        None => (None, line),
        Some(line) => {
            let (guard, rest) = line.split_once(' ').expect("a guarded instruction");
            let when = !guard.starts_with('!');
            match arg(guard.trim_start_matches('!')) {
                Arg::Reg(0, number) => (Some((number, when)), rest),
                other => panic!("{other:?} guards nothing"),
            }
        }
    };
    let (op, args) = rest.split_once(' ').unwrap_or((rest, ""));
    Instruction {
        guard,
        op: op.split('.').map(str::to_string).collect(),
        args: split(args),
    }
}
