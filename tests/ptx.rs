//! What the PTX emitter writes is accepted by NVIDIA's assembler, and is shaped as it should be.

#[path = "ptx/accesses.rs"]
mod accesses;
#[path = "common/generate/mod.rs"]
#[allow(dead_code, reason = "only the sources are of use here")]
mod generate;
#[path = "ptx/programs.rs"]
mod programs;
#[path = "ptx/ptxas.rs"]
mod ptxas;
#[path = "ptx/shapes.rs"]
mod shapes;

use std::path::PathBuf;

use vyre::cuda::placement;
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

/// The kernel that times launch slots has no program.
#[test]
fn the_kernel_that_times_slots_assembles() {
    let Some(assembler) = ptxas::find() else {
        println!("skipped: no ptxas");
        return;
    };
    for target in [VOLTA, HOPPER] {
        if let Err(complaint) = ptxas::assemble(&assembler, placement::KERNEL, target.sm) {
            panic!("{complaint}");
        }
    }
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
        // What it wrote is seen before the record.
        ("fence.acq_rel.sys", 1),
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
