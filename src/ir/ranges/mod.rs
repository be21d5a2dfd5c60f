//! What integers can be, so that no check is made that cannot fail.
//!
//! `interval` knows the arithmetic; `terms` what values are made of, and which tests lead to a place; `walk` goes
//! through the program with both, and `exits` through its blocks and loops. All of it errs on one side: what is not proven is said to be possible. What
//! is found holds at the one place that it is found for, as it may rest on a test that leads there: an
//! access whose guard was proven must not be made anywhere else.

mod exits;
mod interval;
mod terms;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

use super::{Access, Operand, Program, ValueId};

/// Steps of the walk for each value and local of the program, and those that even a small one may take. A
/// program that takes more gets nothing proven.
const STEPS_EACH: u64 = 500;
const STEPS: u64 = 1 << 20;
const MOST_STEPS: u64 = 1 << 25;

/// What `analyse` found out about a program.
#[derive(Default)]
pub struct Ranges<'p> {
    /// By the place of the access in the program: what of its guard has still to be asked.
    guards: HashMap<*const Access, Option<Operand>>,
    plain: HashSet<ValueId>,
    exact: HashSet<ValueId>,
    natural: HashSet<ValueId>,
    /// The program stays where it is, and as it is.
    program: PhantomData<&'p Program>,
}

/// Looks at a program that has passed `validate`, for subgroups of so many invocations.
pub fn analyse(program: &Program, subgroup: u32) -> Ranges<'_> {
    let size = (program.values.len() + program.locals.len()) as u64;
    let budget = (STEPS + STEPS_EACH.saturating_mul(size)).min(MOST_STEPS);
    walk::Walk::of(program, subgroup, budget)
}

impl Ranges<'_> {
    /// The guard that an access of the program needs; none if it is always in bounds.
    pub fn guard(&self, access: &Access) -> Option<Operand> {
        match self.guards.get(&std::ptr::from_ref(access)) {
            Some(&rest) => rest,
            None => access.guard,
        }
    }

    /// Whether a quotient or remainder has no divisor of 0, and no overflow of its own.
    pub fn is_plain(&self, division: ValueId) -> bool {
        self.plain.contains(&division)
    }

    /// Whether an i32 that is widened is not negative.
    pub fn is_natural(&self, widened: ValueId) -> bool {
        self.natural.contains(&widened)
    }

    /// Whether a sum or difference does not wrap.
    pub fn is_exact(&self, value: ValueId) -> bool {
        self.exact.contains(&value)
    }
}
