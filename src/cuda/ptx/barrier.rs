//! Meeting at barriers.
//!
//! A workgroup's leader arrives at a counter for all of it, between two barriers of the workgroup: the
//! first brings everybody's writes behind the arrival (release), the second everybody behind what the leader saw
//! (acquire). The second also tells whether they were really released; if not, the launch is to end, and all
//! leave.
//!
//! The leader's whole warp waits with it: a warp that stays together polls and goes on sooner. Where a barrier is
//! not proven to be reached by all, the leader waits alone.

use super::abi::{GROUPS, slot};
use super::emitter::{Control, Emitter, GroupRegisters, SlotRegisters};
use super::text::{Class, LabelName, Reg, Val};
use crate::ir::{BarrierId, Scope};

/// Polls of the counter between two looks at the abort word and the clock; a power of two.
const POLLS: u64 = 256;

/// Those who wait at a barrier for their workgroup, and the registers of one meeting.
struct Meeting {
    /// The lanes of the leader's warp, as bits, if they are there too.
    lanes: Option<u64>,
    wait: LabelName,
    passed: LabelName,
}

impl Emitter<'_> {
    /// One of the words that all workgroups share, as an instruction's operand.
    pub fn word(&self, which: u32) -> String {
        match self.control().slot {
            Some(SlotRegisters { slot, .. }) => format!("[{slot}+{which}]"),
            None if which == slot::ABORT => "[_vyre_grid_abort]".to_owned(),
            None => "[_vyre_grid_barrier]".to_owned(),
        }
    }

    pub fn control(&self) -> &Control {
        (self.control.as_ref()).expect("a program with barriers or polls has a barrier block")
    }

    pub fn barrier(&mut self, id: BarrierId) {
        match self.program.barriers[id.index()].scope {
            Scope::Workgroup if self.uniformity.is_proven(id) => self.put("bar.sync 0"),
            // The invocations of a warp may come here one by one, which `bar` does not allow.
            Scope::Workgroup => self.put("barrier.sync 0"),
            Scope::Grid => self.grid_barrier(id),
            Scope::Subgroup => self.subgroup_barrier(id),
        }
    }

    fn grid_barrier(&mut self, id: BarrierId) {
        let site = (self.program.barriers[..id.index()].iter())
            .filter(|barrier| barrier.scope == Scope::Grid)
            .count();
        let is_proven = self.uniformity.is_proven(id);
        let bar = if is_proven { "bar" } else { "barrier" };
        let lanes = is_proven.then(|| {
            let lanes = self.program.workgroup_invocations().min(32);
            u64::from(u32::MAX >> (32 - lanes))
        });
        let &Control {
            groups,
            target,
            step,
            executed,
            is_leader,
            in_first_warp,
            ..
        } = self.control();
        let [wait, passed] = [0; 2].map(|_| self.new_label());
        let meeting = Meeting {
            lanes,
            wait,
            passed,
        };
        self.comment(format_args!("grid.sync barrier #{site}"));
        let leaves = self.reg(Class::Pred);
        self.mov(leaves, Val::Int(0));
        self.into(target, "add.u32", &[target.into(), step.into()]);
        if let Some(groups) = groups {
            let GroupRegisters {
                arrived, released, ..
            } = groups;
            self.into(arrived, "add.u32", &[arrived.into(), groups.share.into()]);
            self.into(released, "add.u32", &[released.into(), step.into()]);
        }
        self.put(format_args!("{bar}.sync 0"));
        let waits = if lanes.is_some() {
            in_first_warp
        } else {
            is_leader
        };
        self.branch_if(waits.into(), false, passed);

        // The result is used, so that the first poll comes a round trip later and disturbs fewer arrivals. It acquires,
        // too, for who arrives last: that one waits for nobody, but must see what the others wrote. (A fence there
        // costs every barrier 100 ns; this costs nothing that was seen.)
        let (at, all) = match groups {
            Some(groups) => (format!("[{}+0]", groups.arrives_at), groups.arrived),
            None => (self.word(slot::COUNTER), target),
        };
        let is_last = self.arrive(&at, all, &meeting);
        match groups {
            Some(GroupRegisters { in_groups, .. }) => {
                let forward = self.new_label();
                self.branch_if(is_last, false, wait);
                self.branch_if(in_groups.into(), false, passed);
                self.put(format_args!("bra {forward}"));
                self.aside(|e| {
                    e.place(forward);
                    e.forward(&meeting);
                });
            }
            None => self.branch_if(is_last, true, passed),
        }
        self.wait_for_release(&meeting, leaves);

        self.place(passed);
        let is_over = self.reg(Class::Pred);
        self.put(format_args!("{bar}.red.or.pred {is_over}, 0, {leaves}"));
        self.put(format_args!("@{is_over} exit"));
        self.into(executed, "add.u32", &[executed.into(), Val::Int(1)]);
    }

    /// The leader's arrival at a counter; whether it was the last one, which all who wait here know.
    fn arrive(&mut self, at: &str, all: Reg, meeting: &Meeting) -> Val {
        let is_leader = self.control().is_leader;
        let old = self.reg(Class::B32);
        let atom = format!("atom.add.acq_rel.gpu.global.u32 {old}, {at}, 1");
        match meeting.lanes {
            None => self.put(atom),
            Some(lanes) => {
                self.mov(old, Val::Int(0));
                self.put(format_args!("@{is_leader} {atom}"));
                self.put(format_args!(
                    "shfl.sync.idx.b32 {old}, {old}, 0, 31, {lanes:#x}"
                ));
            }
        }
        let now = self.op32("add.u32", &[old.into(), Val::Int(1)]);
        self.reached(now, all)
    }

    /// Whether a counter has come to the target; both wrap, so their difference is compared.
    pub fn reached(&mut self, counter: Val, target: Reg) -> Val {
        let ahead = self.op32("sub.s32", &[counter, target.into()]);
        self.pred("setp.ge.s32", &[ahead, Val::Int(0)])
    }

    /// Who is the last one of its group arrives for it; who is the last one of all releases the groups that wait
    /// each at a word of its own. Then it waits as others do, or need not.
    fn forward(&mut self, meeting: &Meeting) {
        let &Control {
            target, is_leader, ..
        } = self.control();
        let Some(GroupRegisters { own_words, .. }) = self.control().groups else {
            return;
        };
        let counter = self.word(slot::COUNTER);
        let is_last = self.arrive(&counter, target, meeting);
        self.branch_if(is_last, false, meeting.wait);
        self.branch_if(own_words.into(), false, meeting.passed);
        // Behind all that was acquired here.
        self.put("fence.acq_rel.gpu");
        for group in 0..GROUPS {
            let word = self.word(slot::GROUPS + group * slot::GROUP_STRIDE + slot::RELEASES);
            self.put(format_args!(
                "@{is_leader} red.relaxed.gpu.global.add.u32 {word}, {GROUPS}"
            ));
        }
        self.put(format_args!("bra {}", meeting.passed));
    }

    /// Polls until it is released, or until all are to leave: that is said in `leaves`. What is seldom done stands
    /// aside, so that the usual way is short: every launch fetches its instructions anew.
    fn wait_for_release(&mut self, meeting: &Meeting, leaves: Reg) {
        let (word, target) = match self.control().groups {
            Some(groups) => (format!("[{}+0]", groups.waits_at), groups.released),
            None => (self.word(slot::COUNTER), self.control().target),
        };
        let poll = self.new_label();
        self.place(meeting.wait);
        let polls = self.reg(Class::B32);
        self.mov(polls, Val::Int(0));
        self.place(poll);
        let seen = self.reg(Class::B32);
        self.put(format_args!("ld.acquire.gpu.global.u32 {seen}, {word}"));
        let is_released = self.reached(seen.into(), target);
        self.branch_if(is_released, true, meeting.passed);
        self.into(polls, "add.u32", &[polls.into(), Val::Int(1)]);
        let round = self.op32("and.b32", &[polls.into(), Val::Int(POLLS - 1)]);
        let is_due = self.pred("setp.eq.u32", &[round, Val::Int(0)]);
        self.branch_if(is_due, false, poll);
        let [look, left] = [0; 2].map(|_| self.new_label());
        self.put(format_args!("bra {look}"));
        self.aside(|e| {
            e.place(look);
            e.look_for_ended(poll, left);
            e.look(left);
            e.put(format_args!("bra {poll}"));
            e.place(left);
            e.mov(leaves, Val::Int(1));
            e.put(format_args!("bra {}", meeting.passed));
        });
    }
}
