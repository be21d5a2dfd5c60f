//! What the counter of a module may hold after a launch.

use super::scan::COUNTER;
use crate::error::{Error, Result, Status};

/// Stands in a comment at each grid barrier of the text.
pub const MARKER: &str = "grid.sync barrier #";

/// Grid barriers of a module's text.
pub fn barriers(text: &str) -> u64 {
    text.matches(MARKER).count() as u64
}

/// The most arrivals at `barriers` barriers of a grid.
pub fn ceiling(barriers: u64, grid: [u32; 3]) -> Result<u64> {
    if barriers == 0 {
        return Err(Error::new(
            Status::InvalidProgram,
            format!(
                "the module declares {COUNTER}, but its text has no `{MARKER}`: how far the counter may go is not known"
            ),
        )
        .with_fix(format!(
            "Write the comment `// {MARKER}N` at each grid barrier, as vyre_device.cuh does, or do not declare {COUNTER}."
        )));
    }
    let [x, y, z] = grid;
    grid.iter()
        .try_fold(barriers, |all, &n| all.checked_mul(u64::from(n)))
        // The counter has 32 bits: past that it would wrap, and pass.
        .filter(|&all| u32::try_from(all).is_ok())
        .ok_or_else(|| {
            Error::new(
                Status::OutOfRange,
                format!(
                    "{barriers} grid barriers of {x} x {y} x {z} workgroups are more arrivals than {COUNTER} can count (4294967295)"
                ),
            )
            .with_fix("Launch fewer workgroups.")
        })
}

/// A grid that leaves early may leave the counter lower; a counter that was not reset, or a barrier that is
/// not marked, leaves it higher.
pub fn check(kernel: &str, observed: u32, ceiling: u64) -> Result<()> {
    if u64::from(observed) <= ceiling {
        return Ok(());
    }
    Err(Error::new(
        Status::BarrierAudit,
        format!(
            "the grid barriers of `{kernel}` cannot be trusted: {COUNTER} was {observed} after the launch, and at most {ceiling} is possible"
        ),
    )
    .with_fix(format!(
        "If the kernel's barriers stand in a loop, unroll it, so that each is marked once; if something else launches the module or writes {COUNTER}, stop it: enqueue_reset zeroes the counter before each launch."
    )))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_counter_past_its_ceiling_is_refused_and_below_it_is_not() {
        for (ceiling, passes, refused) in [
            (4u64, &[4, 2, 0][..], &[8, 16, 5][..]),
            (1020, &[1020, 0], &[1021, 2040]),
            (8160, &[8160, 1020, 0], &[8161, 16320]),
        ] {
            for &observed in passes {
                assert!(
                    check("main", observed, ceiling).is_ok(),
                    "{observed} of {ceiling}"
                );
            }
            for &observed in refused {
                let error = check("main", observed, ceiling).unwrap_err();
                assert_eq!(error.status(), Status::BarrierAudit);
                let told = format!("{} {}", error.message(), error.fix());
                for part in [
                    &observed.to_string()[..],
                    &ceiling.to_string(),
                    "_vyre_grid_barrier",
                    "enqueue_reset",
                ] {
                    assert!(told.contains(part), "{part}: {told}");
                }
            }
        }
    }

    #[test]
    fn markers_times_workgroups() {
        let text = |markers: usize| "// grid.sync barrier #0\n".repeat(markers);
        let ceiling = |markers, grid| super::ceiling(barriers(&text(markers)), grid);
        assert_eq!(ceiling(1, [4, 1, 1]).unwrap(), 4);
        assert_eq!(ceiling(3, [4, 1, 1]).unwrap(), 12);
        assert_eq!(ceiling(1, [4, 3, 2]).unwrap(), 24);
        assert_eq!(ceiling(1, [1020, 1, 1]).unwrap(), 1020);
        let error = ceiling(0, [4, 1, 1]).unwrap_err();
        let told = format!("{} {}", error.message(), error.fix());
        assert!(told.contains("grid.sync barrier #"), "{told}");
        for grid in [[u32::MAX; 3], [u32::MAX, 1, 1], [1 << 16, 1 << 14, 1]] {
            let error = ceiling(4, grid).unwrap_err();
            assert_eq!(error.status(), Status::OutOfRange);
        }
    }
}
