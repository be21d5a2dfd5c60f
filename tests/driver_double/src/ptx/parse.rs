//! Words to a module: declarations and what stands around instructions, which `instruction` reads. It knows what the
//! emitter and nvcc write, and what else comes up in kernels by hand.

use std::collections::HashMap;

use super::code::{Instruction, Kernel, Kind, Module, Target, Variable};
use super::operand::number;
use super::words::{Word, words};

/// What is wrong, and in which line.
#[derive(Debug)]
pub struct Complaint {
    pub line: u32,
    pub what: String,
}

pub type Result<T> = std::result::Result<T, Complaint>;

pub struct Parsed {
    pub version: (u32, u32),
    pub target: u32,
    pub module: Module,
    /// By number, as operands name them.
    pub names: Vec<String>,
}

pub struct Parser<'t> {
    words: Vec<Word<'t>>,
    pub at: usize,
    pub names: Vec<String>,
    pub shared: HashMap<String, u64>,
    shared_bytes: usize,
    /// Declared without a size: behind everything else.
    pub dynamic: Vec<String>,
    module: Module,
}

/// The places of a kernel's own names.
#[derive(Default)]
pub struct Scope {
    pub registers: HashMap<String, Target>,
    pub count: u32,
    /// Places in their space.
    pub shared: HashMap<String, u64>,
    pub local: HashMap<String, u64>,
    pub parameters: HashMap<String, u64>,
    pub labels: HashMap<String, usize>,
    /// Branches and the labels that they go to.
    pub branches: Vec<(usize, String, u32)>,
}

pub fn parse(text: &str) -> Result<Parsed> {
    let mut parser = Parser {
        words: words(text),
        at: 0,
        names: Vec::new(),
        shared: HashMap::new(),
        shared_bytes: 0,
        dynamic: Vec::new(),
        module: Module::default(),
    };
    let mut version = None;
    let mut target = None;
    while let Some(word) = parser.next() {
        match word.text {
            ".version" => {
                let number = parser.name()?;
                let parts = number.split_once('.');
                let parse = |(a, b): (&str, &str)| Some((a.parse().ok()?, b.parse().ok()?));
                version = Some(parts.and_then(parse).ok_or_else(|| Complaint {
                    line: word.line,
                    what: format!("Unsupported .version {number}"),
                })?);
            }
            ".target" => {
                let name = parser.name()?;
                let digits = name.trim_start_matches("sm_").trim_end_matches(['a', 'f']);
                target = Some(
                    digits
                        .parse()
                        .map_err(|_| parser.complain(format!("Unknown .target '{name}'")))?,
                );
                while parser.peek() == Some(",") {
                    parser.at += 2;
                }
            }
            ".address_size" => {
                parser.name()?;
            }
            ".visible" | ".extern" | ".weak" | ".common" => {}
            ".global" | ".const" => parser.variable()?,
            ".shared" => {
                let (name, size) = parser.declaration()?;
                match size {
                    Some(size) => {
                        parser.shared.insert(name, parser.shared_bytes as u64);
                        parser.shared_bytes += size.next_multiple_of(16);
                    }
                    None => parser.dynamic.push(name),
                }
            }
            ".entry" => {
                let kernel = parser.entry()?;
                parser.module.kernels.push(kernel);
            }
            ".file" => {
                while parser
                    .peek()
                    .is_some_and(|word| number(word).is_some() || word.starts_with(['"', ',']))
                {
                    parser.at += 1;
                }
            }
            _ => {
                return Err(
                    parser.complain(format!("Parsing error near '{}': syntax error", word.text))
                );
            }
        }
    }
    let end = parser.words.last().map_or(1, |word| word.line);
    let missing = |what: &str| Complaint {
        line: end,
        what: format!("Missing {what} directive"),
    };
    Ok(Parsed {
        version: version.ok_or_else(|| missing(".version"))?,
        target: target.ok_or_else(|| missing(".target"))?,
        module: parser.module,
        names: parser.names,
    })
}

pub fn width(ty: &str) -> Option<u64> {
    Some(match ty.trim_start_matches('.') {
        "pred" => 1,
        "b8" | "u8" | "s8" => 8,
        "b16" | "u16" | "s16" | "f16" => 16,
        "b32" | "u32" | "s32" | "f32" | "f16x2" => 32,
        "b64" | "u64" | "s64" | "f64" => 64,
        _ => return None,
    })
}

fn mask(bits: u64) -> u64 {
    u64::MAX >> (64 - bits)
}

impl<'t> Parser<'t> {
    pub fn next(&mut self) -> Option<Word<'t>> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    pub fn peek(&self) -> Option<&'t str> {
        self.words.get(self.at).map(|word| word.text)
    }

    /// About the word before.
    pub fn complain(&self, what: String) -> Complaint {
        let at = self
            .at
            .saturating_sub(1)
            .min(self.words.len().saturating_sub(1));
        let line = self.words.get(at).map_or(1, |word| word.line);
        Complaint { line, what }
    }

    pub fn name(&mut self) -> Result<&'t str> {
        match self.next() {
            Some(word) => Ok(word.text),
            None => Err(self.complain("Parsing error: unexpected end of file".into())),
        }
    }

    pub fn expect(&mut self, sign: &str) -> Result<()> {
        let found = self.name()?;
        match found == sign {
            true => Ok(()),
            false => Err(self.complain(format!("Parsing error near '{found}': syntax error"))),
        }
    }

    /// `[.align N] .type name[size]`, and its bytes if it has a size.
    fn declaration(&mut self) -> Result<(String, Option<usize>)> {
        let (name, size) = self.declared()?;
        self.expect(";")?;
        Ok((name, size))
    }

    fn declared(&mut self) -> Result<(String, Option<usize>)> {
        let mut element = 4;
        loop {
            let word = self.name()?;
            if word == ".align" {
                self.name()?;
            } else if let Some(bits) = width(word).filter(|_| word.starts_with('.')) {
                element = bits as usize / 8;
            } else if !word.starts_with('.') {
                if self.peek() != Some("[") {
                    return Ok((word.to_owned(), Some(element)));
                }
                self.expect("[")?;
                let count = self.name()?;
                if count == "]" {
                    return Ok((word.to_owned(), None));
                }
                self.expect("]")?;
                let count =
                    number(count).ok_or_else(|| self.complain(format!("'{count}' is no size")))?;
                return Ok((word.to_owned(), Some(element * count as usize)));
            }
        }
    }

    /// A variable of the module's, perhaps with bytes or words.
    fn variable(&mut self) -> Result<()> {
        let start = self.at;
        let (name, size) = self.declared()?;
        let ty = (self.words[start..self.at].iter())
            .find_map(|word| width(word.text).filter(|_| word.text.starts_with('.')));
        let element = ty.unwrap_or(32) as usize / 8;
        let mut bytes = Vec::new();
        if self.peek() == Some("=") {
            self.at += 1;
            while let Some(word) = self.peek().filter(|&word| word != ";") {
                self.at += 1;
                if let Some(value) = number(word) {
                    bytes.extend_from_slice(&value.to_le_bytes()[..element]);
                } else if !matches!(word, "{" | "}" | ",") {
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
        self.expect(";")?;
        let size = size.unwrap_or(bytes.len());
        bytes.resize(size, 0);
        self.names.push(name.clone());
        self.module.variables.insert(name, Variable { size, bytes });
        Ok(())
    }

    fn entry(&mut self) -> Result<Kernel> {
        let mut kernel = Kernel {
            name: self.name()?.to_owned(),
            ..Kernel::default()
        };
        let mut scope = Scope::default();
        if self.peek() == Some("(") {
            self.parameters(&mut kernel, &mut scope)?;
        }
        loop {
            match self.name()? {
                "{" => break,
                ".reqntid" => {
                    let mut size = [1; 3];
                    for (axis, place) in size.iter_mut().enumerate() {
                        if axis > 0 {
                            if self.peek() != Some(",") {
                                break;
                            }
                            self.at += 1;
                        }
                        let word = self.name()?;
                        *place = word
                            .parse()
                            .map_err(|_| self.complain(format!("'{word}' is no size")))?;
                    }
                    kernel.required = Some(size);
                }
                word if word.starts_with('.') || number(word).is_some() || word == "," => {}
                word => {
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
        let mut shared_bytes = self.shared_bytes;
        // What registers were called outside of the braces that are open.
        let mut outside = Vec::new();
        loop {
            let line = self.words.get(self.at).map_or(1, |word| word.line);
            match self.name()? {
                "{" => outside.push(scope.registers.clone()),
                "}" => match outside.pop() {
                    Some(registers) => scope.registers = registers,
                    None => break,
                },
                ";" => {}
                ".reg" => self.registers(&mut scope)?,
                ".shared" => {
                    let (name, size) = self.declaration()?;
                    scope.shared.insert(name, shared_bytes as u64);
                    shared_bytes += size.unwrap_or(0).next_multiple_of(16);
                }
                ".local" => {
                    let (name, size) = self.declaration()?;
                    scope.local.insert(name, kernel.local as u64);
                    kernel.local += size.unwrap_or(0).next_multiple_of(16);
                }
                ".loc" | ".pragma" => {
                    while self.peek().is_some_and(|word| {
                        number(word).is_some() || word.starts_with(['"', ',', ';'])
                    }) {
                        self.at += 1;
                    }
                }
                word if self.peek() == Some(":") => {
                    self.at += 1;
                    if scope
                        .labels
                        .insert(word.to_owned(), kernel.code.len())
                        .is_some()
                    {
                        return Err(
                            self.complain(format!("Duplicate definition of label '{word}'"))
                        );
                    }
                }
                _ => {
                    self.at -= 1;
                    let instruction = self.instruction(&mut scope, kernel.code.len(), line)?;
                    kernel.code.push(instruction);
                }
            }
        }
        kernel.code.push(Instruction {
            guard: None,
            kind: Kind::End,
            line: 0,
        });
        for (at, label, line) in std::mem::take(&mut scope.branches) {
            let what = format!("Unknown symbol '{label}'");
            let to = *scope.labels.get(&label).ok_or(Complaint { line, what })?;
            kernel.code[at].kind = Kind::Branch(to);
        }
        kernel.shared = shared_bytes;
        kernel.registers = scope.count as usize;
        Ok(kernel)
    }

    fn parameters(&mut self, kernel: &mut Kernel, scope: &mut Scope) -> Result<()> {
        self.expect("(")?;
        while self.peek() != Some(")") {
            self.expect(".param")?;
            let (name, size) = self.declared()?;
            let size =
                size.ok_or_else(|| self.complain(format!("parameter '{name}' has no size")))?;
            let at = kernel.parameter_bytes.next_multiple_of(16);
            kernel.parameters.push((at, size));
            kernel.parameter_bytes = at + size;
            scope.parameters.insert(name, at as u64);
            match self.peek() {
                Some(",") => self.at += 1,
                Some(")") => {}
                _ => {
                    let word = self.name()?;
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
        self.expect(")")
    }

    /// `.reg .b32 %r<8>;` or `.reg .pred %p, %q;`
    fn registers(&mut self, scope: &mut Scope) -> Result<()> {
        let ty = self.name()?;
        let bits = width(ty).ok_or_else(|| self.complain(format!("Unknown type '{ty}'")))?;
        let mut add = |name: String| {
            let register = scope.count;
            scope.count += 1;
            scope.registers.insert(
                name,
                Target {
                    register,
                    mask: mask(bits),
                },
            );
        };
        loop {
            let name = self.name()?;
            if self.peek() == Some("<") {
                self.at += 1;
                let count = self.name()?;
                let count = number(count)
                    .ok_or_else(|| self.complain(format!("'{count}' is no number")))?;
                self.expect(">")?;
                (0..count).for_each(|n| add(format!("{name}{n}")));
            } else {
                add(name.to_owned());
            }
            match self.name()? {
                "," => {}
                ";" => return Ok(()),
                word => {
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
    }
}
