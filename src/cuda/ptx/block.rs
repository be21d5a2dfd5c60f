//! What a kernel reads of the barrier block and of its own place in the grid, on entry.

use super::abi::{Contract, ControlParameters, GROUPS, Shape, slot};
use super::emitter::{Control, Emitter, GroupRegisters, SlotRegisters};
use super::text::{Class, Reg, Val};
use crate::ir::{Axis, Builtin};

impl Emitter<'_> {
    pub fn set_up_control(&mut self) {
        let Some(at) = self.parameters.control else {
            return;
        };
        if self.contract == Contract::ModuleScope && !self.program.has_grid_barrier() {
            return;
        }
        let index = self.builtin(Builtin::LocalInvocationIndex);
        let control = self.once(|e| {
            e.comment("the launch slot, and how long to wait");
            let slot = (e.contract == Contract::LaunchSlot).then(|| e.slot_registers(at));
            let target = match slot {
                Some(_) => e.parameter_word(at.base),
                None => {
                    let target = e.reg(Class::B32);
                    e.mov(target, Val::Int(0));
                    target
                }
            };
            let grid = e.parameters.workgroups;
            let axes = [("x", 0), ("y", 4), ("z", 8)].map(|(axis, at)| match slot {
                Some(_) => e.parameter_word(grid + at),
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
            let is_leader = e.op(Class::Pred, "setp.eq.u32", &[index.into(), Val::Int(0)]);
            let in_first_warp = e.op(Class::Pred, "setp.lt.u32", &[index.into(), Val::Int(32)]);
            let groups = slot
                .filter(|_| e.program.has_grid_barrier())
                .map(|slot| e.group_registers(at, slot, (x, plane), workgroups, target));
            let step = groups.map_or(workgroups, |(_, step)| step);
            Control {
                slot,
                groups: groups.map(|(groups, _)| groups),
                target,
                step,
                workgroups,
                executed,
                turns,
                since,
                is_leader,
                in_first_warp,
            }
        });
        self.control = Some(control);
    }

    fn slot_registers(&mut self, at: ControlParameters) -> SlotRegisters {
        let [slot, record, limit] = [at.slot, at.record, at.limit].map(|at| {
            let reg = self.reg(Class::B64);
            self.put(format_args!("ld.param.u64 {reg}, [vyre_arguments+{at}]"));
            reg
        });
        for address in [slot, record] {
            self.put(format_args!("cvta.to.global.u64 {address}, {address}"));
        }
        SlotRegisters {
            slot,
            record,
            limit,
        }
    }

    /// Where this workgroup arrives and waits, as the launch's shape says, and what one barrier adds to the slot's
    /// counter.
    fn group_registers(
        &mut self,
        at: ControlParameters,
        SlotRegisters { slot, .. }: SlotRegisters,
        (x, plane): (Val, Val),
        workgroups: Reg,
        base: Reg,
    ) -> (GroupRegisters, Reg) {
        self.comment("where to arrive and to wait");
        let shape = Val::from(self.parameter_word(at.shape));
        let is = |e: &mut Self, comparison: &str, shape_of: Shape| {
            let args = [shape, Val::Int(shape_of as u64)];
            e.op(Class::Pred, &format!("setp.{comparison}.u32"), &args)
        };
        let in_groups = is(self, "ne", Shape::Counter);
        let own_words = is(self, "eq", Shape::Releases);
        let [arrives_at, waits_at] = [0; 2].map(|_| self.reg(Class::B64));
        let [arrived, released, share, step] = [0; 4].map(|_| self.reg(Class::B32));
        for (to, from) in [
            (arrives_at, slot),
            (waits_at, slot),
            (arrived, base),
            (released, base),
            (share, workgroups),
            (step, workgroups),
        ] {
            self.mov(to, from.into());
        }
        // Small grids are quick, and have the shortest way.
        let [grouped, known] = [0; 2].map(|_| self.new_label());
        self.branch_if(in_groups.into(), true, grouped);
        self.place(known);
        self.aside(|e| {
            e.place(grouped);
            let [i, j, k] = Axis::ALL.map(|axis| {
                let reg = e.reg(Class::B32);
                let axis = super::entry::letter(axis);
                e.put(format_args!("mov.u32 {reg}, %ctaid.{axis}"));
                Val::from(reg)
            });
            let number = e.op32("mad.lo.u32", &[j, x, i]);
            let number = e.op32("mad.lo.u32", &[k, plane, number]);
            let group = e.op32("and.b32", &[number, Val::Int(u64::from(GROUPS) - 1)]);
            let words = e.op64(
                "mul.wide.u32",
                &[group, Val::Int(slot::GROUP_STRIDE.into())],
            );
            let words = e.op64("add.u64", &[words, slot.into()]);
            let arrivals = Val::Int((slot::GROUPS + slot::ARRIVALS).into());
            e.into(arrives_at, "add.u64", &[words, arrivals]);
            let before = e.reg(Class::B64);
            e.put(format_args!("mov.b64 {before}, vyre_arguments"));
            let place = e.op64("mul.wide.u32", &[group, Val::Int(4)]);
            e.into(before, "add.u64", &[before.into(), place]);
            e.put(format_args!(
                "ld.param.u32 {arrived}, [{before}+{}]",
                at.arrivals
            ));
            // As many of the grid as have this remainder.
            let size = e.op32("sub.u32", &[workgroups.into(), group]);
            let size = e.op32("add.u32", &[size, Val::Int(u64::from(GROUPS) - 1)]);
            e.into(share, "shr.u32", &[size, Val::Int(GROUPS.ilog2().into())]);
            e.mov(step, Val::Int(GROUPS.into()));
            e.branch_if(own_words.into(), false, known);
            let releases = Val::Int((slot::GROUPS + slot::RELEASES).into());
            e.into(waits_at, "add.u64", &[words, releases]);
            let before = e.parameter_word(at.releases);
            e.mov(released, before.into());
            e.put(format_args!("bra {known}"));
        });
        let registers = GroupRegisters {
            in_groups,
            own_words,
            arrives_at,
            arrived,
            share,
            waits_at,
            released,
        };
        (registers, step)
    }
}

const _: () = assert!(GROUPS.is_power_of_two());
