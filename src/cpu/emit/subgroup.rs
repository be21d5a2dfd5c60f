//! Programs with subgroup operations: each invocation notes where it stopped, and a segment runs for those
//! that stopped where it begins. What they hand to each other goes through the scratch frame.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::segment::{Emitter, plain};
use crate::ir::phases::ResumePoint;
use crate::ir::{Operand, ValueId};

impl Emitter<'_, '_> {
    /// Ends the turn of an invocation that does not stand at `point`.
    pub fn pass_by_others(&mut self, point: ResumePoint) {
        let Some(exchange) = self.source.frame.subgroups else {
            return;
        };
        let address = self.frame_address(exchange.codes());
        let code = self.builder.ins().load(types::I32, plain(), address, 0);
        let is_here = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::Equal, code, i64::from(point.0));
        let here = self.builder.create_block();
        self.builder.ins().brif(is_here, here, &[], self.next, &[]);
        self.builder.switch_to_block(here);
    }

    /// Notes where the invocation arrived.
    pub fn note(&mut self, code: Value) {
        if let Some(exchange) = self.source.frame.subgroups {
            let address = self.frame_address(exchange.codes());
            self.builder.ins().store(plain(), code, address, 0);
        }
    }

    /// Lays out what a subgroup operation is given.
    pub fn bring(&mut self, brought: &[Operand]) {
        let Some(exchange) = self.source.frame.subgroups else {
            return;
        };
        for (number, &operand) in brought.iter().enumerate() {
            let value = self.operand(operand);
            let address = self.frame_address(exchange.column(number));
            self.builder.ins().store(plain(), value, address, 0);
        }
    }

    /// Picks up what it gave.
    pub fn take(&mut self, results: &[ValueId]) {
        let Some(exchange) = self.source.frame.subgroups else {
            return;
        };
        for (number, &id) in results.iter().enumerate() {
            let address = self.frame_address(exchange.column(number));
            let ty = self.source.lanes.ty(self.source.program.value_type(id));
            let value = self.builder.ins().load(ty, plain(), address, 0);
            self.define(id, value);
        }
    }
}
