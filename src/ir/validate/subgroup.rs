//! Subgroup operations.

use super::{Check, Validator};
use crate::ir::{NodeKind, Scalar, Scope, SubgroupOp};

impl Validator<'_> {
    pub(super) fn subgroup(&mut self, kind: &NodeKind) -> Check {
        let NodeKind::Subgroup {
            site,
            op,
            operands,
            lane,
            results,
        } = kind
        else {
            return Ok(());
        };
        self.barrier(*site)?;
        if self.program.barriers[site.index()].scope != Scope::Subgroup {
            return Err(format!("site {} is not the subgroup's", site.0));
        }
        if !(1..=4).contains(&operands.len()) || results.len() != operands.len() {
            return Err(format!(
                "{op:?} has {} operands and {} results, expected 1 to 4 and as many",
                operands.len(),
                results.len()
            ));
        }
        let of = self.operand(operands[0])?;
        for &operand in operands {
            self.expect(operand, of, "the operand")?;
        }
        let Some(ty) = op.result(of) else {
            return Err(format!("{op:?} does not take {of}"));
        };
        match (lane, op) {
            (Some(lane), SubgroupOp::Shuffle) => self.expect(*lane, Scalar::U32, "the lane")?,
            (None, SubgroupOp::Shuffle) => return Err("Shuffle lacks a lane".into()),
            (Some(_), _) => return Err(format!("{op:?} has a lane")),
            (None, _) => {}
        }
        for &result in results {
            self.define(result)?;
            self.expect(result.into(), ty, "the result")?;
        }
        Ok(())
    }
}
