//! Where the members of structures lie in memory, against the rules of the WGSL specification.

#[path = "common/generate/random.rs"]
#[allow(dead_code, reason = "only the plain draws are of use here")]
mod random;
#[path = "layout/random_types.rs"]
mod random_types;
#[path = "layout/rules.rs"]
mod rules;

mod harness;

use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use random::Random;
use random_types::{CONSTANTS, Generator};
use rules::{Leaf, Scalar, Type, leaves};
use vyre::backend::{Backend, Buffer, Program};

/// What no program writes.
const PADDING: u8 = 0xa5;

fn seeds() -> u64 {
    std::env::var("VYRE_LAYOUT_SEEDS").map_or(60, |text| text.parse().expect("a number"))
}

struct Bound {
    backend: Arc<dyn Backend>,
    program: Arc<dyn Program>,
    buffers: Vec<Arc<dyn Buffer>>,
}

impl Bound {
    fn new(source: &str) -> Bound {
        let backend = harness::backend(1);
        let program = harness::try_load(&backend, source, Default::default())
            .unwrap_or_else(|error| panic!("{}\n{source}", harness::report(&error)));
        Bound {
            backend,
            program,
            buffers: Vec::new(),
        }
    }

    /// Binds these bytes next.
    fn bind(&mut self, bytes: &[u8]) {
        let buffer = Arc::clone(&self.backend)
            .create_buffer(bytes.len() as u64)
            .expect("small");
        buffer.write(0, bytes.into()).expect("in range");
        self.buffers.push(buffer);
    }

    fn run(&self, source: &str) {
        let dispatch = harness::dispatch([1, 1, 1], &self.buffers);
        harness::try_run(&self.program, dispatch)
            .unwrap_or_else(|error| panic!("{}\n{source}", harness::report(&error)));
    }

    fn read(&self, binding: usize) -> Vec<u8> {
        let buffer = &self.buffers[binding];
        let mut bytes = vec![0; buffer.size() as usize];
        buffer
            .read(0, bytes.as_mut_slice().into())
            .expect("in range");
        bytes
    }

    fn min_size(&self, binding: usize) -> u64 {
        self.program.reflection().bindings[binding].min_size
    }
}

/// `count` values of the type one after the other: leaf `i` of value `n` is `first(n) + i`.
fn image(ty: &Type, leaves: &[Leaf], count: u64, first: impl Fn(u64) -> u32) -> Vec<u8> {
    let mut bytes = vec![PADDING; (count * ty.stride()) as usize];
    for n in 0..count {
        for (leaf, value) in leaves.iter().zip(first(n)..) {
            let at = (n * ty.stride() + leaf.offset) as usize;
            let number = leaf.scalar.bytes(value);
            bytes[at..at + number.len()].copy_from_slice(&number);
        }
    }
    bytes
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Reads the leaves of `place` into `out`, from `at` on.
fn reading(text: &mut String, leaves: &[Leaf], place: &str, at: usize) {
    for (i, leaf) in leaves.iter().enumerate() {
        let value = match leaf.is_atomic {
            true => format!("atomicLoad(&{place}{})", leaf.path),
            false => format!("{place}{}", leaf.path),
        };
        let _ = writeln!(text, "  out[{}] = u32({value});", at + i);
    }
}

/// Writes `first + i` to leaf i of `place`.
fn writing(text: &mut String, leaves: &[Leaf], place: &str, first: u32) {
    for (leaf, value) in leaves.iter().zip(first..) {
        let (path, number) = (&leaf.path, format!("{}({value})", leaf.scalar.name()));
        let _ = match leaf.is_atomic {
            true => writeln!(text, "  atomicStore(&{place}{path}, {number});"),
            false => writeln!(text, "  {place}{path} = {number};"),
        };
    }
}

fn head(generator: &Generator) -> String {
    let mut text = format!("enable f16;\n{CONSTANTS}");
    // Declarations may stand in any order.
    for made in generator.structs.iter().rev() {
        text.push_str(&made.declaration());
    }
    text
}

fn generated(seed: u64, uniform: bool, atomics: bool) -> (Generator, Type, Vec<Leaf>) {
    let mut generator = Generator {
        random: Random::new(seed),
        uniform,
        atomics,
        structs: Vec::new(),
    };
    loop {
        generator.structs.clear();
        let outer = Type::Struct(generator.structure(2));
        let leaves = leaves(&outer);
        if (2..=90).contains(&leaves.len()) && outer.size() < 20_000 {
            return (generator, outer, leaves);
        }
    }
}

#[test]
fn storage_and_variables_without_atomics() {
    for seed in 0..seeds() {
        let (generator, ty, leaves) = generated(seed, false, false);
        let (name, count) = (ty.name(), leaves.len());
        let mut text = head(&generator);
        let _ = write!(
            text,
            "@group(0) @binding(0) var<storage, read> src: array<{name}>;
@group(0) @binding(1) var<storage, read_write> parts: {name};
@group(0) @binding(2) var<storage, read_write> copied: array<{name}, 4>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
var<private> p: array<{name}, 2>;
var<workgroup> w: array<{name}, 2>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let one = id.x + 1u;
"
        );
        reading(&mut text, &leaves, "src[one]", 0);
        writing(&mut text, &leaves, "parts", 301);
        text.push_str("  var f: ");
        let _ = write!(
            text,
            "array<{name}, 2>;
  f[one] = src[0]; copied[0] = f[1];
  p[one] = src[1]; copied[one] = p[1];
  w[one] = src[2]; copied[2] = w[1];
"
        );
        // Parts of variables do not lie on one another.
        writing(&mut text, &leaves, "p[one]", 501);
        writing(&mut text, &leaves, "w[one]", 601);
        writing(&mut text, &leaves, "f[one]", 701);
        for (i, place) in ["p[one]", "w[one]", "f[one]", "p[0]"].iter().enumerate() {
            reading(&mut text, &leaves, place, (i + 1) * count);
        }
        let _ = write!(
            text,
            "  copied[3] = src[id.x];\n  out[{}] = arrayLength(&src);\n}}\n",
            5 * count
        );

        let mut bound = Bound::new(&text);
        assert_eq!(bound.min_size(0), ty.stride(), "{text}");
        assert_eq!(bound.min_size(1), ty.size(), "{text}");
        bound.bind(&image(&ty, &leaves, 3, |n| 1 + 100 * n as u32));
        bound.bind(&vec![PADDING; ty.size() as usize]);
        bound.bind(&vec![PADDING; 4 * ty.stride() as usize]);
        bound.bind(&vec![PADDING; 4 * (5 * count + 1)]);
        bound.run(&text);
        let run = |first: u32| first..first + count as u32;
        let zeros = std::iter::repeat_n(0, count);
        let read = run(101).chain(run(501)).chain(run(601)).chain(run(701));
        assert_eq!(
            bound.read(3),
            words(read.chain(zeros).chain([3])),
            "seed {seed}: reads\n{text}"
        );
        assert_eq!(
            bound.read(1),
            image(&ty, &leaves, 1, |_| 301),
            "seed {seed}: writes\n{text}"
        );
        let whole = image(&ty, &leaves, 4, |n| [1, 101, 201, 1][n as usize]);
        assert_eq!(bound.read(2), whole, "seed {seed}: copies\n{text}");
    }
}

#[test]
fn storage_and_workgroup_memory_with_atomics() {
    for seed in 1000..1000 + seeds() {
        let (generator, ty, leaves) = generated(seed, false, true);
        let (name, count) = (ty.name(), leaves.len());
        let mut text = head(&generator);
        let _ = write!(
            text,
            "@group(0) @binding(0) var<storage, read_write> src: array<{name}, 2>;
@group(0) @binding(1) var<storage, read_write> parts: array<{name}>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> w: array<{name}, 2>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let one = id.x + 1u;
"
        );
        reading(&mut text, &leaves, "src[one]", 0);
        writing(&mut text, &leaves, "parts[one]", 301);
        writing(&mut text, &leaves, "w[one]", 601);
        reading(&mut text, &leaves, "w[one]", count);
        reading(&mut text, &leaves, "w[0]", 2 * count);
        text.push_str("}\n");

        let mut bound = Bound::new(&text);
        assert_eq!(bound.min_size(0), 2 * ty.stride(), "{text}");
        bound.bind(&image(&ty, &leaves, 2, |n| 1 + 100 * n as u32));
        bound.bind(&vec![PADDING; 2 * ty.stride() as usize]);
        bound.bind(&vec![PADDING; 4 * 3 * count]);
        bound.run(&text);
        let run = |first: u32| first..first + count as u32;
        let zeros = std::iter::repeat_n(0, count);
        assert_eq!(
            bound.read(2),
            words(run(101).chain(run(601)).chain(zeros)),
            "seed {seed}: reads\n{text}"
        );
        let mut written = vec![PADDING; ty.stride() as usize];
        written.extend(image(&ty, &leaves, 1, |_| 301));
        assert_eq!(bound.read(1), written, "seed {seed}: writes\n{text}");
    }
}

#[test]
fn uniform_buffers() {
    for seed in 2000..2000 + seeds() {
        let (generator, ty, leaves) = generated(seed, true, false);
        let (name, count) = (ty.name(), leaves.len());
        let mut text = head(&generator);
        let _ = write!(
            text,
            "@group(0) @binding(0) var<uniform> src: array<{name}, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<storage, read_write> copied: array<{name}, 1>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let one = id.x + 1u;
  copied[0] = src[1];
"
        );
        reading(&mut text, &leaves, "src[one]", 0);
        text.push_str("}\n");

        let mut bound = Bound::new(&text);
        assert_eq!(bound.min_size(0), 2 * ty.stride(), "{text}");
        bound.bind(&image(&ty, &leaves, 2, |n| 1 + 100 * n as u32));
        bound.bind(&vec![PADDING; 4 * count]);
        bound.bind(&vec![PADDING; ty.stride() as usize]);
        bound.run(&text);
        let run = 101..101 + count as u32;
        assert_eq!(bound.read(1), words(run), "seed {seed}: reads\n{text}");
        let copy = image(&ty, &leaves, 1, |_| 101);
        assert_eq!(bound.read(2), copy, "seed {seed}: copy\n{text}");
    }
}

/// The example of WGSL's "Structure Layout" section, as the specification prints its offsets.
#[test]
fn the_specification_s_own_example() {
    let member = |ty: Type, align: Option<u64>, size: Option<u64>| rules::Member {
        ty,
        align,
        size,
        attributes: String::new(),
    };
    let plain = |ty: Type| member(ty, None, None);
    let f32 = Scalar::F32;
    let a = Rc::new(rules::Struct {
        name: "A".into(),
        members: vec![
            plain(Type::Scalar(f32)),
            plain(Type::Scalar(f32)),
            plain(Type::Vector(2, f32)),
        ],
    });
    let b = rules::Struct {
        name: "B".into(),
        members: vec![
            plain(Type::Vector(2, f32)),
            plain(Type::Vector(3, f32)),
            plain(Type::Scalar(f32)),
            plain(Type::Scalar(f32)),
            plain(Type::Struct(a.clone())),
            plain(Type::Vector(3, f32)),
            plain(Type::Array(Rc::new(Type::Struct(a.clone())), 3)),
            plain(Type::Scalar(Scalar::I32)),
        ],
    };
    let offsets: Vec<u64> = (0..8).map(|i| b.offset(i)).collect();
    assert_eq!(offsets, [0, 16, 28, 32, 40, 64, 80, 128]);
    let ty = Type::Struct(Rc::new(b));
    assert_eq!((ty.align(), ty.size()), (16, 144));
    assert_eq!((Type::Struct(a.clone()).size(), a.offset(2)), (16, 8));
    let text = "struct A { u: f32, v: f32, w: vec2<f32> }
        struct B { a: vec2<f32>, b: vec3<f32>, c: f32, d: f32, e: A, f: vec3<f32>, g: array<A, 3>, h: i32 }
        @group(0) @binding(0) var<storage, read_write> out: B;
        @compute @workgroup_size(1) fn main() { out.h = 7; out.g[2].w.y = 1.0; }";
    let mut bound = Bound::new(text);
    assert_eq!(bound.min_size(0), 144);
    bound.bind(&[PADDING; 144]);
    bound.run(text);
    let mut expected = vec![PADDING; 144];
    expected[128..132].copy_from_slice(&7u32.to_le_bytes());
    expected[124..128].copy_from_slice(&1f32.to_le_bytes());
    assert_eq!(bound.read(0), expected);
}

/// A structure is aligned by its members' attributes wherever it stands, and the constant in an attribute is the
/// module's, whatever else has its name.
#[test]
fn an_attribute_aligns_what_holds_the_structure() {
    for (space, element) in [("uniform", 0), ("storage", 1)] {
        let text = format!(
            "fn first() -> u32 {{ const far = 8u; return far; }}
            alias Elsewhere = Inner;
            struct S {{ x: u32, y: Elsewhere }}
            struct Inner {{ @align(far) x: u32 }}
            @group(0) @binding(0) var<{space}> s: array<S, 2>;
            @group(0) @binding(1) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(1) fn main() {{ out[0] = s[{element}].x; out[1] = s[{element}].y.x; out[2] = first(); }}
            const far = 1u << 6;"
        );
        let words: Vec<u32> = (0..64).collect();
        let after = harness::run(1, &text, [1, 1, 1], &[words, vec![0; 3]]);
        let at = element * 32;
        assert_eq!(after[1], [at, at + 16, 8], "{space}");
    }
}

/// Members behind one whose name is written with a combining mark are found, or the program is refused.
#[test]
fn odd_names_do_not_hide_attributes() {
    let text = "struct Ìnner { @align(64) e\u{301}: u32 } struct S { x: u32, y: Ìnner }
        @group(0) @binding(0) var<storage> s: S;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() { out[0] = s.y.e\u{301}; }";
    match harness::try_load(&harness::backend(1), text, Default::default()) {
        Ok(program) => assert_eq!(program.reflection().bindings[0].min_size, 128),
        Err(error) => {
            assert_eq!(error.status(), vyre::error::Status::Unsupported, "{error}");
            assert!(error.position().is_some(), "{error}");
        }
    }
}
