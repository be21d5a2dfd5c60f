//! How many workgroups run.

use crate::backend::{BackendInfo, Dispatch};
use crate::error::{Error, Result, Status};
use crate::program::Reflection;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchPlan {
    pub workgroups: [u32; 3],
    /// Their product.
    pub total: u64,
}

/// Settles the grid and checks the immediates. `at_once`: how many workgroups of the program the backend
/// runs at once; that many run if the caller leaves it open. `cooperative`: they must all be co-resident, also
/// without a grid barrier.
#[inline]
pub fn launch(
    reflection: &Reflection,
    info: &BackendInfo,
    dispatch: &Dispatch<'_>,
    at_once: u64,
) -> Result<LaunchPlan> {
    let Dispatch {
        workgroups,
        immediates,
        cooperative,
        ..
    } = *dispatch;
    if immediates.len() as u64 != u64::from(reflection.immediates_size) {
        return Err(Error::new(
            Status::InvalidArgument,
            format!(
                "immediates_size is {} but entry point \"{}\" takes {} bytes of immediates",
                immediates.len(),
                reflection.entry_point,
                reflection.immediates_size
            ),
        )
        .with_fix("Pass exactly the program's immediates_size, as vyre_program_info() gives it."));
    }
    let [x, y, z] = workgroups;
    let workgroups = match workgroups.iter().filter(|&&n| n == 0).count() {
        0 => workgroups,
        3 => [automatic(reflection, info, at_once), 1, 1],
        _ => {
            return Err(Error::new(
                Status::InvalidArgument,
                format!("workgroups is {{{x}, {y}, {z}}}: zero in some dimensions only"),
            )
            .with_fix("Pass at least 1 in each dimension, or {0, 0, 0} for as many as the backend runs at once."));
        }
    };
    if let Some(axis) = (0..3).find(|&axis| !fits(reflection, info, workgroups[axis], axis)) {
        return Err(too_large(reflection, info, workgroups[axis], axis));
    }
    let total = workgroups
        .iter()
        .try_fold(1u64, |total, &n| total.checked_mul(u64::from(n)))
        .ok_or_else(|| {
            too_far(format!(
                "workgroups {{{x}, {y}, {z}}}: their number does not fit 64 bits"
            ))
        })?;
    let most = reflection.max_cooperative_workgroups;
    if (cooperative || reflection.grid_barriers > 0) && total > most {
        let why = match reflection.grid_barriers {
            0 => "is launched cooperatively",
            _ => "meets at a grid barrier",
        };
        let [x, y, z] = workgroups;
        return Err(Error::new(
            Status::GridTooLarge,
            format!(
                "workgroups {{{x}, {y}, {z}}} are {total} in all, but entry point \"{}\" {why} and at most {most} can be co-resident",
                reflection.entry_point
            ),
        )
        .with_fix(format!(
            "Ask for at most {most} workgroups, or for {{0, 0, 0}}: as many as can be co-resident; let each workgroup do several items in a grid-stride loop."
        )));
    }
    Ok(LaunchPlan { workgroups, total })
}

/// As many as run at once, but never more than can meet at a barrier.
fn automatic(reflection: &Reflection, info: &BackendInfo, at_once: u64) -> u32 {
    let at_once = match reflection.grid_barriers {
        0 => at_once,
        _ => at_once.min(reflection.max_cooperative_workgroups),
    };
    let most = info.max_workgroups[0];
    u32::try_from(at_once).map_or(most, |n| n.clamp(1, most))
}

/// An invocation's global id is 32 bits; past that it would wrap, and two invocations be the same.
const INVOCATIONS: u64 = 1 << 32;

fn fits(reflection: &Reflection, info: &BackendInfo, workgroups: u32, axis: usize) -> bool {
    let invocations = u64::from(workgroups) * u64::from(reflection.workgroup_size[axis]);
    workgroups <= info.max_workgroups[axis] && invocations <= INVOCATIONS
}

/// Why so many in that dimension do not fit.
#[cold]
fn too_large(reflection: &Reflection, info: &BackendInfo, workgroups: u32, axis: usize) -> Error {
    let name = ["x", "y", "z"][axis];
    let limit = info.max_workgroups[axis];
    if workgroups > limit {
        return too_far(format!(
            "workgroups.{name} is {workgroups}; this backend runs at most {limit} in that dimension"
        ));
    }
    let size = reflection.workgroup_size[axis];
    let invocations = u64::from(workgroups) * u64::from(size);
    too_far(format!(
        "workgroups.{name} is {workgroups}, of {size} invocations each: {invocations} in all, but global_invocation_id.{name} ends at 4294967295"
    ))
}

fn too_far(message: String) -> Error {
    Error::new(Status::OutOfRange, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{BackendDesc, Choice};

    fn settle(
        reflection: &Reflection,
        info: &BackendInfo,
        workgroups: [u32; 3],
        immediates: &[u8],
        cooperative: bool,
    ) -> Result<LaunchPlan> {
        let dispatch = Dispatch {
            workgroups,
            bindings: vec![],
            immediates,
            timeout: None,
            repeat: 1,
            cooperative,
            timed: false,
            times: 1,
        };
        launch(reflection, info, &dispatch, u64::from(info.units))
    }

    fn setting(
        workgroup_size: [u32; 3],
        grid_barriers: u32,
        most: u64,
    ) -> (Reflection, BackendInfo) {
        let desc = BackendDesc {
            choice: Choice::Cpu,
            ordinal: 0,
            cpu_threads: 3,
        };
        let info = crate::backend::acquire(&desc).unwrap().info().clone();
        let reflection = Reflection {
            entry_point: "main".into(),
            label: None,
            workgroup_size,
            workgroup_memory: 0,
            immediates_size: 8,
            bindings: vec![],
            grid_barriers,
            workgroup_barriers: 0,
            max_cooperative_workgroups: most,
        };
        (reflection, info)
    }

    #[test]
    fn all_zero_means_as_many_as_run_at_once() {
        let (reflection, info) = setting([64, 1, 1], 1, u64::MAX);
        let plan = settle(&reflection, &info, [0; 3], &[0; 8], false).unwrap();
        assert_eq!(
            plan,
            LaunchPlan {
                workgroups: [3, 1, 1],
                total: 3
            }
        );
        let (reflection, info) = setting([64, 1, 1], 1, 2);
        assert_eq!(
            settle(&reflection, &info, [0; 3], &[0; 8], false)
                .unwrap()
                .total,
            2
        );
    }

    #[test]
    fn impossible_grids_are_refused() {
        let (reflection, info) = setting([64, 1, 1], 0, 1);
        let cases = [
            ([0, 1, 1], Status::InvalidArgument, "{0, 1, 1}"),
            (
                [u32::MAX, 1, 1],
                Status::OutOfRange,
                "workgroups.x is 4294967295",
            ),
            (
                [(1 << 26) + 1, 1, 1],
                Status::OutOfRange,
                "global_invocation_id.x",
            ),
            ([1 << 26, u32::MAX, u32::MAX], Status::OutOfRange, "64 bits"),
        ];
        for (workgroups, status, needle) in cases {
            let error = settle(&reflection, &info, workgroups, &[0; 8], false).unwrap_err();
            assert_eq!(error.status(), status, "{error}");
            assert!(error.message().contains(needle), "{error}");
        }
        let last = settle(&reflection, &info, [1 << 26, 1, 1], &[0; 8], false).unwrap();
        assert_eq!(last.total, 1 << 26);
    }

    #[test]
    fn backend_limits_and_co_residency_hold() {
        let (reflection, info) = setting([1; 3], 1, 8);
        let error = settle(&reflection, &info, [3, 3, 1], &[0; 8], false).unwrap_err();
        assert_eq!(error.status(), Status::GridTooLarge);
        assert!(error.message().contains("9 in all") && error.message().contains("at most 8"));
        assert!(error.fix().contains("grid-stride"));
        assert!(settle(&reflection, &info, [2, 2, 2], &[0; 8], false).is_ok());
        let (plain, info) = setting([1; 3], 0, 8);
        assert!(settle(&plain, &info, [9, 1, 1], &[0; 8], false).is_ok());
        let error = settle(&plain, &info, [9, 1, 1], &[0; 8], true).unwrap_err();
        assert!(error.message().contains("cooperatively"), "{error}");
        let mut info = info;
        info.max_workgroups = [100, 4, 100];
        let error = settle(&reflection, &info, [1, 5, 1], &[0; 8], false).unwrap_err();
        assert!(error.message().contains("workgroups.y is 5"), "{error}");
    }

    #[test]
    fn immediates_have_exactly_the_programs_size() {
        let (reflection, info) = setting([1; 3], 0, 1);
        for size in [0, 7, 9] {
            let error = settle(&reflection, &info, [1; 3], &vec![0; size], false).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument);
            assert!(
                error
                    .message()
                    .contains(&format!("immediates_size is {size}"))
            );
            assert!(error.message().contains("takes 8 bytes"));
        }
    }
}
