//! The end of every wait: a look, now and then, at whether all are to leave.

use super::abi::{abort, record, slot};
use super::emitter::{Control, Emitter, SlotRegisters};
use super::text::{Class, LabelName, Val};

/// Turns of polled loops between two looks at the abort word and the clock; a power of two.
const TURNS: u64 = 256;

impl Emitter<'_> {
    /// Goes to `leave` if everybody is to leave, or if the time is over: then it says so to all.
    pub fn look(&mut self, leave: LabelName) {
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
    pub fn look_for_ended(&mut self, spin: LabelName, leave: LabelName) {
        let at = (self.parameters.control).expect("a program with barriers has a barrier block");
        let Some(SlotRegisters { slot, .. }) = self.control().slot else {
            return;
        };
        let on = self.new_label();
        let [ended, seen] = [0; 2].map(|_| self.reg(Class::B32));
        self.put(format_args!(
            "ld.acquire.gpu.global.u32 {ended}, [{slot}+{}]",
            slot::EXIT
        ));
        let before = self.parameter_word(at.exit_base);
        let nobody = self.pred("setp.eq.u32", &[ended.into(), before.into()]);
        self.branch_if(nobody, true, on);
        self.put(format_args!(
            "ld.acquire.gpu.global.u32 {seen}, [{slot}+{}]",
            slot::COUNTER
        ));
        // It is about to find that it is released, and goes its usual way.
        let is_released = self.reached(seen.into(), self.control().target);
        self.branch_if(is_released, true, spin);
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
}
