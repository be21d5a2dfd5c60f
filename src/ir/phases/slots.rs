//! Places for what lives across a cut.

use super::liveness::Item;
use crate::ir::uniformity::{Level, Uniformity};
use crate::ir::{LocalId, Node, Program, Scalar, Scope, ValueId};

/// How long a place has to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Keep {
    /// While its workgroup runs without meeting a grid barrier.
    Workgroup,
    /// For the whole dispatch, across grid barriers.
    Grid,
}

/// Who sees one copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sharing {
    /// Proven equal in the whole workgroup: one copy for all.
    Workgroup,
    Invocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub ty: Scalar,
    pub keep: Keep,
    pub sharing: Sharing,
}

/// The slot of a saved item; an index into [`Slots::slots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub u32);

/// All places of a program.
#[derive(Debug)]
pub struct Slots {
    pub slots: Vec<Slot>,
    values: Vec<Option<Place>>,
    locals: Vec<Option<Place>>,
    /// By workgroup variable: how long its contents matter; `None` when they matter across no cut.
    pub workgroup: Vec<Option<Keep>>,
    /// By private array, likewise.
    pub private: Vec<Option<Keep>>,
    /// Whose zero contents at the start may be read.
    pub workgroup_zeroed: Vec<bool>,
    pub private_zeroed: Vec<bool>,
}

impl Slots {
    pub(super) fn assign(
        program: &Program,
        uniformity: &Uniformity,
        cuts: &[(Option<Scope>, &[Item])],
        recompute: &[Option<&Node>],
    ) -> Slots {
        let mut slots = Slots {
            slots: Vec::new(),
            values: vec![None; program.values.len()],
            locals: vec![None; program.locals.len()],
            workgroup: vec![None; program.workgroup.len()],
            private: vec![None; program.private.len()],
            workgroup_zeroed: vec![false; program.workgroup.len()],
            private_zeroed: vec![false; program.private.len()],
        };
        for (scope, items) in cuts {
            for item in *items {
                if let Item::Value(id) = item
                    && recompute[id.index()].is_some()
                {
                    continue;
                }
                match scope {
                    None => slots.live_at_start(*item),
                    Some(Scope::Subgroup | Scope::Workgroup) => {
                        slots.keep(program, uniformity, *item, Keep::Workgroup)
                    }
                    Some(Scope::Grid) => slots.keep(program, uniformity, *item, Keep::Grid),
                }
            }
        }
        slots
    }

    fn live_at_start(&mut self, item: Item) {
        match item {
            Item::Workgroup(id) => self.workgroup_zeroed[id.index()] = true,
            Item::Private(id) => self.private_zeroed[id.index()] = true,
            Item::Value(_) | Item::Local(_) => {}
        }
    }

    fn keep(&mut self, program: &Program, uniformity: &Uniformity, item: Item, keep: Keep) {
        let longer = |old: &mut Option<Keep>| *old = (*old).max(Some(keep));
        let (place, ty, level) = match item {
            Item::Workgroup(id) => return longer(&mut self.workgroup[id.index()]),
            Item::Private(id) => return longer(&mut self.private[id.index()]),
            Item::Value(id) => (
                &mut self.values[id.index()],
                program.value_type(id),
                uniformity.values[id.index()],
            ),
            Item::Local(id) => (
                &mut self.locals[id.index()],
                program.local_type(id),
                uniformity.locals[id.index()],
            ),
        };
        match *place {
            Some(place) => {
                let slot = &mut self.slots[place.0 as usize];
                slot.keep = slot.keep.max(keep);
            }
            None => {
                *place = Some(Place(self.slots.len() as u32));
                self.slots.push(Slot {
                    ty,
                    keep,
                    sharing: match level {
                        Level::Grid | Level::Workgroup => Sharing::Workgroup,
                        Level::Subgroup | Level::Varying => Sharing::Invocation,
                    },
                });
            }
        }
    }

    pub fn slot(&self, place: Place) -> Slot {
        self.slots[place.0 as usize]
    }

    pub fn of_value(&self, id: ValueId) -> Option<Place> {
        self.values[id.index()]
    }

    pub fn of_local(&self, id: LocalId) -> Option<Place> {
        self.locals[id.index()]
    }
}
