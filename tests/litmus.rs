//! Litmus tests: two invocations, of two workgroups or of two subgroups of one, on shared words of their own. What
//! the memory model forbids is never seen in a million tries of each.
//!
//! WGSL's atomics are relaxed: without a barrier only what happens to one word is ordered. A barrier orders all of memory
//! between those who meet at it: `gridBarrier()` the whole grid, `workgroupBarrier()` and `storageBarrier()` a workgroup.

mod harness;

use vyre::backend::ProgramFlags;

/// Each two invocations try on words of their own, and there are this many rounds.
const TRIES: u32 = 1_000_000;
const INVOCATIONS: u32 = 64;
const WORKGROUPS: u32 = 64;

/// Where the two invocations are, which decides what may stand between them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scope {
    Grid,
    Workgroup,
}

/// What each invocation does before and after the barrier, if there is one. `x` and `y` are the words, plain or atomic;
/// `a` and `b` are what an invocation keeps.
struct Litmus {
    name: &'static str,
    before: [&'static str; 2],
    after: [&'static str; 2],
    /// Whether this may not be: what the first kept, what the second kept, and the words in the end.
    forbids: fn([u32; 2], [u32; 2], [u32; 2]) -> bool,
}

/// All of these hold because of a barrier in the middle, for plain words and for atomic ones.
const WITH_A_BARRIER: [Litmus; 5] = [
    Litmus {
        name: "message passing",
        before: ["x = 1; y = 1;", ""],
        after: ["", "a = y; b = x;"],
        forbids: |_, second, _| second != [1, 1],
    },
    Litmus {
        name: "store buffering",
        before: ["x = 1;", "y = 1;"],
        after: ["a = y;", "a = x;"],
        forbids: |first, second, _| first[0] == 0 || second[0] == 0,
    },
    Litmus {
        name: "load buffering",
        before: ["a = x;", "a = y;"],
        after: ["y = 1;", "x = 1;"],
        forbids: |first, second, _| first[0] != 0 || second[0] != 0,
    },
    Litmus {
        name: "2+2W",
        before: ["x = 1;", "y = 1;"],
        after: ["y = 2;", "x = 2;"],
        forbids: |_, _, words| words != [2, 2],
    },
    Litmus {
        name: "a value handed over and back",
        before: ["x = 7; a = x;", "y = 9; b = y;"],
        after: ["b = y; y = a + b;", "a = x; x = 2u * a + b;"],
        forbids: |first, second, words| first != [7, 9] || second != [7, 9] || words != [23, 16],
    },
];

/// These hold without a barrier, for atomic words.
const WITHOUT_A_BARRIER: [Litmus; 7] = [
    Litmus {
        name: "coherence of two loads",
        before: ["x = 1; x = 2;", "a = x; b = x;"],
        after: ["", ""],
        forbids: |_, second, words| second[0] > second[1] || words[0] != 2,
    },
    Litmus {
        name: "coherence of a store and a load",
        before: ["x = 1; a = x;", "x = 2; a = x;"],
        after: ["", ""],
        // Who reads the other's store has been overtaken by it for good.
        forbids: |first, second, words| {
            first[0] == 0
                || second[0] == 0
                || (first[0] == 2 && words[0] != 2)
                || (second[0] == 1 && words[0] != 1)
        },
    },
    Litmus {
        name: "coherence of a load and a store",
        before: ["a = x; x = 1;", ""],
        after: ["", ""],
        forbids: |first, _, words| first[0] != 0 || words[0] != 1,
    },
    Litmus {
        name: "two additions",
        before: ["a = atomicAdd(&X, 1u);", "a = atomicAdd(&X, 1u);"],
        after: ["", ""],
        forbids: |first, second, words| first[0] + second[0] != 1 || words[0] != 2,
    },
    Litmus {
        name: "two exchanges",
        before: ["a = atomicExchange(&X, 1u);", "a = atomicExchange(&X, 2u);"],
        after: ["", ""],
        forbids: |first, second, words| match words[0] {
            1 => (first[0], second[0]) != (2, 0),
            2 => (first[0], second[0]) != (0, 1),
            _ => true,
        },
    },
    Litmus {
        name: "two compare-and-exchanges",
        before: [
            "a = atomicCompareExchangeWeak(&X, 0u, 5u).old_value;",
            "a = atomicCompareExchangeWeak(&X, 0u, 6u).old_value;",
        ],
        after: ["", ""],
        forbids: |first, second, words| match words[0] {
            5 => (first[0], second[0]) != (0, 5),
            6 => (first[0], second[0]) != (6, 0),
            // Weak: it may fail for no reason; then both saw what was there.
            0 => (first[0], second[0]) != (0, 0),
            _ => true,
        },
    },
    Litmus {
        name: "a maximum and a load",
        before: [
            "a = atomicMax(&X, 3u); b = x;",
            "a = atomicMax(&X, 4u); b = x;",
        ],
        after: ["", ""],
        forbids: |first, second, words| {
            words[0] != 4 || first[1] < 3 || second[1] != 4 || first[0] == second[0]
        },
    },
];

/// Lets `x` and `y` stand for words, and reads and writes of them for atomic ones if they are.
fn expand(code: &str, is_atomic: bool, shared: bool) -> String {
    let (x, y) = match shared {
        true => ("xs[at]", "ys[at]"),
        false => ("x[at]", "y[at]"),
    };
    let mut text = String::new();
    for statement in code.split(';').map(str::trim).filter(|s| !s.is_empty()) {
        let (to, value) = statement.split_once(" = ").expect("an assignment");
        let read = |word: &str, place: &str, value: String| match is_atomic {
            true => value.replace(word, &format!("atomicLoad(&{place})")),
            false => value.replace(word, place),
        };
        let value = match value {
            "x" => read("x", x, value.to_owned()),
            "y" => read("y", y, value.to_owned()),
            value => value.replace("&X", &format!("&{x}")),
        };
        let place = match to {
            "x" => Some(x),
            "y" => Some(y),
            _ => None,
        };
        text += &match place {
            Some(place) if is_atomic => format!("atomicStore(&{place}, {value}); "),
            Some(place) => format!("{place} = {value}; "),
            None => format!("{to} = {value}; "),
        };
    }
    text
}

struct Case<'l> {
    litmus: &'l Litmus,
    scope: Scope,
    barrier: &'static str,
    is_atomic: bool,
    /// The words are in workgroup memory.
    shared: bool,
}

impl Case<'_> {
    fn source(&self) -> String {
        let ty = if self.is_atomic { "atomic<u32>" } else { "u32" };
        let [before, after] = [self.litmus.before, self.litmus.after].map(|parts| {
            let [first, second] = parts.map(|part| expand(part, self.is_atomic, self.shared));
            format!("if side == 0u {{ {first} }} else {{ {second} }}")
        });
        // The other side is in the next workgroup, or in the next subgroup.
        let place = match self.scope {
            Scope::Grid => {
                "let side = w.x % 2u; let pair = (w.x / 2u) * 64u + l; let pairs = n.x / 2u * 64u;"
            }
            Scope::Workgroup => {
                "let side = l / 32u; let pair = w.x * 32u + l % 32u; let pairs = n.x * 32u;"
            }
        };
        let at = match self.shared {
            true => "let at = l % 32u;",
            false => "let at = round * pairs + pair;",
        };
        // Workgroup memory is used again in each round, and what it holds in the end is told.
        let (start, end) = match (self.shared, self.is_atomic) {
            (false, _) => ("", ""),
            (true, false) => (
                "xs[at] = 0u; ys[at] = 0u; workgroupBarrier();",
                "workgroupBarrier(); x[round * pairs + pair] = xs[at]; y[round * pairs + pair] = ys[at]; workgroupBarrier();",
            ),
            (true, true) => (
                "atomicStore(&xs[at], 0u); atomicStore(&ys[at], 0u); workgroupBarrier();",
                "workgroupBarrier(); x[round * pairs + pair] = atomicLoad(&xs[at]); y[round * pairs + pair] = atomicLoad(&ys[at]); workgroupBarrier();",
            ),
        };
        let outer = if self.shared { "u32" } else { ty };
        let barrier = self.barrier;
        format!(
            "@group(0) @binding(0) var<storage, read_write> x: array<{outer}>;
            @group(0) @binding(1) var<storage, read_write> y: array<{outer}>;
            @group(0) @binding(2) var<storage, read_write> kept: array<u32>;
            var<workgroup> xs: array<{ty}, 32>; var<workgroup> ys: array<{ty}, 32>;
            @compute @workgroup_size(64)
            fn main(@builtin(local_invocation_index) l: u32, @builtin(workgroup_id) w: vec3<u32>,
                    @builtin(num_workgroups) n: vec3<u32>) {{
                {place}
                let rounds = min(min(arrayLength(&kept) / 4u, arrayLength(&x)), arrayLength(&y)) / pairs;
                for (var round = 0u; round < rounds; round++) {{
                    {at}
                    var a = 0u; var b = 0u;
                    {start}
                    {before}
                    {barrier}
                    {after}
                    let mine = ((round * pairs + pair) * 2u + side) * 2u;
                    kept[mine] = a; kept[mine + 1u] = b;
                    {end}
                }}
            }}"
        )
    }

    /// How many tries there were, and how often what is forbidden was seen.
    fn run(&self) -> (usize, usize) {
        let pairs = match self.scope {
            Scope::Grid => WORKGROUPS / 2 * INVOCATIONS,
            Scope::Workgroup => WORKGROUPS * INVOCATIONS / 2,
        };
        let tries = (TRIES.div_ceil(pairs) * pairs) as usize;
        let backend = harness::backend(2);
        let program = harness::try_load(&backend, &self.source(), ProgramFlags::default())
            .unwrap_or_else(|error| panic!("{}\n{}", harness::report(&error), self.source()));
        let buffers =
            [tries, tries, 4 * tries].map(|words| harness::buffer(&backend, &vec![0; words]));
        harness::try_run(&program, harness::dispatch([WORKGROUPS, 1, 1], &buffers))
            .unwrap_or_else(|error| panic!("{}", harness::report(&error)));
        let [x, y, kept] = buffers.each_ref().map(harness::words);
        let seen = |at: usize| -> bool {
            let of = |side: usize| [0, 1].map(|n| kept[(at * 2 + side) * 2 + n]);
            (self.litmus.forbids)(of(0), of(1), [x[at], y[at]])
        };
        (tries, (0..tries).filter(|&at| seen(at)).count())
    }

    fn check(&self) {
        let (tries, seen) = self.run();
        let what = format!(
            "{} of two {} by {:?}, {}{}",
            self.litmus.name,
            match self.scope {
                Scope::Grid => "workgroups",
                Scope::Workgroup => "subgroups",
            },
            self.barrier,
            if self.is_atomic { "atomic" } else { "plain" },
            if self.shared {
                ", in workgroup memory"
            } else {
                ""
            },
        );
        println!("{what}: {seen} of {tries} tries");
        assert_eq!(seen, 0, "{what}: forbidden, and seen in {tries} tries");
    }
}

#[test]
fn grid_barriers_order_all_of_memory() {
    for litmus in &WITH_A_BARRIER {
        for is_atomic in [false, true] {
            Case {
                litmus,
                scope: Scope::Grid,
                barrier: "gridBarrier();",
                is_atomic,
                shared: false,
            }
            .check();
        }
    }
}

#[test]
fn barriers_of_a_workgroup_order_its_memory() {
    for litmus in &WITH_A_BARRIER {
        for is_atomic in [false, true] {
            for (barrier, shared) in [
                ("storageBarrier();", false),
                ("workgroupBarrier();", true),
                ("gridBarrier();", false),
            ] {
                Case {
                    litmus,
                    scope: Scope::Workgroup,
                    barrier,
                    is_atomic,
                    shared,
                }
                .check();
            }
        }
    }
}

#[test]
fn what_happens_to_one_atomic_is_ordered() {
    for litmus in &WITHOUT_A_BARRIER {
        for (scope, shared) in [
            (Scope::Grid, false),
            (Scope::Workgroup, false),
            (Scope::Workgroup, true),
        ] {
            Case {
                litmus,
                scope,
                barrier: "",
                is_atomic: true,
                shared,
            }
            .check();
        }
    }
}

/// The instrument shows what it is to show: without its barrier a test sees what is forbidden with one.
#[test]
fn without_the_barrier_it_is_seen() {
    for litmus in &WITH_A_BARRIER {
        let case = Case {
            litmus,
            scope: Scope::Grid,
            barrier: "",
            is_atomic: true,
            shared: false,
        };
        let (tries, seen) = case.run();
        println!("{} without a barrier: {seen} of {tries} tries", litmus.name);
        // Without barriers the CPU's workgroups run one behind the other, so some of these cannot be seen there.
        let must =
            harness::on_cuda() || matches!(litmus.name, "store buffering" | "load buffering");
        assert!(seen > 0 || !must, "{} needs no barrier", litmus.name);
    }
}
