//! The end of a launch: who ends last says what the grid passed.

use super::abi::{GROUPS, record, slot};
use super::emitter::{Control, Emitter, GroupRegisters, SlotRegisters};
use super::text::{Class, LabelName, Reg, Val};
use crate::ir::{BarrierId, Scope};

impl Emitter<'_> {
    /// At a workgroup's end: it counts as ended, and the last one of the grid writes the record.
    pub fn end(&mut self) {
        if !self.program.has_grid_barrier() {
            return;
        }
        let at = (self.parameters.control).expect("a program with barriers has a barrier block");
        let Some(SlotRegisters { slot, .. }) = self.control().slot else {
            return;
        };
        let &Control {
            is_leader,
            workgroups,
            ..
        } = self.control();
        let done = self.new_label();
        self.end_quietly(done);
        self.comment("the workgroup that ends last says what it passed");
        // Behind everything that the workgroup wrote; some of it may have returned early.
        self.put("barrier.sync 0");
        self.branch_if(is_leader.into(), false, done);
        let old = self.reg(Class::B32);
        self.put(format_args!(
            "atom.add.acq_rel.gpu.global.u32 {old}, [{slot}+{}], 1",
            slot::EXIT
        ));
        let before = self.parameter_word(at.exit_base);
        let ended = self.op32("sub.u32", &[old.into(), before.into()]);
        let ended = self.op32("add.u32", &[ended, Val::Int(1)]);
        let is_other = self.pred("setp.ne.u32", &[ended, workgroups.into()]);
        self.branch_if(is_other, true, done);
        let after = self.op(Class::B32, "add.u32", &[old.into(), Val::Int(1)]);
        self.write_record(after, true);
        self.place(done);
    }

    /// A launch that others follow before anybody waits: its end need not be seen, so it is not counted, and
    /// the first workgroup says what it passed. Not where barriers are not proven: there the count of ended
    /// workgroups is what finds a lie.
    fn end_quietly(&mut self, done: LabelName) {
        let is_proven = (self.program.barriers.iter().enumerate()).all(|(id, barrier)| {
            barrier.scope != Scope::Grid || self.uniformity.is_proven(BarrierId(id as u32))
        });
        let Some(at) = self.parameters.control.filter(|_| is_proven) else {
            return;
        };
        let is_leader = self.control().is_leader;
        let loud = self.new_label();
        self.comment("the first workgroup says what it passed, if others follow");
        let quiet = self.parameter_word(at.quiet);
        let is_loud = self.pred("setp.eq.u32", &[quiet.into(), Val::Int(0)]);
        self.branch_if(is_loud, true, loud);
        self.branch_if(is_leader.into(), false, done);
        let id = ["x", "y", "z"].map(|axis| {
            let reg = self.reg(Class::B32);
            self.put(format_args!("mov.u32 {reg}, %ctaid.{axis}"));
            Val::from(reg)
        });
        let any = self.op32("or.b32", &[id[0], id[1]]);
        let any = self.op32("or.b32", &[any, id[2]]);
        let is_other = self.pred("setp.ne.u32", &[any, Val::Int(0)]);
        self.branch_if(is_other, true, done);
        let before = self.parameter_word(at.exit_base);
        self.write_record(before, false);
        self.put(format_args!("bra {done}"));
        self.place(loud);
    }

    /// Fills the record; behind everything that the grid wrote, if that was acquired and is to be seen.
    fn write_record(&mut self, ended: Reg, releases: bool) {
        let at = (self.parameters.control).expect("a program with barriers has a barrier block");
        let Some(SlotRegisters { slot, record, .. }) = self.control().slot else {
            return;
        };
        let executed = self.control().executed;
        let observed = self.reg(Class::B32);
        self.put(format_args!(
            "ld.relaxed.gpu.global.u32 {observed}, [{slot}+{}]",
            slot::COUNTER
        ));
        let sequence = self.parameter_word(at.sequence);
        self.write_groups();
        if releases {
            self.put("fence.acq_rel.sys");
        }
        for (offset, value) in record::SEQUENCED
            .into_iter()
            .zip([executed, observed, ended])
        {
            let word = self.reg(Class::B64);
            self.put(format_args!("mov.b64 {word}, {{{value}, {sequence}}}"));
            self.put(format_args!(
                "st.relaxed.sys.global.u64 [{record}+{offset}], {word}"
            ));
        }
    }

    /// What the groups' counters hold, as far as they were used. The host's memory takes each store by itself, so there
    /// are few.
    fn write_groups(&mut self) {
        let Some(GroupRegisters {
            in_groups,
            own_words,
            ..
        }) = self.control().groups
        else {
            return;
        };
        let Some(SlotRegisters { slot, record, .. }) = self.control().slot else {
            return;
        };
        let [groups, done] = [0; 2].map(|_| self.new_label());
        self.branch_if(in_groups.into(), true, groups);
        self.place(done);
        self.aside(|e| {
            e.place(groups);
            e.copy_groups(slot, slot::ARRIVALS, record, record::ARRIVALS);
            e.branch_if(own_words.into(), false, done);
            e.copy_groups(slot, slot::RELEASES, record, record::RELEASES);
            e.put(format_args!("bra {done}"));
        });
    }

    /// Copies one word of each group from the slot to the record.
    fn copy_groups(&mut self, slot: Reg, word: u32, record: Reg, place: u32) {
        let seen = [0; GROUPS as usize].map(|_| self.reg(Class::B32));
        for (group, seen) in (0..).zip(seen) {
            let word = slot::GROUPS + group * slot::GROUP_STRIDE + word;
            self.put(format_args!(
                "ld.relaxed.gpu.global.u32 {seen}, [{slot}+{word}]"
            ));
        }
        for (at, four) in (place..).step_by(16).zip(seen.chunks(4)) {
            let [a, b, c, d] = four else {
                unreachable!("groups come in fours")
            };
            self.put(format_args!(
                "st.relaxed.sys.global.v4.u32 [{record}+{at}], {{{a}, {b}, {c}, {d}}}"
            ));
        }
    }
}

const _: () = assert!(GROUPS.is_multiple_of(4) && record::ARRIVALS.is_multiple_of(16));
const _: () = assert!(record::RELEASES.is_multiple_of(16));
