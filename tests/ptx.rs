//! What the PTX emitter writes is accepted by NVIDIA's assembler, and is shaped as it should be.

#[path = "common/generate/mod.rs"]
#[allow(dead_code, reason = "only the sources are of use here")]
mod generate;
#[path = "ptx/programs.rs"]
mod programs;
#[path = "ptx/ptxas.rs"]
mod ptxas;

use std::path::PathBuf;

use vyre::cuda::ptx::{self, Ptx, Target};
use vyre::error::Result;
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::Program;
use vyre::ir::uniformity::{self, Proof, Uniformity};

const VOLTA: Target = Target {
    sm: 70,
    ptx_version: (6, 4),
};
/// The first with reductions in one instruction.
const AMPERE: Target = Target {
    sm: 80,
    ptx_version: (7, 0),
};
const HOPPER: Target = Target {
    sm: 90,
    ptx_version: (8, 0),
};

fn try_emit(source: &str, target: Target) -> Result<Ptx> {
    with_program(source, |program, uniformity| {
        ptx::emit(program, uniformity, target, false)
    })
}

/// The program under the module-scope contract.
fn try_export(source: &str, target: Target) -> Result<String> {
    with_program(source, |program, uniformity| {
        ptx::export(program, uniformity, target, false)
    })
}

fn with_program<T>(
    source: &str,
    run: impl FnOnce(&Program, &Uniformity) -> Result<T>,
) -> Result<T> {
    let program = lower(source, false);
    run(&program, &uniformity::analyse(&program))
}

fn lower(source: &str, unchecked: bool) -> Program {
    let options = Options {
        label: Some("test.wgsl"),
        subgroup_size: 32,
        unchecked,
        ..Options::default()
    };
    let program = compile(source, &options).unwrap_or_else(|e| panic!("{e}\n{source}"));
    vyre::ir::validate(&program).unwrap();
    program
}

fn emit(source: &str) -> Ptx {
    try_emit(source, HOPPER).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// A kernel around statements, with a written buffer and one that is only read.
fn kernel(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) gid: vec3u) {{ let i = gid.x; {body} }}"
    )
}

fn text(body: &str) -> String {
    emit(&kernel(body)).text
}

/// Assembles each for all targets; says how many failed and the first complaint.
fn assemble_all(sources: &[String]) {
    let Some(assembler) = ptxas::find() else {
        println!(
            "skipped: no ptxas in $VYRE_PTXAS, in build/ptxas (scripts/ptxas.sh installs it) or on the path; \
             {} programs were emitted and not assembled",
            sources.len()
        );
        for source in sources {
            emit(source);
        }
        return;
    };
    let mut failures = Vec::new();
    for source in sources {
        for target in [VOLTA, AMPERE, HOPPER] {
            let ptx = match try_emit(source, target) {
                Ok(ptx) => ptx,
                Err(error) => panic!("{error}\n{source}"),
            };
            if let Ok(exported) = try_export(source, target)
                && let Err(complaint) = ptxas::assemble(&assembler, &exported, target.sm)
            {
                failures.push(format!("{complaint}\n{source}\n{exported}"));
            }
            if let Err(complaint) = ptxas::assemble(&assembler, &ptx.text, target.sm) {
                failures.push(format!("{complaint}\n{source}\n{}", ptx.text));
            }
        }
    }
    if let Some(first) = failures.first() {
        panic!("{} failed; the first: {first}", failures.len());
    }
}

#[test]
fn all_of_the_language_assembles() {
    assemble_all(&programs::all());
}

/// The kernels that are measured against nvcc's; their barriers are proven, so that they load without flags.
#[test]
fn measured_kernels_assemble() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/cuda");
    let is_wgsl = |path: &PathBuf| path.extension().is_some_and(|end| end == "wgsl");
    let files = std::fs::read_dir(folder).unwrap();
    let kernels: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(is_wgsl)
        .collect();
    assert!(kernels.len() >= 8, "{kernels:?}");
    let assembler = ptxas::find();
    for kernel in kernels {
        let source = std::fs::read_to_string(&kernel).unwrap();
        for unchecked in [false, true] {
            let program = lower(&source, unchecked);
            let uniformity = uniformity::analyse(&program);
            if let Some(error) = uniformity.refusal(&program) {
                panic!("{}: {error}", kernel.display());
            }
            let proven = |proof: &Proof| *proof == Proof::Proven;
            assert!(
                uniformity.barriers.iter().all(proven),
                "{}",
                kernel.display()
            );
            for target in [VOLTA, HOPPER] {
                let ptx = ptx::emit(&program, &uniformity, target, false).unwrap();
                if let Some(assembler) = &assembler
                    && let Err(complaint) = ptxas::assemble(assembler, &ptx.text, target.sm)
                {
                    panic!("{}: {complaint}\n{}", kernel.display(), ptx.text);
                }
            }
        }
    }
    if assembler.is_none() {
        println!("skipped: no ptxas; the kernels were emitted and not assembled");
    }
}

#[test]
fn subgroups_are_reduced_by_one_instruction_where_there_is_one() {
    let source = kernel("out[i] = subgroupAdd(input[i]) + subgroupMul(input[i]);");
    let text = |target| try_emit(&source, target).unwrap().text;
    let (old, new) = (text(VOLTA), text(AMPERE));
    let count = |text: &str, what: &str| text.matches(what).count();
    assert_eq!(
        (count(&old, "redux"), count(&old, "shfl")),
        (0, 10),
        "{old}"
    );
    assert_eq!(
        (count(&new, "redux.sync.add.u32"), count(&new, "shfl")),
        (1, 5),
        "{new}"
    );
    assert!(!new.contains("activemask"), "{new}");
}

#[test]
fn who_takes_part_in_a_subgroup_operation_is_asked_only_where_it_is_not_proven() {
    let asks = |body: &str| text(body).contains("activemask");
    assert!(!asks("if gid.y == 3u { out[i] = subgroupMin(i); }"));
    assert!(asks("if i == 3u { out[i] = subgroupMin(i); }"));
    assert!(!asks(
        "if i == 3u { out[0] = 1u; } out[i] = subgroupMin(i);"
    ));
    assert!(asks("if i == 3u { return; } out[i] = subgroupMin(i);"));
    assert!(!asks(
        "if subgroupAny(i == 3u) { out[i] = subgroupMin(i); }"
    ));
    assert!(asks(
        "if subgroupInclusiveAdd(i) == 3u { out[i] = subgroupMin(i); }"
    ));
    // In a branch of their own, those who come have a result of their own.
    assert!(asks(
        "var s = 0u; if i == 3u { s = 1u; } if s == 0u { out[i] = subgroupMin(i); }"
    ));
    let old = Target {
        sm: 70,
        ptx_version: (6, 0),
    };
    let error = try_emit(&kernel("if i == 3u { out[i] = subgroupMin(i); }"), old).unwrap_err();
    assert!(error.message().contains("PTX 6.2"), "{error}");
}

#[test]
fn random_programs_assemble() {
    let mut sources: Vec<String> = (0..50)
        .map(|seed| generate::generate(seed, false).source)
        .collect();
    // Barriers that are not proven are met by another instruction.
    sources.extend((0..15).map(|seed| generate::generate(seed, true).source));
    assemble_all(&sources);
}

#[test]
fn a_dynamic_index_is_guarded_by_a_predicate_and_a_static_one_is_not() {
    let guarded = text("out[input[i]] = 1u;");
    assert!(guarded.contains("ld.global.nc.b32") && guarded.contains(" ld.global.nc"));
    let predicated = |text: &str, what: &str| {
        text.lines()
            .any(|line| line.trim_start().starts_with("@%p") && line.contains(what))
    };
    assert!(predicated(&guarded, "ld.global.nc"), "{guarded}");
    assert!(predicated(&guarded, "st.global"), "{guarded}");
    let fixed = text("out[0] = input[0];");
    assert!(
        !predicated(&fixed, "st.global") && !predicated(&fixed, "ld.global"),
        "{fixed}"
    );
}

/// Whether any access that the text has of this kind is guarded.
fn is_guarded(text: &str, what: &str) -> bool {
    text.lines()
        .any(|line| line.trim_start().starts_with("@%p") && line.contains(what))
}

#[test]
fn what_is_proven_is_not_guarded() {
    let workgroup = |body: &str| {
        let source = format!("var<workgroup> w: array<u32, 64>;\n{}", kernel(body));
        let text = emit(&source).text;
        let body = text.split("bar.sync 0").last().unwrap_or_default();
        assert!(body.contains("st.shared"), "{text}");
        is_guarded(body, "st.shared")
    };
    assert!(!workgroup("for (var k = 0u; k < 64u; k++) { w[k] = 1u; }"));
    assert!(workgroup("for (var k = 0u; k < 65u; k++) { w[k] = 1u; }"));
    assert!(!workgroup("if i >= 64u { return; } w[i] = 1u;"));
    assert!(workgroup("if i > 64u { return; } w[i] = 1u;"));
    let length = text("if i < arrayLength(&out) { out[i] = 1u; }");
    assert!(!is_guarded(&length, "st.global"), "{length}");
    let other = text("if i < arrayLength(&input) { out[i] = 1u; }");
    assert!(is_guarded(&other, "st.global"), "{other}");
}

#[test]
fn neighbours_share_an_address_where_their_index_does_not_wrap() {
    let proven = text(
        "if i > 0u && i < arrayLength(&out) - 1u { out[i] = input[i - 1u] + input[i] + input[i + 1u]; }",
    );
    for part in ["+-4]", "+4]"] {
        let loads = proven
            .lines()
            .filter(|l| l.contains("ld.global") && l.contains(part));
        assert_eq!(loads.count(), 1, "{part}\n{proven}");
    }
    let wraps = text("out[i] = input[i - 1u] + input[i] + input[i + 1u];");
    assert!(!wraps.contains("+-4]"), "{wraps}");
    let loads = wraps
        .lines()
        .filter(|l| l.contains("ld.global") && l.contains("+4]"));
    assert_eq!(loads.count(), 0, "{wraps}");
}

#[test]
fn a_guarded_vector_is_loaded_from_the_start_instead() {
    let source = "@group(0) @binding(0) var<storage, read_write> a: array<vec4<u32>>;
        struct S { n: u32, rows: array<array<vec4<u32>, 4>> }
        @group(0) @binding(1) var<storage, read> s: S;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) gid: vec3u) { BODY }";
    let loads = |body: &str| {
        let text = emit(&source.replace("BODY", body)).text;
        assert!(text.contains(".v4.b32"), "{text}");
        is_guarded(&text, "ld.global")
    };
    assert!(!loads("a[gid.x] = a[gid.y] + 1u;"));
    // The start of the sixth row may be past the end.
    assert!(loads("a[0] = s.rows[5][gid.x & 3u];"));
    assert!(!loads("a[0] = s.rows[gid.x][2];"));
}

#[test]
fn divisors_are_made_harmless_once_and_where_they_are_defined() {
    let selects = |body: &str| {
        let text = text(body);
        let count = text.matches("selp.b32").count();
        (count, text)
    };
    let (both, text) = selects("let n = out[0]; out[1] = i / n; out[2] = i % n;");
    assert_eq!(both, 1, "{text}");
    let (in_loop, text) =
        selects("let n = out[0]; for (var k = 0u; k < 9u; k++) { out[k] = k / n; }");
    assert_eq!(in_loop, 1, "{text}");
    let select = text.find("selp.b32").unwrap_or_default();
    assert!(select < text.find("$L").unwrap_or_default(), "{text}");
    let (never, text) = selects("out[0] = i / max(out[1], 1u) + i % arrayLength(&input);");
    assert_eq!(never, 0, "{text}");
    let (tested, text) = selects("let n = out[0]; if n != 0u { out[1] = i / n; }");
    assert_eq!(tested, 0, "{text}");
}

#[test]
fn workgroup_memory_is_zeroed_in_passes() {
    let zeroing = |words: u32| {
        let body = kernel("w[i] = 1u; workgroupBarrier(); out[i] = w[0];");
        let text = emit(&format!("var<workgroup> w: array<u32, {words}>;\n{body}")).text;
        let before = text.split("bar.sync 0").next().unwrap_or_default();
        let stores = before.matches("st.shared.v4").count();
        (
            stores,
            is_guarded(before, "st.shared.v4"),
            before.contains("bra"),
        )
    };
    // 64 invocations zero 256 words in a pass.
    assert_eq!(zeroing(256), (1, false, false));
    assert_eq!(zeroing(512), (2, false, false));
    assert_eq!(zeroing(300), (2, true, false));
    assert_eq!(zeroing(100), (1, true, false));
    assert_eq!(zeroing(8000), (1, false, true));
}

#[test]
fn what_is_written_is_never_read_through_the_read_only_cache() {
    let both = text("out[0] = out[1] + input[0];");
    let loads = |what: &str| both.lines().filter(|line| line.contains(what)).count();
    assert_eq!(
        (loads("ld.global.nc"), loads("ld.global.b32")),
        (1, 1),
        "{both}"
    );
}

#[test]
fn floats_are_rounded_by_name_and_not_contracted() {
    let plain = text("let a = bitcast<f32>(input[0]); out[0] = bitcast<u32>(a * a + a / a - a);");
    for op in ["mul.rn.f32", "add.rn.f32", "div.rn.f32", "sub.rn.f32"] {
        assert!(plain.contains(op), "{op}\n{plain}");
    }
    assert!(!plain.contains("fma") && !plain.contains(".ftz"), "{plain}");
    let asked = text("let a = bitcast<f32>(input[0]); out[0] = bitcast<u32>(fma(a, a, a));");
    assert!(asked.contains("fma.rn.f32"), "{asked}");
}

#[test]
fn each_grid_barrier_has_one_marker_whatever_the_source_says() {
    let markers = |body: &str| text(body).matches("grid.sync barrier #").count();
    assert_eq!(markers("out[i] = 1u;"), 0);
    assert_eq!(markers("gridBarrier(); gridBarrier();"), 2);
    assert_eq!(
        markers("for (var k = 0u; k < 9u; k++) { gridBarrier(); }"),
        1
    );
    assert_eq!(
        markers("out[i] = 1u; // grid.sync barrier #7\ngridBarrier();"),
        1
    );
    let text = text("gridBarrier(); workgroupBarrier(); gridBarrier();");
    assert!(
        text.contains("barrier #0") && text.contains("barrier #1"),
        "{text}"
    );
}

#[test]
fn a_grid_barrier_releases_and_acquires_and_is_bounded() {
    let text = text("gridBarrier();");
    for (part, count) in [
        // The poll; and now and then the workgroups that have ended and the arrivals.
        ("ld.acquire.gpu.global.u32", 3),
        ("%globaltimer", 1),
        // The time is over, or a workgroup will never come.
        ("atom.relaxed.gpu.global.cas.b32", 2),
        // The arrival at the barrier, the group's, and the one at the end of the program.
        ("atom.add.acq_rel.gpu.global.u32", 3),
        ("st.release.sys.global.u32", 1),
    ] {
        assert_eq!(text.matches(part).count(), count, "{part}\n{text}");
    }
}

#[test]
fn an_export_has_a_marker_for_each_barrier_and_the_counter_in_the_module() {
    let waves =
        "out[i] = input[i]; gridBarrier(); out[i] = input[i + 1u]; gridBarrier();".repeat(4);
    let text = try_export(&kernel(&waves), HOPPER).unwrap();
    assert_eq!(text.matches("grid.sync barrier #").count(), 8, "{text}");
    assert!(
        text.contains(".visible .global .align 128 .u32 _vyre_grid_barrier;"),
        "{text}"
    );
    assert!(
        text.contains(".param .u64 vyre_size_1") && !text.contains("vyre_arguments"),
        "{text}"
    );
    assert!(
        text.contains(
            "vyre_address_0, vyre_size_0: address and size in bytes of group 0, binding 0"
        )
    );
    // Nothing of the launch slot's.
    assert!(
        !text.contains("%globaltimer") && !text.contains(".sys."),
        "{text}"
    );
}

#[test]
fn a_barrier_in_a_loop_is_not_exported() {
    for body in [
        "for (var k = 0u; k < 4u; k++) { out[i] = k; gridBarrier(); }",
        "loop { out[i] = 1u; if (input[0] == 1u) { break; } continuing { gridBarrier(); } }",
    ] {
        let error = try_export(&kernel(body), HOPPER).unwrap_err();
        assert_eq!(error.status(), vyre::error::Status::Unsupported);
        assert!(
            error.message().contains("not unrolled") && error.position().is_some(),
            "{error}"
        );
    }
}

#[test]
fn loops_are_polled_unless_they_end_by_themselves() {
    let is_polled = |body: &str| emit(&kernel(body)).parameters.control.is_some();
    assert!(!is_polled("for (var k = 0u; k < 16u; k++) { out[k] = k; }"));
    assert!(!is_polled(
        "for (var k = 2; k <= 16; k += 3) { out[k] = 1u; }"
    ));
    assert!(!is_polled(
        "for (var k = 0u; k < 9u; k++) { for (var j = 0u; j < 9u; j++) { out[k] = j; } }"
    ));
    assert!(is_polled(
        "for (var k = 0u; k < input[0]; k++) { out[k] = k; }"
    ));
    assert!(is_polled(
        "for (var k = 0u; k < 16u; k++) { k = input[k]; }"
    ));
    assert!(is_polled(
        "for (var k = 0u; k < 4000000u; k++) { out[i] = k; }"
    ));
    assert!(is_polled(
        "for (var k = i32(input[0]); k < 16; k++) { out[i] = 1u; }"
    ));
    assert!(is_polled("loop { if (out[0] == 1u) { break; } }"));
    assert!(is_polled(
        "for (var k = 0u; k < 16u; k++) { if (k == 3u) { k = 0u; } }"
    ));
}

#[test]
fn halvings_and_what_can_be_followed_are_not_polled() {
    let is_polled = |body: &str| emit(&kernel(body)).parameters.control.is_some();
    for body in [
        "for (var k = input[0]; k > 0u; k /= 2u) { out[k] = k; }",
        "for (var k = input[0]; k != 0u; k >>= 3u) { out[k] = k; }",
        "for (var k = input[0]; 7u <= k; k = k >> 1u) { out[k] = k; }",
        "for (var k = 1u; k < 256u; k *= 2u) { out[k] = k; }",
        "for (var k = 1u; k < 0x80000000u; k <<= 1u) { out[k] = k; }",
        "for (var k = 64; k > 0; k -= 3) { out[k] = 1u; }",
    ] {
        assert!(!is_polled(body), "{body}");
    }
    for body in [
        // From zero it never grows, and this one wraps to zero.
        "for (var k = input[0]; k < 256u; k *= 2u) { out[k] = k; }",
        "for (var k = 1u; k <= 0x80000000u; k *= 2u) { out[k] = k; }",
        "for (var k = input[0]; k >= 0u; k /= 2u) { out[k] = k; }",
        "for (var k = input[0]; k > 0u; k >>= input[1]) { out[k] = k; }",
        "for (var k = i32(input[0]); k != 0; k >>= 1u) { out[k] = 1u; }",
        "for (var k = input[0]; k > 0u; k /= 2u) { if k == 9u { k = 99u; } }",
        "for (var k = input[0]; k > 0u; k /= input[1]) { out[k] = k; }",
    ] {
        assert!(is_polled(body), "{body}");
    }
}

#[test]
fn the_innermost_loop_is_one_piece_without_a_look() {
    /// What stands between a label and the branch back to it, of the loop that stores.
    fn turn(text: &str) -> &str {
        let store = text.find("st.global").expect("a store");
        let start = text[..store].rfind("\n$L").expect("a label") + 1;
        let label = text[start..].lines().next().unwrap().trim_end_matches(':');
        let back = format!("bra {label};");
        let end = store + text[store..].find(&back).expect("a branch back");
        let from = text[start..end].rfind('\n').unwrap();
        assert!(
            text[start + from..end].contains("@%p"),
            "it is a test\n{text}"
        );
        &text[start + label.len() + 1..end]
    }
    for body in [
        "for (var k = i; k < input[0]; k += groups.x * 64u) { out[k] = k; }",
        "for (var k = i; k < arrayLength(&input); k++) { out[k] = k; }",
        "for (var k = 0; k < i32(input[0]); k++) { out[k] = 1u; }",
        "for (var k = 0u; k < 1000u; k++) { out[k] = k; }",
        "for (var n = input[1]; n > 0u; n -= 1u) { for (var k = 0u; k < n; k++) { out[k] = k; } }",
    ] {
        let source = kernel(body).replace(
            "global_invocation_id) gid: vec3u",
            "global_invocation_id) gid: vec3u, @builtin(num_workgroups) groups: vec3u",
        );
        let text = emit(&source).text;
        let turn = turn(&text);
        for what in ["bra ", "bar.", "ld.relaxed", "globaltimer", "and.b32"] {
            assert!(!turn.contains(what), "{what} in {turn}\n{text}");
        }
    }
    // What cannot be cut into strips counts its turns, and looks elsewhere.
    let text = text("while out[i] != input[0] { out[i + 1u] += 1u; }");
    let turn = turn(&text);
    assert!(
        !turn.contains("globaltimer") && text.contains("globaltimer"),
        "{text}"
    );
}

#[test]
fn few_turns_are_written_out_and_many_are_not() {
    let stores = |body: &str| text(body).matches("st.global").count();
    assert_eq!(stores("for (var k = 0u; k < 6u; k++) { out[k] = k; }"), 6);
    assert_eq!(
        stores("for (var k = 8u; k > 0u; k /= 2u) { out[k] = k; }"),
        4
    );
    assert_eq!(stores("for (var k = 0u; k < 600u; k++) { out[k] = k; }"), 1);
    // Each call site of a grid barrier is marked once.
    let text = text("for (var k = 0u; k < 3u; k++) { out[k] = k; gridBarrier(); }");
    assert_eq!(text.matches("st.global").count(), 1, "{text}");
}

#[test]
fn short_circuits_branch_only_around_what_is_dear() {
    let branches = |body: &str| text(body).matches("bra ").count();
    let one = branches("if i > 3u { out[i] = 1u; }");
    let cheap = "if i > 3u && i < 9u && gid.y == i || gid.z == 1u { out[i] = 1u; }";
    assert_eq!(branches(cheap), one);
    for dear in [
        "if i > 3u && input[i] == 1u { out[i] = 1u; }",
        "if i > 3u || 7u / i == 1u { out[i] = 1u; }",
        "if i > 3u && atomicLoad(&flag) == 1u { out[i] = 1u; }",
    ] {
        let source = kernel(dear) + "var<workgroup> flag: atomic<u32>;";
        let text = emit(&source).text;
        assert!(text.matches("bra ").count() > one, "{text}");
    }
}

#[test]
fn vectors_are_moved_whole_only_where_they_are_aligned() {
    let source = |ty: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<{ty}>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{ a[i] = a[i + 1u]; }}"
        )
    };
    let aligned = emit(&source("vec4<u32>")).text;
    assert!(aligned.contains("ld.global.v4.b32") && aligned.contains("st.global.v4.b32"));
    // A run of four words at a multiple of 4 bytes only.
    let loose = emit(&source("array<u32, 4>")).text;
    assert!(
        loose.contains("v4.b32"),
        "an array of 16 bytes keeps its alignment\n{loose}"
    );
    let odd = emit(&source("array<u32, 5>")).text;
    assert!(!odd.contains(".v4") && !odd.contains(".v2"), "{odd}");
}

#[test]
fn a_workgroup_barrier_that_is_not_proven_does_not_ask_for_whole_warps() {
    let text = text("workgroupBarrier(); if (input[i] > 2u) { workgroupBarrier(); }");
    let lines = |what: &str| text.lines().filter(|line| line.trim() == what).count();
    assert_eq!(
        (lines("bar.sync 0;"), lines("barrier.sync 0;")),
        (1, 1),
        "{text}"
    );
}

#[test]
fn only_fast_mathematics_may_fuse() {
    let source = kernel("out[i] = u32(f32(input[i]) * 3.0 + f32(input[i + 1u]));");
    let program = lower(&source, false);
    let proofs = uniformity::analyse(&program);
    let exact = ptx::emit(&program, &proofs, HOPPER, false).unwrap().text;
    assert!(
        exact.contains("mul.rn.f32") && exact.contains("add.rn.f32"),
        "{exact}"
    );
    let fast = ptx::emit(&program, &proofs, HOPPER, true).unwrap().text;
    assert!(
        fast.contains("mul.f32") && fast.contains("add.f32"),
        "{fast}"
    );
}

#[test]
fn constants_are_not_divided_by() {
    let text = text("out[0] = input[0] / 8u + input[1] % 64u + input[2] / 7u + input[3] % 10u;");
    assert!(
        !text.contains("div.u32") && !text.contains("rem.u32"),
        "{text}"
    );
    assert_eq!(text.matches("mul.hi.u32").count(), 2, "{text}");
}

#[test]
fn shifts_mask_their_counts() {
    let text = text("out[0] = input[0] << input[1];");
    let masked = text.find("and.b32").expect("a mask");
    assert!(masked < text.find("shl.b32").expect("a shift"), "{text}");
}

#[test]
fn large_workgroup_memory_is_asked_for_at_the_launch() {
    let shared = |words: u32| {
        let source = format!(
            "var<workgroup> w: array<u32, {words}>;\n{}",
            kernel("w[i] = 1u; out[i] = w[0];")
        );
        emit(&source).shared
    };
    assert_eq!((shared(64).fixed, shared(64).dynamic), (256, 0));
    assert_eq!((shared(15000).fixed, shared(15000).dynamic), (0, 60000));
}

#[test]
fn parameters_stand_where_the_layout_says() {
    let ptx = emit(&kernel("out[0] = arrayLength(&input); gridBarrier();"));
    let layout = &ptx.parameters;
    let control = layout.control.expect("a grid barrier needs the slot");
    let reads = |ty: &str, at: u32| {
        ptx.text.contains(&format!("ld.param.{ty} "))
            && ptx.text.contains(&format!("[vyre_arguments+{at}]"))
    };
    assert!(reads("u64", layout.buffers[0].base) && reads("u32", layout.buffers[1].length));
    assert!(
        reads("u64", control.slot) && reads("u64", control.record) && reads("u64", control.limit)
    );
    assert!(reads("u32", control.base) && reads("u32", control.exit_base));
    assert!(reads("u32", control.sequence) && reads("u32", control.quiet));
    assert!(
        ptx.text
            .contains(&format!("vyre_arguments[{}]", layout.size))
    );
    assert_eq!(ptx.kernel, "vyre_main");
}

#[test]
fn what_is_not_available_is_refused_by_name() {
    let error = try_emit(
        &kernel("let x = f64(f32(input[0])); out[0] = u32(sin(x));"),
        HOPPER,
    )
    .unwrap_err();
    assert_eq!(error.status(), vyre::error::Status::Unsupported);
    assert!(error.message().contains("Sin of f64"), "{error}");
    assert!(error.position().is_some());
    let large = format!(
        "var<private> big: array<u32, 140000>;\n{}",
        kernel("big[i] = 1u; out[i] = big[input[0]];")
    );
    let error = try_emit(&large, HOPPER).unwrap_err();
    assert_eq!(error.status(), vyre::error::Status::Unsupported);
    assert!(
        error.message().contains("560000 bytes") && error.message().contains("`big`"),
        "{error}"
    );
}

#[test]
fn the_source_is_quoted_line_by_line() {
    let text = text("let a = input[0];\n out[3] = a;");
    assert!(
        text.lines()
            .any(|line| line.trim() == "// 4: out[3] = a; }"),
        "{text}"
    );
}
