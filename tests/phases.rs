//! How programs are cut at their barriers, and what is kept across the cuts.

use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::phases::{Exit, Keep, Phases, ResumePoint, Sharing, Slot};
use vyre::ir::{BarrierId, Program, Scalar, uniformity};

const DECLARATIONS: &str = "
    @group(0) @binding(0) var<storage, read> fixed: array<u32>;
    @group(0) @binding(1) var<storage, read_write> data: array<u32>;
    @group(0) @binding(2) var<uniform> size: vec4<u32>;
    var<workgroup> tile: array<u32, 64>;
    var<private> history: array<u32, 8>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_index) local: u32) {
        let x = gid.x;";

fn program(body: &str) -> Program {
    let options = Options {
        subgroup_size: 32,
        ..Options::default()
    };
    compile(&format!("{DECLARATIONS} {body} }}"), &options)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn with<R>(body: &str, look: impl FnOnce(&Program, &Phases<'_>) -> R) -> R {
    let program = program(body);
    let uniformity = uniformity::analyse(&program);
    let phases = Phases::of(&program, &uniformity);
    look(&program, &phases)
}

fn slots(body: &str) -> Vec<Slot> {
    with(body, |_, phases| phases.slots.slots.clone())
}

fn slot(keep: Keep, sharing: Sharing) -> Slot {
    Slot {
        ty: Scalar::U32,
        keep,
        sharing,
    }
}

#[test]
fn a_program_without_barriers_is_one_segment() {
    with("data[x] = fixed[x];", |_, phases| {
        assert_eq!(phases.segments.len(), 1);
        let start = phases.segment(ResumePoint::START).expect("the start");
        assert_eq!(start.exits, [Exit::End]);
        assert!(phases.slots.slots.is_empty());
    });
}

#[test]
fn segments_end_at_the_next_barriers_on_any_path() {
    let body = "
        for (var i = 0u; i < size.x; i++) {
            data[x] = i;
            gridBarrier();
            if size.y == i { break; }
            if size.z == i { return; }
            data[x + 1u] = i;
            workgroupBarrier();
        }
        gridBarrier();
        data[x] = 1u;";
    with(body, |_, phases| {
        let exits = |point| &phases.segment(point).expect("reached").exits;
        let barrier = |i| Exit::Barrier(BarrierId(i));
        let behind = |i| ResumePoint::behind(BarrierId(i));
        assert_eq!(*exits(ResumePoint::START), [barrier(0), barrier(2)]);
        assert_eq!(*exits(behind(0)), [barrier(1), barrier(2), Exit::End]);
        assert_eq!(*exits(behind(1)), [barrier(0), barrier(2)]);
        assert_eq!(*exits(behind(2)), [Exit::End]);
    });
}

#[test]
fn what_never_changes_is_computed_again_and_not_kept() {
    for value in [
        "x * 3u + 1u",
        "fixed[x]",
        "size.x + local",
        "arrayLength(&data) - x",
        "select(fixed[x], 7u, x > 9u)",
    ] {
        let body = format!("let kept = {value}; gridBarrier(); data[x] = kept;");
        assert_eq!(slots(&body), [], "{value}");
    }
}

#[test]
fn what_may_change_is_kept_as_long_as_the_barrier_needs() {
    let kept = |barrier| format!("let kept = data[x]; {barrier}(); data[x + 1u] = kept;");
    assert_eq!(
        slots(&kept("gridBarrier")),
        [slot(Keep::Grid, Sharing::Invocation)]
    );
    assert_eq!(
        slots(&kept("workgroupBarrier")),
        [slot(Keep::Workgroup, Sharing::Invocation)]
    );
    // Across both, as long as the longer one; not needed behind it, not kept.
    assert_eq!(
        slots(
            "let kept = data[x]; workgroupBarrier(); data[x] = kept; gridBarrier(); data[x] += kept;"
        ),
        [slot(Keep::Grid, Sharing::Invocation)]
    );
    assert_eq!(
        slots(
            "let kept = data[x]; workgroupBarrier(); data[x] = kept; gridBarrier(); data[x] += 1u;"
        ),
        [slot(Keep::Workgroup, Sharing::Invocation)]
    );
}

#[test]
fn a_uniform_counter_is_kept_once_for_the_workgroup() {
    let body = "for (var i = 0u; i < size.x; i++) { data[x] += i; gridBarrier(); }";
    assert_eq!(slots(body), [slot(Keep::Grid, Sharing::Workgroup)]);
    let body =
        "var i = 0u; for (var k = 0u; k < 3u; k++) { i += data[x]; gridBarrier(); } data[x] = i;";
    let mut kept = slots(body);
    kept.sort_by_key(|slot| slot.sharing);
    assert_eq!(
        kept,
        [
            slot(Keep::Grid, Sharing::Workgroup),
            slot(Keep::Grid, Sharing::Invocation)
        ]
    );
}

#[test]
fn memory_is_kept_only_across_barriers_behind_which_it_is_read() {
    let keeps = |body: &str| {
        with(body, |_, phases| {
            (phases.slots.workgroup.clone(), phases.slots.private.clone())
        })
    };
    // Nothing reads it behind the grid barrier.
    let (workgroup, _) = keeps(
        "tile[local] = x; workgroupBarrier(); data[x] = tile[63u - local]; gridBarrier(); data[x] = 1u;",
    );
    assert_eq!(workgroup, [Some(Keep::Workgroup)]);
    let (workgroup, _) = keeps("tile[local] = x; gridBarrier(); data[x] = tile[63u - local];");
    assert_eq!(workgroup, [Some(Keep::Grid)]);
    let (_, private) =
        keeps("history[fixed[0]] = x; data[x] = history[fixed[1]]; gridBarrier(); data[x] += 1u;");
    assert_eq!(private, [None]);
    let (_, private) =
        keeps("history[fixed[0]] = x; workgroupBarrier(); data[x] = history[fixed[1]];");
    assert_eq!(private, [Some(Keep::Workgroup)]);
    // Declared anew behind the barrier: nothing of the old contents is read.
    let (_, private) = keeps(
        "for (var i = 0u; i < 4u; i++) { var a: array<u32, 8>; a[fixed[i]] = x; data[x] = a[fixed[0]]; gridBarrier(); }",
    );
    assert_eq!(private, [None]);
}
