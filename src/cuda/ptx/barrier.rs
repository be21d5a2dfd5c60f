//! Meeting at barriers, and the end of every wait.
//!
//! A workgroup's leader arrives at the slot's counter for all of it, between two barriers of the
//! workgroup: the first brings everybody's writes behind the arrival (release), the second everybody
//! behind what the leader saw (acquire). The second also tells whether the leader was really released; if not,
//! the launch is to end, and all leave.

use super::abi::{Contract, abort, record, slot};
use super::emitter::{Control, Emitter, SlotRegisters};
use super::text::{Class, LabelName, Reg, Val};
use crate::ir::{BarrierId, Scope};

/// Polls of the counter between two looks at the abort word and the clock; a power of two.
const POLLS: u64 = 256;
/// Turns of polled loops between two such looks; a power of two.
const TURNS: u64 = 256;

impl Emitter<'_> {
    /// Reads the barrier block, on entry.
    pub fn set_up_control(&mut self) {
        let Some(at) = self.parameters.control else {
            return;
        };
        if self.contract == Contract::ModuleScope && !self.program.has_grid_barrier() {
            return;
        }
        let parameter = |e: &mut Self, class: Class, offset: u32| {
            let ty = if class == Class::B64 { "u64" } else { "u32" };
            let reg = e.reg(class);
            e.put(format_args!(
                "ld.param.{ty} {reg}, [vyre_arguments+{offset}]"
            ));
            reg
        };
        let control = self.once(|e| {
            e.comment("the launch slot, and how long to wait");
            let slot = (e.contract == Contract::LaunchSlot).then(|| {
                let slot = parameter(e, Class::B64, at.slot);
                let record = parameter(e, Class::B64, at.record);
                for address in [slot, record] {
                    e.put(format_args!("cvta.to.global.u64 {address}, {address}"));
                }
                SlotRegisters {
                    slot,
                    record,
                    limit: parameter(e, Class::B64, at.limit),
                }
            });
            let target = match slot {
                Some(_) => parameter(e, Class::B32, at.base),
                None => {
                    let target = e.reg(Class::B32);
                    e.mov(target, Val::Int(0));
                    target
                }
            };
            let grid = e.parameters.workgroups;
            let axes = [("x", 0), ("y", 4), ("z", 8)].map(|(axis, at)| match slot {
                Some(_) => parameter(e, Class::B32, grid + at),
                None => {
                    let reg = e.reg(Class::B32);
                    e.put(format_args!("mov.u32 {reg}, %nctaid.{axis}"));
                    reg
                }
            });
            let [x, y, z] = axes.map(Val::from);
            let plane = e.op32("mul.lo.u32", &[x, y]);
            let workgroups = e.op(Class::B32, "mul.lo.u32", &[plane, z]);
            let [executed, turns] = [0; 2].map(|_| e.reg(Class::B32));
            let since = e.reg(Class::B64);
            for counter in [executed, turns, since] {
                e.mov(counter, Val::Int(0));
            }
            let id = ["x", "y", "z"].map(|axis| {
                let reg = e.reg(Class::B32);
                e.put(format_args!("mov.u32 {reg}, %tid.{axis}"));
                Val::from(reg)
            });
            let any = e.op32("or.b32", &[id[0], id[1]]);
            let any = e.op32("or.b32", &[any, id[2]]);
            let is_leader = e.op(Class::Pred, "setp.eq.u32", &[any, Val::Int(0)]);
            Control {
                slot,
                target,
                workgroups,
                executed,
                turns,
                since,
                is_leader,
            }
        });
        self.control = Some(control);
    }

    /// One of the words that all workgroups share, as an instruction's operand.
    fn word(&self, which: u32) -> String {
        match self.control().slot {
            Some(SlotRegisters { slot, .. }) => format!("[{slot}+{which}]"),
            None if which == slot::ABORT => "[_vyre_grid_abort]".to_owned(),
            None => "[_vyre_grid_barrier]".to_owned(),
        }
    }

    fn control(&self) -> &Control {
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
        let bar = match self.uniformity.is_proven(id) {
            true => "bar",
            false => "barrier",
        };
        let &Control {
            target,
            workgroups,
            executed,
            is_leader,
            ..
        } = self.control();
        let counter = self.word(slot::COUNTER);
        let [waited, spin, again, left] = [0; 4].map(|_| self.new_label());
        self.comment(format_args!("grid.sync barrier #{site}"));
        let leaves = self.reg(Class::Pred);
        self.mov(leaves, Val::Int(0));
        self.into(target, "add.u32", &[target.into(), workgroups.into()]);
        self.put(format_args!("{bar}.sync 0"));
        self.branch_if(is_leader.into(), false, waited);

        // The result is used, so that the first poll comes a round trip later and disturbs fewer arrivals. It acquires,
        // too, for who arrives last: that one waits for nobody, but must see what the others wrote. (A fence there
        // costs every barrier 100 ns; this costs nothing that was seen.)
        let old = self.reg(Class::B32);
        self.put(format_args!(
            "atom.add.acq_rel.gpu.global.u32 {old}, {counter}, 1"
        ));
        let now = self.op32("add.u32", &[old.into(), Val::Int(1)]);
        let polls = self.reg(Class::B32);
        self.mov(polls, Val::Int(0));
        self.branch_if_reached(now, waited);

        // The first poll stands before the loop: the assembler gives way to other warps at a loop's head.
        let seen = self.reg(Class::B32);
        self.put(format_args!("ld.acquire.gpu.global.u32 {seen}, {counter}"));
        self.branch_if_reached(seen.into(), waited);
        self.place(spin);
        self.into(polls, "add.u32", &[polls.into(), Val::Int(1)]);
        let round = self.op32("and.b32", &[polls.into(), Val::Int(POLLS - 1)]);
        let go_on = self.pred("setp.ne.u32", &[round, Val::Int(0)]);
        self.branch_if(go_on, true, again);
        self.look_for_ended(again, left);
        self.look(left);
        self.place(again);
        let seen = self.reg(Class::B32);
        self.put(format_args!("ld.acquire.gpu.global.u32 {seen}, {counter}"));
        self.branch_if_reached(seen.into(), waited);
        self.put(format_args!("bra {spin}"));

        self.place(left);
        self.mov(leaves, Val::Int(1));
        self.place(waited);
        let is_over = self.reg(Class::Pred);
        self.put(format_args!("{bar}.red.or.pred {is_over}, 0, {leaves}"));
        self.put(format_args!("@{is_over} exit"));
        self.into(executed, "add.u32", &[executed.into(), Val::Int(1)]);
    }

    /// To `label` if the counter has come to the target; both wrap, so their difference is compared.
    fn branch_if_reached(&mut self, counter: Val, label: LabelName) {
        let target = self.control().target;
        let ahead = self.op32("sub.s32", &[counter, target.into()]);
        let reached = self.pred("setp.ge.s32", &[ahead, Val::Int(0)]);
        self.branch_if(reached, true, label);
    }

    /// Goes to `leave` if everybody is to leave, or if the time is over: then it says so to all.
    fn look(&mut self, leave: LabelName) {
        let &Control { slot, since, .. } = self.control();
        let word = self.word(slot::ABORT);
        let cause = self.reg(Class::B32);
        self.put(format_args!("ld.relaxed.gpu.global.u32 {cause}, {word}"));
        let is_over = self.pred("setp.ne.u32", &[cause.into(), Val::Int(0)]);
        self.branch_if(is_over, true, leave);
        // Without a slot only the host looks at the time.
        let Some(SlotRegisters { limit, .. }) = slot else {
            return;
        };
        let in_time = self.new_label();
        let now = self.reg(Class::B64);
        self.put(format_args!("mov.u64 {now}, %globaltimer"));
        let is_first = self.pred("setp.eq.u64", &[since.into(), Val::Int(0)]);
        self.into(since, "selp.b64", &[now.into(), since.into(), is_first]);
        let passed = self.op64("sub.u64", &[now.into(), since.into()]);
        let is_late = self.pred("setp.gt.u64", &[passed, limit.into()]);
        self.branch_if(is_late, false, in_time);
        self.abort(abort::TIME_LIMIT, leave);
        self.place(in_time);
    }

    /// A workgroup that has ended passed every barrier before, so who waits for it must find the counter
    /// at the target; else it waits for ever.
    fn look_for_ended(&mut self, spin: LabelName, leave: LabelName) {
        let at = (self.parameters.control).expect("a program with barriers has a barrier block");
        let Some(SlotRegisters { slot, .. }) = self.control().slot else {
            return;
        };
        let on = self.new_label();
        let [ended, before, seen] = [0; 3].map(|_| self.reg(Class::B32));
        self.put(format_args!(
            "ld.acquire.gpu.global.u32 {ended}, [{slot}+{}]",
            slot::EXIT
        ));
        self.put(format_args!(
            "ld.param.u32 {before}, [vyre_arguments+{}]",
            at.exit_base
        ));
        let nobody = self.pred("setp.eq.u32", &[ended.into(), before.into()]);
        self.branch_if(nobody, true, on);
        self.put(format_args!(
            "ld.acquire.gpu.global.u32 {seen}, [{slot}+{}]",
            slot::COUNTER
        ));
        // It finds what was just seen, and goes its usual way.
        self.branch_if_reached(seen.into(), spin);
        self.abort(abort::UNEVEN, leave);
        self.place(on);
    }

    /// Tells everybody to leave, and leaves.
    fn abort(&mut self, cause: u32, leave: LabelName) {
        let Some(SlotRegisters { slot, record, .. }) = self.control().slot else {
            return;
        };
        // The first cause stands, and whoever sets it writes it where the host sees it.
        let before = self.reg(Class::B32);
        self.put(format_args!(
            "atom.relaxed.gpu.global.cas.b32 {before}, [{slot}+{}], 0, {cause}",
            slot::ABORT
        ));
        let is_ours = self.pred("setp.eq.u32", &[before.into(), Val::Int(0)]);
        self.put(format_args!(
            "@{is_ours} st.relaxed.sys.global.u32 [{record}+{}], {cause}",
            record::ABORTED
        ));
        self.put(format_args!("bra {leave}"));
    }

    /// A look every so many turns of all polled loops.
    pub fn poll_sometimes(&mut self) {
        let turns = self.control().turns;
        self.into(turns, "add.u32", &[turns.into(), Val::Int(1)]);
        let round = self.op32("and.b32", &[turns.into(), Val::Int(TURNS - 1)]);
        let is_due = self.pred("setp.eq.u32", &[round, Val::Int(0)]);
        self.poll_if(Some(is_due));
    }

    /// A look at the abort word and the clock.
    pub fn poll_now(&mut self) {
        self.poll_if(None);
    }

    /// The look stands aside, so that the loop that it interrupts stays in one piece.
    fn poll_if(&mut self, is_due: Option<Val>) {
        let [look, back, leave] = [0; 3].map(|_| self.new_label());
        match is_due {
            Some(is_due) => self.branch_if(is_due, true, look),
            None => self.put(format_args!("bra {look}")),
        }
        self.place(back);
        self.aside(|e| {
            e.place(look);
            e.look(leave);
            e.put(format_args!("bra {back}"));
            e.place(leave);
            e.put("exit");
        });
    }

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
        let [old, before] = [0; 2].map(|_| self.reg(Class::B32));
        self.put(format_args!(
            "atom.add.acq_rel.gpu.global.u32 {old}, [{slot}+{}], 1",
            slot::EXIT
        ));
        self.put(format_args!(
            "ld.param.u32 {before}, [vyre_arguments+{}]",
            at.exit_base
        ));
        let ended = self.op32("sub.u32", &[old.into(), before.into()]);
        let ended = self.op32("add.u32", &[ended, Val::Int(1)]);
        let is_other = self.pred("setp.ne.u32", &[ended, workgroups.into()]);
        self.branch_if(is_other, true, done);
        let after = self.op(Class::B32, "add.u32", &[old.into(), Val::Int(1)]);
        self.write_record(after, "release");
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
        let [quiet, before] = [0; 2].map(|_| self.reg(Class::B32));
        self.put(format_args!(
            "ld.param.u32 {quiet}, [vyre_arguments+{}]",
            at.quiet
        ));
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
        self.put(format_args!(
            "ld.param.u32 {before}, [vyre_arguments+{}]",
            at.exit_base
        ));
        self.write_record(before, "relaxed");
        self.put(format_args!("bra {done}"));
        self.place(loud);
    }

    /// Fills the record; the sequence last, and behind everything before if it is stored with release.
    fn write_record(&mut self, ended: Reg, order: &str) {
        let at = (self.parameters.control).expect("a program with barriers has a barrier block");
        let Some(SlotRegisters { slot, record, .. }) = self.control().slot else {
            return;
        };
        let executed = self.control().executed;
        let [observed, sequence] = [0; 2].map(|_| self.reg(Class::B32));
        self.put(format_args!(
            "ld.relaxed.gpu.global.u32 {observed}, [{slot}+{}]",
            slot::COUNTER
        ));
        self.put(format_args!(
            "ld.param.u32 {sequence}, [vyre_arguments+{}]",
            at.sequence
        ));
        for (offset, value) in [
            (record::EXECUTED, executed),
            (record::OBSERVED, observed),
            (record::ENDED, ended),
        ] {
            self.put(format_args!(
                "st.relaxed.sys.global.u32 [{record}+{offset}], {value}"
            ));
        }
        self.put(format_args!(
            "st.{order}.sys.global.u32 [{record}+{}], {sequence}",
            record::SEQUENCE
        ));
    }
}
