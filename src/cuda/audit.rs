//! What a launch says of its grid barriers, held against what must be.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed};

use super::ptx::abi::{GROUPS, Shape, abort, group_size, record};
use crate::error::{Error, Status};

/// In host memory that the device writes to; laid out as `abi::record` says.
#[repr(C, align(16))]
pub struct Record {
    executed: AtomicU64,
    observed: AtomicU64,
    ended: AtomicU64,
    pub aborted: AtomicU32,
    unused: u32,
    arrivals: [AtomicU32; GROUPS as usize],
    releases: [AtomicU32; GROUPS as usize],
}

const _: () = {
    assert!(std::mem::offset_of!(Record, executed) == record::EXECUTED as usize);
    assert!(std::mem::offset_of!(Record, observed) == record::OBSERVED as usize);
    assert!(std::mem::offset_of!(Record, ended) == record::ENDED as usize);
    assert!(std::mem::offset_of!(Record, aborted) == record::ABORTED as usize);
    assert!(std::mem::offset_of!(Record, arrivals) == record::ARRIVALS as usize);
    assert!(std::mem::offset_of!(Record, releases) == record::RELEASES as usize);
    assert!(size_of::<Record>() == record::SIZE as usize);
};

impl Record {
    /// Makes it as new. Zero is never a sequence.
    pub fn clear(&self) {
        for word in [&self.executed, &self.observed, &self.ended] {
            word.store(0, Relaxed);
        }
        self.aborted.store(0, Relaxed);
    }

    /// Whether the launch with that sequence has written it.
    pub fn is_of(&self, sequence: u32) -> bool {
        self.sequenced(sequence).is_some()
    }

    /// The words that the launch with that sequence wrote, if it wrote all.
    fn sequenced(&self, sequence: u32) -> Option<[u32; 3]> {
        let mut values = [0; 3];
        for (value, word) in values
            .iter_mut()
            .zip([&self.executed, &self.observed, &self.ended])
        {
            let word = word.load(Acquire);
            if (word >> 32) as u32 != sequence {
                return None;
            }
            *value = word as u32;
        }
        Some(values)
    }

    /// What the launch with that sequence wrote, if it did, as a grid that meets in that shape does.
    pub fn read(&self, sequence: u32, shape: Shape) -> Option<Audited> {
        let [executed, observed, ended] = self.sequenced(sequence)?;
        let read =
            |words: &[AtomicU32; GROUPS as usize]| words.each_ref().map(|word| word.load(Relaxed));
        let groups = match shape {
            Shape::Counter => None,
            Shape::Groups | Shape::Releases => Some(Groups {
                arrivals: read(&self.arrivals),
                releases: read(&self.releases),
            }),
        };
        Some(Audited {
            executed,
            observed,
            ended,
            groups,
        })
    }

    /// Asks for it ahead of time: what the device wrote is far from the processor.
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 has the instruction, and it reads nothing that could be seen.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>((&raw const *self).cast());
        }
    }

    /// Where a counter of a module's own is copied to after the launch; read by [`Self::read_back`].
    pub fn place_for_counter(&self) -> *mut std::ffi::c_void {
        (&raw const self.arrivals[0]).cast_mut().cast()
    }

    /// What was copied there.
    pub fn read_back(&self) -> u32 {
        self.arrivals[0].load(Acquire)
    }
}

/// What a launch's record proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Grid barriers that the grid passed.
    pub executed: u32,
    /// The slot's counter afterwards.
    observed: u32,
    /// The slot's count of ended workgroups afterwards.
    ended: u32,
    /// If the shape has them.
    groups: Option<Groups>,
}

/// The groups' counts of arrivals and of releases after a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Groups {
    arrivals: [u32; GROUPS as usize],
    releases: [u32; GROUPS as usize],
}

/// What a slot's counts were before a launch.
#[derive(Clone, Copy, Default)]
pub struct Before {
    /// The counter.
    pub base: u32,
    /// The count of ended workgroups.
    pub exit_base: u32,
    /// The groups' counts of arrivals and of releases; the latter are all the same.
    pub arrivals: [u32; GROUPS as usize],
    pub releases: u32,
}

impl Before {
    /// What they are before the next launch, behind one of so many workgroups.
    pub fn settle(&mut self, audited: Audited, workgroups: u64) {
        self.base = audited.observed;
        self.exit_base = audited.ended;
        if let Some(groups) = audited.groups {
            self.arrivals = groups.arrivals;
            if Shape::of(workgroups) == Shape::Releases {
                self.releases = groups.releases[0];
            }
        }
    }
}

/// Why a record proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The kernel gave up: one of `abi::abort`.
    Aborted(u32),
    /// The kernel ended without writing it.
    Unwritten,
    /// Arrivals are missing or too many.
    Arrivals {
        seen: u32,
        expected: u32,
        executed: u32,
    },
    /// Workgroups that ended are missing or too many.
    Ended { seen: u32 },
    /// A group's arrivals, or the releases that it waited for, are missing or too many.
    Group {
        group: u32,
        what: &'static str,
        seen: u32,
        expected: u32,
    },
}

/// Holds what a launch left against what it must be, exactly. `workgroups` arrive at each barrier.
pub fn audit(
    before: Before,
    left: Option<Audited>,
    aborted: u32,
    workgroups: u64,
) -> Result<Audited, Refusal> {
    if aborted != 0 {
        return Err(Refusal::Aborted(aborted));
    }
    let left = left.ok_or(Refusal::Unwritten)?;
    let shape = Shape::of(workgroups);
    // All counts wrap.
    let raised = |by: u32| left.executed.wrapping_mul(by);
    let expected = raised(shape.arrivals(workgroups));
    let seen = left.observed.wrapping_sub(before.base);
    if seen != expected {
        return Err(Refusal::Arrivals {
            seen,
            expected,
            executed: left.executed,
        });
    }
    let check = |group: u32, what, seen: u32, expected| match seen == expected {
        true => Ok(()),
        false => Err(Refusal::Group {
            group,
            what,
            seen,
            expected,
        }),
    };
    if shape != Shape::Counter {
        let groups = left.groups.ok_or(Refusal::Unwritten)?;
        for group in 0..GROUPS {
            let at = group as usize;
            let seen = groups.arrivals[at].wrapping_sub(before.arrivals[at]);
            let all = raised(group_size(group, workgroups));
            check(group, "arrivals", seen, all)?;
            if shape == Shape::Releases {
                let seen = groups.releases[at].wrapping_sub(before.releases);
                check(group, "releases", seen, expected)?;
            }
        }
    }
    let workgroups = workgroups as u32;
    // All of them, or of a quiet launch none.
    let ended = left.ended.wrapping_sub(before.exit_base);
    if ended != workgroups && ended != 0 {
        return Err(Refusal::Ended { seen: ended });
    }
    Ok(left)
}

impl Refusal {
    pub fn error(self, kernel: &str, workgroups: u64) -> Error {
        match self {
            Refusal::Aborted(abort::TIME_LIMIT) | Refusal::Aborted(abort::CANCELLED) => Error::new(
                Status::Timeout,
                format!("the dispatch of `{kernel}` passed its time limit and was stopped"),
            ),
            Refusal::Aborted(abort::UNEVEN) => Error::new(
                Status::BarrierAudit,
                format!(
                    "not all of the {workgroups} workgroups of `{kernel}` met at a gridBarrier(): one had ended while another waited there"
                ),
            ),
            Refusal::Aborted(cause) => Error::new(
                Status::DispatchFailed,
                format!("the dispatch of `{kernel}` was stopped for cause {cause}"),
            ),
            Refusal::Ended { seen } => Error::new(
                Status::BarrierAudit,
                format!(
                    "gridBarrier() cannot be trusted in `{kernel}`: {seen} workgroups were seen to end, {workgroups} were expected"
                ),
            ),
            Refusal::Unwritten => Error::new(
                Status::BarrierAudit,
                format!(
                    "the dispatch of `{kernel}` ended without the record of its gridBarrier() calls: not all of its {workgroups} workgroups ran to their end"
                ),
            ),
            Refusal::Arrivals {
                seen,
                expected,
                executed,
            } => {
                let arriving = match Shape::of(workgroups) {
                    Shape::Counter => String::new(),
                    Shape::Groups | Shape::Releases => format!(" in {GROUPS} groups"),
                };
                Error::new(
                    Status::BarrierAudit,
                    format!(
                        "gridBarrier() did not hold in `{kernel}`: {seen} arrivals were seen, {expected} were expected ({executed} barriers x {workgroups} workgroups{arriving})"
                    ),
                )
            }
            Refusal::Group {
                group,
                what,
                seen,
                expected,
            } => Error::new(
                Status::BarrierAudit,
                format!(
                    "gridBarrier() did not hold in `{kernel}`: {seen} {what} of group {group} of its {workgroups} workgroups were seen, {expected} were expected"
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(executed: u32, observed: u32, ended: u32) -> Audited {
        Audited {
            executed,
            observed,
            ended,
            groups: None,
        }
    }

    fn before(base: u32, exit_base: u32) -> Before {
        Before {
            base,
            exit_base,
            ..Before::default()
        }
    }

    #[test]
    fn the_audit_is_an_equality_that_wraps() {
        let passed = |base, executed, observed| {
            let record = left(executed, observed, 7 + 132);
            assert_eq!(audit(before(base, 7), Some(record), 0, 132), Ok(record));
        };
        passed(0, 0, 0);
        passed(10, 3, 406);
        passed(u32::MAX - 100, 2, 163);
        for observed in [405, 407, 10, 0, 406 + 396] {
            let refused = audit(before(10, 7), Some(left(3, observed, 139)), 0, 132).unwrap_err();
            assert!(matches!(refused, Refusal::Arrivals { expected: 396, .. }));
            let error = refused.error("main", 132);
            assert_eq!(error.status(), Status::BarrierAudit);
            assert!(error.message().contains("396 were expected"), "{error}");
        }
    }

    #[test]
    fn all_workgroups_end_or_are_not_counted() {
        let ended = |ended| audit(before(0, u32::MAX - 3), Some(left(0, 0, ended)), 0, 8);
        assert!(ended(4).is_ok() && ended(u32::MAX - 3).is_ok());
        for wrong in [3, 5, 0, u32::MAX - 4] {
            let error = ended(wrong).unwrap_err().error("main", 8);
            assert_eq!(error.status(), Status::BarrierAudit);
            assert!(error.message().contains("8 were expected"), "{error}");
        }
    }

    #[test]
    fn each_group_is_audited_by_itself() {
        // 1501 workgroups: 188 in the first five groups, 187 in the others.
        let sizes: [u32; 8] = std::array::from_fn(|group| group_size(group as u32, 1501));
        assert_eq!(sizes, [188, 188, 188, 188, 188, 187, 187, 187]);
        assert_eq!(sizes.iter().sum::<u32>(), 1501);
        let start = Before {
            arrivals: std::array::from_fn(|group| u32::MAX - group as u32),
            releases: u32::MAX - 3,
            ..before(u32::MAX - 2, 0)
        };
        let right = Groups {
            arrivals: std::array::from_fn(|at| start.arrivals[at].wrapping_add(3 * sizes[at])),
            releases: [start.releases.wrapping_add(3 * 8); 8],
        };
        let with = |groups| {
            let left = Audited {
                groups,
                ..left(3, start.base.wrapping_add(3 * 8), 1501)
            };
            audit(start, Some(left), 0, 1501)
        };
        assert_eq!(with(Some(right)).unwrap().groups, Some(right));
        assert_eq!(with(None), Err(Refusal::Unwritten));
        let mut wrong = right;
        // What one group has too many another has too few.
        wrong.arrivals.swap(1, 6);
        let error = with(Some(wrong)).unwrap_err().error("main", 1501);
        assert_eq!(error.status(), Status::BarrierAudit);
        assert!(error.message().contains("arrivals of group 1"), "{error}");
        let mut wrong = right;
        wrong.releases[7] = wrong.releases[7].wrapping_sub(8);
        let error = with(Some(wrong)).unwrap_err().error("main", 1501);
        assert!(
            error.message().contains("16 releases of group 7"),
            "{error}"
        );
    }

    #[test]
    fn a_kernel_that_left_nothing_behind_proves_nothing() {
        assert_eq!(audit(before(0, 0), None, 0, 8), Err(Refusal::Unwritten));
        assert_eq!(
            audit(before(0, 0), Some(left(1, 8, 8)), abort::TIME_LIMIT, 8),
            Err(Refusal::Aborted(abort::TIME_LIMIT))
        );
        let error = Refusal::Aborted(abort::TIME_LIMIT).error("main", 8);
        assert_eq!(error.status(), Status::Timeout);
    }
}
