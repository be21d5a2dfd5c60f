//! Which WGSL programs are proven to meet at their grid barriers, and what the others are told.

use vyre::error::{Error, Status};
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::uniformity::{Proof, analyse};

const DECLARATIONS: &str = "\
@group(0) @binding(0) var<storage, read> plan: array<u32>;
@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> changed: array<atomic<u32>>;
var<workgroup> board: array<u32, 64>; struct List { size: u32, more: array<u32> } @group(0) @binding(3) var<storage, read_write> list: List;
fn last(x: u32) -> bool { if x == 3u { return true; } return x > 9u; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_index) local: u32,
        @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
";

fn refusal(body: &str) -> Option<Error> {
    let source = format!("{DECLARATIONS}{body}\n}}\n");
    let options = Options {
        label: Some("t.wgsl"),
        subgroup_size: 32,
        ..Options::default()
    };
    let program = compile(&source, &options).unwrap_or_else(|error| panic!("{error}"));
    analyse(&program).refusal(&program)
}

#[track_caller]
fn accepted(body: &str) {
    if let Some(error) = refusal(body) {
        panic!("{error}");
    }
}

/// Refused, and the message holds these words.
#[track_caller]
fn refused(body: &str, words: &str) {
    let error = refusal(body).unwrap_or_else(|| panic!("accepted: {body}"));
    assert_eq!(error.status(), Status::InvalidProgram);
    assert!(error.message().contains(words), "{error}");
    assert!(error.fix().contains("VYRE_PROGRAM_TRUST_UNIFORMITY"));
}

#[test]
fn loops_that_invocations_leave_one_by_one_are_refused() {
    refused(
        "loop { gridBarrier(); continuing { break if gid.x > 3u; } }",
        "`gid",
    );
    refused(
        "for (;;) { gridBarrier(); if data[gid.x] == 0u { break; } }",
        "the load",
    );
    refused(
        "for (var i = 0u; i < local; i++) { gridBarrier(); }",
        "local",
    );
    refused(
        "while plan[gid.x] > 0u { gridBarrier(); }",
        "global_invocation_id.x",
    );
}

#[test]
fn loops_that_the_grid_leaves_together_are_accepted() {
    accepted("loop { gridBarrier(); if plan[0] == 1u { return; } }");
    accepted(
        "for (var i = 0u; i < plan[0]; i++) { gridBarrier(); if plan[i] == 2u { continue; } gridBarrier(); }",
    );
    accepted("for (var i = 0u; i < groups.x; i++) { if last(i) { break; } gridBarrier(); }");
    accepted(
        "var i = 0u;
         loop { gridBarrier(); i++; if last(i) { break; } continuing { gridBarrier(); } } gridBarrier();",
    );
}

#[test]
fn the_fixpoint_exit_is_accepted_in_nested_loops_too() {
    let fixpoint = "loop {
            if data[gid.x] > 0u { atomicAdd(&changed[0], 1u); }
            gridBarrier();
            if atomicLoad(&changed[0]) == 0u { break; }
            gridBarrier();
            if gid.x == 0u { atomicStore(&changed[0], 0u); }
            gridBarrier();
        }";
    accepted(fixpoint);
    accepted(&format!(
        "for (var i = 0u; i < plan[0]; i++) {{ {fixpoint} gridBarrier(); }}"
    ));
}

#[test]
fn a_fixpoint_exit_that_others_may_already_overwrite_is_refused() {
    refused(
        "loop {
            if data[gid.x] > 0u { atomicAdd(&changed[0], 1u); }
            gridBarrier();
            if atomicLoad(&changed[0]) == 0u { break; }
        }",
        "a load from `changed`, which this barrier interval writes at 10:",
    );
}

#[test]
fn what_a_varying_return_goes_past_is_refused() {
    refused(
        "if gid.x >= arrayLength(&data) { return; } gridBarrier();",
        "`return`",
    );
    accepted("if groups.x > arrayLength(&data) { return; } gridBarrier();");
    // A return of a helper is none of the invocation.
    accepted("data[gid.x] = u32(last(gid.x)); gridBarrier();");
}

#[test]
fn the_workgroups_own_is_not_the_grids() {
    refused("if group.x == 0u { gridBarrier(); }", "between workgroups");
    refused(
        "board[local] = 1u; workgroupBarrier(); if workgroupUniformLoad(&board[0]) == 1u { gridBarrier(); }",
        "each workgroup has its own",
    );
}

#[test]
fn workgroup_barriers_are_proven_or_left_to_a_vote() {
    let proofs = |body: &str| {
        let source = format!("{DECLARATIONS}{body}\n}}\n");
        let program =
            compile(&source, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let uniformity = analyse(&program);
        assert_eq!(uniformity.refusal(&program), None);
        let proven = |proof: &Proof| *proof == Proof::Proven;
        uniformity.barriers.iter().map(proven).collect::<Vec<_>>()
    };
    assert_eq!(proofs("if group.x == 0u { workgroupBarrier(); }"), [true]);
    assert_eq!(proofs("if local == 0u { workgroupBarrier(); }"), [false]);
}

#[test]
fn one_flag_a_round_needs_one_barrier_a_round() {
    // The next round's write, in the interval of the load, goes to the next element.
    accepted(
        "for (var i = 0u; i < 32u; i++) {
            if data[gid.x] > i { atomicOr(&changed[i], 1u); }
            gridBarrier();
            if atomicLoad(&changed[i]) == 0u { break; }
        }",
    );
    accepted(
        "var i = 0;
        loop {
            if data[gid.x] > 5u { atomicStore(&changed[i], 1u); }
            gridBarrier();
            let more = atomicLoad(&changed[i]);
            i += 1;
            if more == 0u { return; }
        }",
    );
    accepted(
        "for (var outer = 0u; outer < 3u; outer++) {
            for (var i = 0u; i < 9u; i++) {
                if data[gid.x] > i { atomicOr(&changed[i + 4u], 1u); }
                gridBarrier();
                if atomicLoad(&changed[i + 4u]) == 0u { break; }
                data[gid.x] += 1u;
            }
            gridBarrier();
        }",
    );
}

#[test]
fn flags_that_a_later_round_may_reach_are_refused() {
    for body in [
        // The element that was just read.
        "for (var i = 1u; i < 32u; i++) {
            if data[gid.x] > i { atomicOr(&changed[i - 1u], 1u); }
            gridBarrier();
            if atomicLoad(&changed[i]) == 0u { break; }
        }",
        // The same element in every round.
        "for (var i = 0u; i < 32u; i++) {
            if data[gid.x] > i { atomicOr(&changed[7], 1u); }
            gridBarrier();
            if atomicLoad(&changed[7]) == 0u { break; }
        }",
        // Written between the barrier and the load.
        "for (var i = 0u; i < 32u; i++) {
            gridBarrier();
            if data[gid.x] > i { atomicOr(&changed[i], 1u); }
            if atomicLoad(&changed[i]) == 0u { break; }
        }",
        // A counter that may stand still.
        "var i = 0u;
        for (var turn = 0u; turn < 32u; turn++) {
            if data[gid.x] > i { atomicOr(&changed[i], 1u); }
            gridBarrier();
            if atomicLoad(&changed[i]) == 0u { break; }
            if plan[turn] == 1u { i += 1u; }
        }",
        // Counters that differ from one invocation to the next.
        "for (var i = local; i < 32u; i++) {
            if data[gid.x] > i { atomicOr(&changed[i], 1u); }
            gridBarrier();
            if atomicLoad(&changed[i]) == 0u { break; }
        }",
        // Elements that a multiplication may fold together.
        "for (var i = 0u; i < 32u; i++) {
            if data[gid.x] > i { atomicOr(&changed[i * 65536u], 1u); }
            gridBarrier();
            if atomicLoad(&changed[i * 65536u]) == 0u { break; }
        }",
        // An element that anybody may choose.
        "for (var i = 0u; i < 32u; i++) {
            atomicOr(&changed[data[gid.x]], 1u);
            gridBarrier();
            if atomicLoad(&changed[i]) == 0u { break; }
        }",
        // An inner loop that runs the counter on by an unknown count.
        "var i = 0u;
        loop {
            if data[gid.x] > i { atomicOr(&changed[i], 1u); }
            gridBarrier();
            if atomicLoad(&changed[i]) == 0u { break; }
            for (var k = 0u; k < plan[0]; k++) { i += 1u; }
        }",
    ] {
        refused(body, "changed");
    }
}

#[test]
fn a_member_in_front_of_an_array_is_not_written_with_it() {
    accepted("for (var i = 0u; i < list.size; i++) { list.more[gid.x] = i; gridBarrier(); }");
    accepted(
        "for (var i = 0u; i < list.size; i++) { list.more[plan[gid.x]] += 1u; list.more[0] = i; gridBarrier(); }",
    );
    refused(
        "for (var i = 0u; i < list.size; i++) { list.size = gid.x; gridBarrier(); }",
        "a load from `list`",
    );
    refused(
        "for (var i = 0u; i < list.more[0]; i++) { list.more[gid.x] = i; gridBarrier(); }",
        "a load from `list`",
    );
}
