//! What a refusal says.

use super::*;
use crate::error::Status;
use crate::ir::{BufferAccess, Const};

fn refusal(f: impl FnOnce(&mut Maker)) -> crate::error::Error {
    let (program, uniformity) = analysed(f);
    uniformity.refusal(&program).expect("refused")
}

#[test]
fn it_names_the_condition_and_what_varies() {
    let error = refusal(|m| {
        let c = m.varying();
        m.if_(c, |m| m.grid());
    });
    assert_eq!(error.status(), Status::InvalidProgram);
    assert_eq!(error.position().map(|at| at.line), Some(3));
    let message = error.message();
    for part in [
        "made:3:1:",
        "the condition `Eq %0, 0u` at 2:1",
        "`gid.x` at 1:1 (global_invocation_id.x) is each invocation's own",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(error.fix().contains("VYRE_PROGRAM_TRUST_UNIFORMITY"));
}

#[test]
fn it_names_the_exit() {
    let error = refusal(|m| {
        let c = m.varying();
        m.if_(c, |m| m.return_());
        m.grid();
    });
    let message = error.message();
    assert!(message.contains("`return` at 3:1"), "{message}");
    assert!(message.contains("at 2:1"), "{message}");
}

#[test]
fn it_names_the_write_that_spoils_a_load() {
    let error = refusal(|m| {
        let data = m.storage("data", BufferAccess::ReadWrite);
        m.grid();
        let x = m.load(data, None);
        m.store(data, None, Const::u32(1));
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
    let part = "a load from `data`, which this barrier interval writes at 3:1";
    assert!(error.message().contains(part), "{}", error.message());
}

#[test]
fn it_names_the_load_at_a_varying_address() {
    let error = refusal(|m| {
        let data = m.storage("data", BufferAccess::Read);
        let gid = m.gid();
        let x = m.load(data, Some(gid));
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
    let part = "so the load";
    assert!(error.message().contains(part), "{}", error.message());
}

#[test]
fn workgroup_barriers_are_never_refused() {
    let (program, uniformity) = analysed(|m| {
        let c = m.varying();
        m.if_(c, |m| m.workgroup());
    });
    assert!(!uniformity.is_proven(crate::ir::BarrierId(0)));
    assert_eq!(uniformity.refusal(&program), None);
}

#[test]
fn the_first_grid_barrier_is_named() {
    let error = refusal(|m| {
        m.grid();
        let c = m.varying();
        m.if_(c, |m| {
            m.workgroup();
            m.grid();
            m.grid();
        });
    });
    assert_eq!(error.position().map(|at| at.line), Some(5));
}
