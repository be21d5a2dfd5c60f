//! Conditions, exits and loops around barriers.

use super::*;
use crate::ir::{Const, Expr, Scalar};

#[test]
fn straight_code_is_accepted() {
    accepted(|m| {
        m.grid();
        m.workgroup();
        m.grid();
    });
}

#[test]
fn a_barrier_under_a_varying_condition_is_refused() {
    let cause = refused(|m| {
        let c = m.varying();
        m.if_(c, |m| m.grid());
    });
    assert_eq!((cause.kind, cause.exit), (ConditionKind::If, None));
    let cause = refused(|m| {
        let c = m.varying();
        m.if_else(c, |_| {}, |m| m.grid());
    });
    assert_eq!(cause.root.level, Level::Varying);
}

#[test]
fn a_barrier_under_an_even_condition_is_accepted() {
    accepted(|m| {
        let c = m.even();
        m.if_else(c, |m| m.grid(), |m| m.workgroup());
    });
}

#[test]
fn paths_meet_again_after_a_varying_condition() {
    accepted(|m| {
        let c = m.varying();
        m.if_else(c, |m| m.assign_new(), |m| m.assign_new());
        m.grid();
        m.block(|m, out| {
            let c = m.varying();
            m.break_if(out, c);
            m.assign_new();
        });
        m.grid();
        m.loop_(
            |m, out| {
                let c = m.varying();
                m.break_if(out, c);
            },
            |_, _| {},
        );
        m.grid();
    });
}

impl Maker {
    fn assign_new(&mut self) {
        let local = self.local(Scalar::U32);
        self.assign(local, Const::u32(1));
    }
}

#[test]
fn a_break_if_that_varies_refuses_the_barrier_in_the_loop() {
    let cause = refused(|m| {
        m.loop_(
            |m, _| m.grid(),
            |m, out| {
                let c = m.varying();
                m.break_if(out, c);
            },
        );
    });
    assert_eq!(cause.kind, ConditionKind::Loop);
    assert!(matches!(cause.exit, Some((Exit::Break, _))));
}

#[test]
fn a_varying_break_after_the_barrier_refuses_it() {
    refused(|m| {
        m.loop_(
            |m, out| {
                m.grid();
                let c = m.varying();
                m.break_if(out, c);
            },
            |_, _| {},
        );
    });
}

#[test]
fn a_loop_left_only_by_return_is_accepted() {
    accepted(|m| {
        m.loop_(|m, _| (m.grid(), m.return_()).0, |_, _| {});
    });
    accepted(|m| {
        m.loop_(
            |m, _| {
                m.grid();
                let c = m.even();
                m.if_(c, |m| m.return_());
            },
            |_, _| {},
        );
    });
    let cause = refused(|m| {
        m.loop_(
            |m, _| {
                m.grid();
                let c = m.varying();
                m.if_(c, |m| m.return_());
            },
            |_, _| {},
        );
    });
    assert!(matches!(cause.exit, Some((Exit::Return, _))));
}

#[test]
fn what_no_path_reaches_is_accepted() {
    accepted(|m| {
        m.loop_(
            |m, _| {
                let c = m.varying();
                m.if_(c, |m| m.return_());
            },
            |_, _| {},
        );
        m.grid();
    });
    accepted(|m| {
        let c = m.varying();
        m.if_else(c, |m| m.return_(), |m| m.return_());
        m.grid();
    });
    accepted(|m| {
        let c = m.varying();
        m.if_(Const::bool(false).into(), |m| {
            m.if_(c, |m| m.grid());
        });
    });
}

#[test]
fn a_barrier_after_a_varying_return_is_refused() {
    let cause = refused(|m| {
        let c = m.varying();
        m.if_(c, |m| m.return_());
        m.grid();
    });
    assert!(matches!(cause.exit, Some((Exit::Return, _))));
    refused(|m| {
        let even = m.even();
        m.if_(even, |m| {
            let c = m.varying();
            m.if_(c, |m| m.return_());
        });
        m.grid();
    });
    refused(|m| {
        m.loop_(
            |m, out| {
                let c = m.varying();
                m.if_(c, |m| m.return_());
                m.break_(out);
            },
            |_, _| {},
        );
        m.grid();
    });
}

#[test]
fn a_barrier_after_an_even_return_is_accepted() {
    accepted(|m| {
        let c = m.even();
        m.if_(c, |m| m.return_());
        m.grid();
    });
}

#[test]
fn an_exit_concerns_only_what_follows_it() {
    // The other branch of an even condition is another way.
    accepted(|m| {
        let even = m.even();
        let c = m.varying();
        m.if_else(even, |m| m.if_(c, |m| m.return_()), |m| m.grid());
    });
    // Before it.
    accepted(|m| {
        m.grid();
        let c = m.varying();
        m.if_(c, |m| m.return_());
    });
    // But in a loop, the other branch may come later.
    refused(|m| {
        m.loop_(
            |m, out| {
                let even = m.even();
                let c = m.varying();
                m.if_else(even, |m| m.if_(c, |m| m.return_()), |m| m.grid());
                let done = m.even();
                m.break_if(out, done);
            },
            |_, _| {},
        );
    });
}

#[test]
fn a_varying_break_counts_until_its_block_ends() {
    let cause = refused(|m| {
        m.block(|m, out| {
            let c = m.varying();
            m.break_if(out, c);
            m.grid();
        });
    });
    assert!(matches!(cause.exit, Some((Exit::Break, _))));
    refused(|m| {
        m.block(|m, outer| {
            m.block(|m, _| {
                let c = m.varying();
                m.break_if(outer, c);
            });
            m.grid();
        });
    });
    accepted(|m| {
        m.block(|m, _| {
            m.block(|m, inner| {
                let c = m.varying();
                m.break_if(inner, c);
            });
            m.grid();
        });
    });
}

#[test]
fn a_varying_continue_counts_until_continuing() {
    accepted(|m| {
        m.loop_(
            |m, l| {
                m.grid();
                let c = m.varying();
                m.if_(c, |m| m.continue_(l));
                m.assign_new();
            },
            |m, l| {
                m.grid();
                let done = m.even();
                m.break_if(l, done);
            },
        );
        m.grid();
    });
    let cause = refused(|m| {
        m.loop_(
            |m, l| {
                let c = m.varying();
                m.if_(c, |m| m.continue_(l));
                m.grid();
            },
            |m, l| {
                let done = m.even();
                m.break_if(l, done);
            },
        );
    });
    assert!(matches!(cause.exit, Some((Exit::Continue, _))));
}

#[test]
fn a_break_past_an_inner_loop_counts_in_both() {
    // The inner loop is left for good by some.
    refused(|m| {
        m.loop_(
            |m, outer| {
                m.loop_(
                    |m, inner| {
                        m.grid();
                        let c = m.varying();
                        m.break_if(outer, c);
                        let done = m.even();
                        m.break_if(inner, done);
                    },
                    |_, _| {},
                );
            },
            |_, _| {},
        );
    });
    // The outer loop's barrier suffers too.
    refused(|m| {
        m.loop_(
            |m, outer| {
                m.grid();
                m.loop_(
                    |m, inner| {
                        let c = m.varying();
                        m.break_if(outer, c);
                        let done = m.even();
                        m.break_if(inner, done);
                    },
                    |_, _| {},
                );
            },
            |_, _| {},
        );
    });
    // A break of the inner loop alone does not touch the outer.
    accepted(|m| {
        m.loop_(
            |m, outer| {
                m.grid();
                m.loop_(
                    |m, inner| {
                        let c = m.varying();
                        m.break_if(inner, c);
                    },
                    |_, _| {},
                );
                m.grid();
                let done = m.even();
                m.break_if(outer, done);
            },
            |_, _| {},
        );
        m.grid();
    });
}

#[test]
fn a_continue_of_the_outer_loop_leaves_the_inner() {
    refused(|m| {
        m.loop_(
            |m, outer| {
                m.loop_(
                    |m, _| {
                        m.grid();
                        let c = m.varying();
                        m.if_(c, |m| m.continue_(outer));
                    },
                    |_, _| {},
                );
            },
            |m, outer| {
                let done = m.even();
                m.break_if(outer, done);
            },
        );
    });
}

#[test]
fn switches_are_conditions() {
    let cause = refused(|m| {
        let gid = m.gid();
        let case = m.body(|m| m.grid());
        m.switch(gid, vec![case]);
    });
    assert_eq!(cause.kind, ConditionKind::Switch);
    accepted(|m| {
        let n = m.load(crate::ir::Region::Immediates, None);
        let cases = vec![m.body(|m| m.grid()), m.body(|m| m.return_())];
        m.switch(n, cases);
        m.grid();
    });
}

#[test]
fn an_even_loop_with_early_exits_is_accepted() {
    accepted(|m| {
        let i = m.local(Scalar::U32);
        m.assign(i, Const::u32(0));
        m.loop_(
            |m, l| {
                let x = m.read(i);
                let limit = m.load(crate::ir::Region::Immediates, None);
                let less = Expr::Compare(crate::ir::CompareOp::Lt, x, limit);
                let goes_on = m.let_(Scalar::Bool, less);
                m.if_else(goes_on, |_| {}, |m| m.break_(l));
                m.grid();
                let c = m.is_zero(x);
                m.if_(c, |m| m.continue_(l));
                m.grid();
                let c = m.is_zero(limit);
                m.if_(c, |m| m.return_());
                m.grid();
            },
            |m, _| {
                let x = m.read(i);
                let next = m.add(x, Const::u32(1).into());
                m.assign(i, next);
            },
        );
        m.grid();
    });
}

#[test]
fn deep_loops_and_long_programs_take_linear_time() {
    // Each loop's exit depends on the local that the next inner one assigns.
    fn nest(m: &mut Maker, local: crate::ir::LocalId, depth: usize) {
        m.loop_(
            |m, l| {
                m.grid();
                if depth > 0 {
                    nest(m, local, depth - 1);
                }
                let x = m.read(local);
                let next = m.add(x, Const::u32(1).into());
                m.assign(local, next);
                let done = m.is_zero(next);
                m.break_if(l, done);
            },
            |_, _| {},
        );
    }
    let started = std::time::Instant::now();
    accepted(|m| {
        let local = m.local(Scalar::U32);
        nest(m, local, 200);
        m.block(|m, out| {
            for _ in 0..20_000 {
                let x = m.read(local);
                let next = m.add(x, Const::u32(1).into());
                m.assign(local, next);
                let c = m.is_zero(next);
                m.break_if(out, c);
            }
        });
        let x = m.read(local);
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
    let took = started.elapsed();
    assert!(took.as_secs() < 10, "took {took:?}");
}
