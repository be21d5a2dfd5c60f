//! Large grids meet in groups.

use super::{ARRIVALS, BASE, EXIT_BASE, RELEASES, bytes, kernel, words};
use vyre::cuda::ptx::abi::{self, Shape};

#[test]
fn groups_of_workgroups_meet_and_each_counts_its_own() {
    let loaded = kernel(
        "for (var k = 0u; k < input[0]; k++) {
            let next = out[(i + 9u) % 152u]; gridBarrier(); out[i] = next + 1u; gridBarrier();
        }",
    );
    for (shape, quiet) in [
        (Shape::Groups, false),
        (Shape::Groups, true),
        (Shape::Releases, false),
    ] {
        for rounds in [0, 1, 3] {
            let start: Vec<u32> = (0..152).collect();
            let mut contents = vec![bytes(&start), bytes(&[rounds])];
            let outcome = loaded.launch_as((quiet, shape), [19, 1, 1], &mut contents, u64::MAX, 0);
            let expected: Vec<u32> = (0..152).map(|i| (i + 9 * rounds) % 152 + rounds).collect();
            assert_eq!(words(&contents[0]), expected);
            assert_eq!((outcome.executed, outcome.sequence), (2 * rounds, 77));
            assert_eq!(outcome.observed, BASE.wrapping_add(2 * rounds * 8));
            let ended = if quiet { 0 } else { 19 };
            assert_eq!(outcome.ended.wrapping_sub(EXIT_BASE), ended);
            for (group, before) in ARRIVALS.into_iter().enumerate() {
                let arrived = outcome.arrivals[group].wrapping_sub(before);
                assert_eq!(arrived, 2 * rounds * abi::group_size(group as u32, 19));
                // Where nobody waits for releases, nothing is said of them.
                let released = match shape {
                    Shape::Releases => RELEASES.wrapping_add(2 * rounds * 8),
                    _ => 0,
                };
                assert_eq!(outcome.releases[group], released);
            }
        }
    }
}
