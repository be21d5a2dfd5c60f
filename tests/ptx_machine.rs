//! Emitted PTX does what the evaluator says, run by an interpreter of PTX that shares nothing with the emitter.
//!
//! `VYRE_DIFF_SEEDS` says how many random programs, `VYRE_DIFF_START` from which seed on.

#[path = "ptx/accuracy.rs"]
mod accuracy;
#[path = "ptx/compute.rs"]
mod compute;
#[path = "ptx/decode.rs"]
mod decode;
#[path = "common/eval/mod.rs"]
mod eval;
#[path = "common/generate/mod.rs"]
mod generate;
#[path = "ptx/groups.rs"]
mod groups;
mod harness;
#[path = "ptx/loops.rs"]
mod loops;
#[path = "ptx/machine.rs"]
mod machine;
#[path = "ptx/programs.rs"]
#[allow(dead_code, reason = "some are only assembled")]
mod programs;
#[path = "ptx/textures.rs"]
mod textures;
#[path = "ptx/warp.rs"]
mod warp;

use machine::{Launch, Outcome};
use vyre::cuda::ptx::abi::Shape;
use vyre::cuda::ptx::{self, Ptx, Target, abi};
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::{Program, uniformity};

const HOPPER: Target = Target {
    sm: 90,
    ptx_version: (8, 0),
};
const VOLTA: Target = Target {
    sm: 70,
    ptx_version: (6, 4),
};

struct Loaded {
    program: Program,
    ptx: Ptx,
}

fn load(source: &str) -> Loaded {
    let options = Options {
        label: Some("test.wgsl"),
        subgroup_size: eval::SUBGROUP_SIZE,
        ..Options::default()
    };
    let program = compile(source, &options).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let ptx = ptx::emit(&program, &uniformity::analyse(&program), HOPPER, false);
    let ptx = ptx.unwrap_or_else(|e| panic!("{e}\n{source}"));
    Loaded { program, ptx }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("4 bytes"));
    bytes.chunks_exact(4).map(word).collect()
}

/// A launch with a counter that wraps on the way.
const BASE: u32 = u32::MAX - 7;
/// The slot's count of ended workgroups before.
const EXIT_BASE: u32 = u32::MAX - 1;
/// The groups' counts before.
const ARRIVALS: [u32; 8] = [0, 1, 2, u32::MAX, u32::MAX - 1, u32::MAX - 3, 6, 7];
const RELEASES: u32 = u32::MAX - 20;

impl Loaded {
    /// As many as the program wants, each byte another.
    fn immediates(&self) -> Vec<u8> {
        (1..=self.program.immediates_size)
            .map(|i| i as u8)
            .collect()
    }

    fn launch(
        &self,
        workgroups: [u32; 3],
        contents: &mut [Vec<u8>],
        limit: u64,
        abort: u32,
    ) -> Outcome {
        self.launch_as((false, Shape::Counter), workgroups, contents, limit, abort)
    }

    fn launch_as(
        &self,
        (quiet, shape): (bool, Shape),
        workgroups: [u32; 3],
        contents: &mut [Vec<u8>],
        limit: u64,
        abort: u32,
    ) -> Outcome {
        let mut buffers: Vec<(Vec<u8>, u32)> = (contents.iter().zip(&self.program.buffers))
            .map(|(bytes, decl)| (bytes.clone(), decl.array_length(bytes.len() as u64)))
            .collect();
        let outcome = machine::run(
            &self.ptx,
            &mut Launch {
                workgroup_size: self.program.workgroup_size,
                workgroups,
                buffers: &mut buffers,
                immediates: &self.immediates(),
                base: BASE,
                exit_base: EXIT_BASE,
                sequence: 77,
                quiet,
                shape,
                arrivals: ARRIVALS,
                releases: RELEASES,
                limit,
                abort,
            },
        );
        for (to, (from, _)) in contents.iter_mut().zip(buffers) {
            *to = from;
        }
        outcome
    }

    /// What the buffers hold after a run by the interpreter, and by the evaluator. The audit holds.
    fn both(&self, workgroups: [u32; 3], contents: &[Vec<u8>]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let (mut found, mut expected) = (contents.to_vec(), contents.to_vec());
        eval::run(&self.program, workgroups, &mut expected, &self.immediates())
            .expect("the evaluator runs it");
        let outcome = self.launch(workgroups, &mut found, u64::MAX, 0);
        if self.program.has_grid_barrier() {
            let blocks: u32 = workgroups.iter().product();
            let audit = BASE.wrapping_add(outcome.executed.wrapping_mul(blocks));
            assert_eq!(
                (
                    outcome.observed,
                    outcome.counter,
                    outcome.sequence,
                    outcome.aborted,
                    outcome.ended
                ),
                (audit, audit, 77, 0, EXIT_BASE.wrapping_add(blocks))
            );
        }
        (found, expected)
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn random_programs_give_the_evaluators_bytes() {
    let start = setting("VYRE_DIFF_START", 0);
    for seed in start..start + setting("VYRE_DIFF_SEEDS", 60) {
        let case = generate::generate(seed, false);
        let loaded = load(&case.source);
        let contents: Vec<_> = case.buffers.iter().map(|words| bytes(words)).collect();
        let (found, expected) = loaded.both(case.workgroups, &contents);
        for (binding, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                found == expected,
                "seed {seed}, binding {binding}: {:x?}\nnot {:x?}\n{}",
                words(found),
                words(expected),
                case.source
            );
        }
    }
}

#[test]
fn all_of_the_language_gives_the_evaluators_bytes() {
    for source in programs::exact() {
        // Alone, as invocations that race may do this or that.
        let source = source.replace("@workgroup_size(64)", "@workgroup_size(1)");
        let loaded = load(&source);
        for seed in 1..6u32 {
            let contents: Vec<Vec<u8>> = (loaded.program.buffers.iter())
                .map(|buffer| {
                    let size = (buffer.min_size as u32).max(64).next_multiple_of(16) * 3;
                    // Small numbers, so that many are indices within bounds; all of them finite floats.
                    let word = |i: u32| ((i * seed).wrapping_mul(2_654_435_761) >> 20) % (3 * seed);
                    bytes(&(0..size / 4).map(word).collect::<Vec<_>>())
                })
                .collect();
            let (found, expected) = loaded.both([1, 1, 1], &contents);
            for (binding, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let (found, expected) = (words(found), words(expected));
                assert_eq!(found, expected, "binding {binding}, seed {seed}\n{source}");
            }
        }
    }
}

#[test]
fn subgroups_give_the_evaluators_bytes() {
    for source in programs::subgroups() {
        for size in [1, 2, 5, 31, 32, 33, 64, 70] {
            let size_of = format!("@workgroup_size({size})");
            let mut loaded = load(&source.replace("@workgroup_size(64)", &size_of));
            let word = |i: u32| (i + 1).wrapping_mul(2_654_435_761) >> 7;
            let contents = [vec![0; size * 2], (0..size as u32 * 2).map(word).collect()];
            let contents = contents.map(|words| bytes(&words));
            // With the instructions of old machines too.
            for target in [HOPPER, VOLTA] {
                let proofs = uniformity::analyse(&loaded.program);
                loaded.ptx =
                    ptx::emit(&loaded.program, &proofs, target, false).expect("it can be emitted");
                let (found, expected) = loaded.both([2, 1, 1], &contents);
                let (found, expected) = (words(&found[0]), words(&expected[0]));
                assert_eq!(
                    found, expected,
                    "{size} invocations, sm_{}\n{source}",
                    target.sm
                );
            }
        }
    }
}

/// Operands at all the edges.
const INTEGERS: [u32; 16] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    64,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    u32::MAX,
    u32::MAX - 1,
    0xffff,
    12345,
];

fn floats() -> Vec<f32> {
    let some = [
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        3.5,
        0.1,
        3.0,
        7.25,
        100.0,
        65504.0,
        65519.0,
        65520.0,
        1e-5,
        6e-8,
        5.9e-8,
        2.98e-8,
        1e-40,
        f32::MIN_POSITIVE,
        f32::MAX,
        2147483648.0,
        4294967296.0,
        9.3e18,
        1.9e19,
        1e10,
        f32::INFINITY,
        8388609.0,
        0.99999994,
    ];
    some.into_iter()
        .flat_map(|x| [x, -x])
        .chain([f32::NAN])
        .collect()
}

/// Runs `expression` of a, b (from `input`, all pairs) and gives both results by pair.
fn pairs(
    enable: &str,
    ty: &str,
    out: &str,
    expression: &str,
    input: &[u32],
) -> Vec<(u32, u32, u64, u64)> {
    let read = match ty {
        "u64" | "i64" => {
            "(TY(bitcast<i32>(input[K])) * TY(0x100000001li) + TY(input[K]))".replace("TY", ty)
        }
        "i32" | "f32" => format!("bitcast<{ty}>(input[K])"),
        "f16" | "f64" => format!("{ty}(bitcast<f32>(input[K]))"),
        _ => "input[K]".into(),
    };
    let (a, b) = (read.replace('K', "i"), read.replace('K', "j"));
    let source = format!(
        "{enable}
        @group(0) @binding(0) var<storage, read_write> out: array<{out}>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) w: vec3u) {{
            let i = w.x; let j = w.y; let a = {a}; let b = {b};
            out[j * {n}u + i] = {expression};
        }}",
        n = input.len()
    );
    let loaded = load(&source);
    let size = match out {
        "f16" => 2,
        "u64" | "i64" | "f64" => 8,
        _ => 4,
    };
    let n = input.len();
    let contents = [vec![0; n * n * size], bytes(input)];
    let (found, expected) = loaded.both([n as u32, n as u32, 1], &contents);
    let number = |b: &[u8]| {
        b.iter()
            .rev()
            .fold(0, |all, &byte| all << 8 | u64::from(byte))
    };
    (found[0]
        .chunks(size)
        .zip(expected[0].chunks(size))
        .enumerate())
    .map(|(k, (f, e))| (input[k % n], input[k / n], number(f), number(e)))
    .collect()
}

fn is_nan(ty: &str, bits: u64) -> bool {
    match ty {
        "f16" => compute::half(bits).is_nan(),
        "f32" => f32::from_bits(bits as u32).is_nan(),
        "f64" => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

fn check_exact(enable: &str, ty: &str, out: &str, expression: &str, input: &[u32]) {
    for (a, b, found, expected) in pairs(enable, ty, out, expression, input) {
        assert!(
            found == expected || is_nan(out, found) && is_nan(out, expected),
            "{ty}: {expression} of {a:#x}, {b:#x} is {found:#x}, expected {expected:#x}"
        );
    }
}

#[test]
fn integers_are_exact_at_all_edges() {
    for ty in ["u32", "i32", "u64", "i64"] {
        for expression in [
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "a % b",
            "a & b",
            "a | b",
            "a ^ b",
            "~a",
            "min(a, b)",
            "max(a, b)",
            "abs(a)",
            "a << (input[j])",
            "a >> (input[j])",
            "countOneBits(a)",
            "countLeadingZeros(a)",
            "countTrailingZeros(a)",
            "reverseBits(a)",
            "select(a, b, a < b)",
            "select(a, b, a >= b)",
            "select(a, b, a == b)",
            "TY(a <= b)",
            "TY(a > b)",
            "TY(i32(a))",
            "TY(u32(a))",
            "a / 7",
            "a % 3",
        ] {
            check_exact("", ty, ty, &expression.replace("TY", ty), &INTEGERS);
        }
        for (enable, float) in [("", "f32"), ("enable f16;", "f16"), ("", "f64")] {
            check_exact(enable, ty, float, &format!("{float}(a)"), &INTEGERS);
        }
    }
    for expression in [
        "-a",
        "sign(a)",
        "firstLeadingBit(a)",
        "extractBits(a, input[j] & 31u, 3u)",
    ] {
        check_exact("", "i32", "i32", expression, &INTEGERS);
    }
}

#[test]
fn floats_are_exact_at_all_edges() {
    let input: Vec<u32> = floats().iter().map(|x| x.to_bits()).collect();
    for (enable, ty) in [("", "f32"), ("enable f16;", "f16"), ("", "f64")] {
        for expression in [
            "a + b",
            "a - b",
            "a * b",
            "a / b",
            "a % b",
            "-a",
            "abs(a)",
            "min(a, b)",
            "max(a, b)",
            "fma(a, b, a)",
            "sqrt(a)",
            "floor(a)",
            "ceil(a)",
            "trunc(a)",
            "round(a)",
            "select(a, b, a < b)",
            "select(a, b, a != b)",
            "TY(a <= b)",
            "TY(a == b)",
            "TY(bool(a))",
            "ldexp(a, i32(input[j] >> 20u) - 2048)",
            "TY(f32(a))",
            "TY(f64(a))",
        ] {
            check_exact(enable, ty, ty, &expression.replace("TY", ty), &input);
        }
        for int in ["u32", "i32", "u64", "i64"] {
            check_exact(enable, ty, int, &format!("{int}(a)"), &input);
        }
    }
    for expression in [
        "frexp(a).fract",
        "unpack2x16float(bitcast<u32>(a)).x",
        "f32(frexp(a).exp)",
        "quantizeToF16(a)",
    ] {
        check_exact("", "f32", "f32", expression, &input);
    }
    check_exact("", "f64", "f64", "frexp(a).fract", &input);
    check_exact("", "f64", "f64", "f64(frexp(a).exp)", &input);
    check_exact("enable f16;", "f32", "f16", "f16(a)", &input);
    check_exact("enable f16;", "f64", "f16", "f16(a * (b + 1.0))", &input);
    let numbers: Vec<u32> = input
        .iter()
        .copied()
        .filter(|&x| !is_nan("f32", x.into()))
        .collect();
    check_exact("", "f32", "u32", "pack2x16float(vec2(a, b))", &numbers);
}

/// Floats in their order, so that neighbours differ by one.
fn rank(x: f32) -> i64 {
    let bits = i64::from(x.to_bits() & 0x7fff_ffff);
    if x.is_sign_negative() { -bits } else { bits }
}

#[test]
fn elementary_functions_are_within_one_unit_in_the_last_place() {
    let mut input: Vec<u32> = floats().iter().map(|x| x.to_bits()).collect();
    // Numbers of every size, none of them round.
    input.extend(
        (0..60u32).map(|k| (0.7f32 * 1.37f32.powi(k as i32 - 30)).to_bits() | (k & 1) << 31),
    );
    input.extend((0..20u32).map(|k| (1.0 + (k as f32 - 10.0) * 0.003).to_bits()));
    let both = [("", "f32"), ("enable f16;", "f16")];
    for (enable, ty) in both {
        let one = [
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "exp",
            "exp2",
            "log",
            "log2",
            "inverseSqrt",
        ];
        let calls = one.iter().map(|f| format!("{f}(a)"));
        let calls = calls.chain(["atan2(a, b)".to_string(), "pow(a, b)".to_string()]);
        for call in calls {
            let is_circular = ["sin(", "cos(", "tan("].iter().any(|f| call.starts_with(f));
            for (a, b, found, expected) in pairs(enable, ty, ty, &call, &input) {
                if is_circular && f32::from_bits(a).abs() > 1e13 {
                    continue;
                }
                let value = |bits: u64| match ty {
                    "f16" => compute::half(bits) as f32,
                    _ => f32::from_bits(bits as u32),
                };
                let (x, y) = (value(found), value(expected));
                let unit = if ty == "f16" { 1 << 13 } else { 1 };
                let close =
                    (rank(x) - rank(y)).abs() <= unit || ty == "f16" && (x - y).abs() <= 1e-7;
                assert!(
                    close || x.is_nan() && y.is_nan(),
                    "{ty} {call} of {:?}, {:?} is {x:?}, expected {y:?}",
                    f32::from_bits(a),
                    f32::from_bits(b)
                );
            }
        }
    }
}

fn kernel(body: &str) -> Loaded {
    load(&format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) gid: vec3u) {{ let i = gid.x; {body} }}"
    ))
}

#[test]
fn a_grid_sees_across_its_barriers_and_the_record_says_how_many() {
    let loaded = kernel(
        "for (var k = 0u; k < input[0]; k++) {
            let next = out[(i + 9u) % 40u]; gridBarrier(); out[i] = next + 1u; gridBarrier();
        }",
    );
    for (rounds, quiet) in [(0, false), (1, false), (5, false), (0, true), (5, true)] {
        let start: Vec<u32> = (0..40).collect();
        let mut contents = vec![bytes(&start), bytes(&[rounds])];
        let outcome = loaded.launch_as(
            (quiet, Shape::Counter),
            [5, 1, 1],
            &mut contents,
            u64::MAX,
            0,
        );
        let expected: Vec<u32> = (0..40).map(|i| (i + 9 * rounds) % 40 + rounds).collect();
        assert_eq!(words(&contents[0]), expected);
        assert_eq!(outcome.executed, 2 * rounds);
        assert_eq!(outcome.observed, BASE.wrapping_add(2 * rounds * 5));
        assert_eq!((outcome.counter, outcome.sequence), (outcome.observed, 77));
        let ended = if quiet { 0 } else { 5 };
        assert_eq!(outcome.ended.wrapping_sub(EXIT_BASE), ended);
    }
}

#[test]
fn an_endless_loop_ends_at_the_limit_and_says_so() {
    let loaded = kernel("loop { if (out[0] == 9u) { break; } } out[1] = 1u;");
    let mut contents = vec![bytes(&[0; 40]), bytes(&[0])];
    let outcome = loaded.launch([2, 1, 1], &mut contents, 100_000, 0);
    assert_eq!(
        (outcome.abort, outcome.aborted),
        (abi::abort::TIME_LIMIT, abi::abort::TIME_LIMIT)
    );
    assert_eq!((outcome.sequence, words(&contents[0])[1]), (0, 0));
}

#[test]
fn a_cancelled_launch_leaves_its_loops_and_barriers_and_writes_no_record() {
    for body in [
        "loop { if (out[0] == 9u) { break; } }",
        // Workgroup 1 alone goes round for ever, the others wait at the barrier.
        "if (input[0] == 0u) { if (i > 7u) { loop { if (out[0] == 9u) { break; } } } gridBarrier(); } out[2] = 1u;",
    ] {
        let loaded = kernel(body);
        let mut contents = vec![bytes(&[0; 40]), bytes(&[0])];
        let outcome = loaded.launch([3, 1, 1], &mut contents, u64::MAX, abi::abort::CANCELLED);
        assert_eq!(
            (outcome.abort, outcome.sequence),
            (abi::abort::CANCELLED, 0),
            "{body}"
        );
        assert_eq!((words(&contents[0])[2], outcome.aborted), (0, 0), "{body}");
    }
}

#[test]
fn a_barrier_that_not_all_reach_is_found_when_one_has_ended() {
    let loaded = kernel("if (i < 16u) { gridBarrier(); } out[i] = 1u;");
    let mut contents = vec![bytes(&[0; 40]), bytes(&[0])];
    let outcome = loaded.launch([3, 1, 1], &mut contents, u64::MAX, 0);
    assert_eq!(outcome.aborted, abi::abort::UNEVEN);
    assert_eq!(outcome.sequence, 0);
    // Who waited went no further; who never came did what it had to.
    let seen = words(&contents[0]);
    assert!(seen[..16].iter().all(|&x| x == 0) && seen[16..24].iter().all(|&x| x == 1));
}
