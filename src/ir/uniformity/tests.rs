//! Programs that are accepted and programs that are not.

mod memory;
mod messages;
mod paths;
mod subgroups;
mod values;

use super::*;
use crate::ir::testing::Maker;
use crate::ir::validate;

fn analysed(f: impl FnOnce(&mut Maker)) -> (Program, Uniformity) {
    analysed_with([64, 1, 1], f)
}

fn analysed_with(size: [u32; 3], f: impl FnOnce(&mut Maker)) -> (Program, Uniformity) {
    let mut maker = Maker::new(size);
    f(&mut maker);
    let program = maker.finish();
    validate(&program).expect("the test's program is well formed");
    assert!(!program.barriers.is_empty());
    let uniformity = analyse(&program);
    (program, uniformity)
}

/// All barriers of the program are proven.
#[track_caller]
fn accepted(f: impl FnOnce(&mut Maker)) {
    let (program, uniformity) = analysed(f);
    if let Some(error) = uniformity.refusal(&program) {
        panic!("{error}\n{program}");
    }
    let proven = |p: &Proof| matches!(p, Proof::Proven);
    assert!(uniformity.barriers.iter().all(proven), "{program}");
}

/// The last barrier of the program is not proven, all others are.
#[track_caller]
fn refused(f: impl FnOnce(&mut Maker)) -> Cause {
    let (program, uniformity) = analysed(f);
    let (last, others) = uniformity.barriers.split_last().unwrap();
    for proof in others {
        assert_eq!(*proof, Proof::Proven, "{program}");
    }
    match last {
        Proof::Unproven(cause) => *cause,
        Proof::Proven => panic!("proven:\n{program}"),
    }
}
