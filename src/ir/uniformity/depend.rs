//! What each value depends on.

use super::Level;
use super::disjoint;
use super::explain::Why;
use super::graph::{Graph, NodeIx, Role, SourceOf};
use super::intervals::Intervals;
use super::locals::Locals;
use super::walk::{Pos, RegionKind, Walk};
use crate::ir::phases::Cfg;
use crate::ir::{
    Access, AtomicOp, Builtin, Expr, Node, NodeKind, Operand, Program, Region, Span, ValueId,
};

/// Enters the values of a program into the graph of its control flow. Returns, by local, a node for all that
/// the local ever holds.
pub fn enter(
    program: &Program,
    walk: &Walk<'_>,
    intervals: &Intervals,
    graph: &mut Graph,
) -> Vec<NodeIx> {
    let arrays = (program.private.iter())
        .map(|_| graph.add(Role::Storage))
        .collect();
    let mut enter = Enter {
        program,
        walk,
        intervals,
        graph,
        arrays,
        locals: Locals::new(walk),
        cfg: None,
        attempts: ATTEMPTS,
        budget: BUDGET,
    };
    for pos in 0..walk.nodes.len() {
        enter.node(pos);
    }
    enter.leave_loops();
    enter.held_by_locals()
}

struct Enter<'w, 'a> {
    program: &'w Program,
    walk: &'w Walk<'a>,
    intervals: &'w Intervals,
    graph: &'w mut Graph,
    /// By private array: one node for all it holds, at any time.
    arrays: Vec<NodeIx>,
    locals: Locals<'w, 'a>,
    /// For `disjoint`, made when first needed.
    cfg: Option<Cfg<'w>>,
    /// How many more loads are worth a look at their whole interval.
    attempts: u32,
    /// What `disjoint` may still look at.
    budget: usize,
}

/// Programs decide by a few loads; one with thousands is not worth a pass over it for each.
const ATTEMPTS: u32 = 64;
/// Locals and nodes that all those passes may look at: below a second, and less than 200 MiB.
const BUDGET: usize = 4 << 20;

impl Enter<'_, '_> {
    fn node(&mut self, pos: Pos) {
        let placed = &self.walk.nodes[pos];
        let span = placed.node.span;
        match &placed.node.kind {
            NodeKind::Let { value, expr } => self.let_(*value, expr, pos),
            NodeKind::Load { values, access } => {
                for &value in values {
                    self.load(value, access, pos);
                }
            }
            NodeKind::Store { access, values } => {
                if let Region::Private(array) = access.region {
                    let array = self.arrays[array.index()];
                    self.graph.depend(array, placed.control);
                    let address = access.index.iter().chain(&access.guard);
                    for &operand in address.chain(values) {
                        self.depend(array, operand);
                    }
                }
            }
            NodeKind::Clear(array) => {
                (self.graph).depend(self.arrays[array.index()], placed.control);
            }
            NodeKind::Atomic {
                op: AtomicOp::Load,
                access,
                result: Some(value),
                ..
            } => self.load(*value, access, pos),
            NodeKind::Atomic {
                access,
                result,
                exchanged,
                ..
            } => {
                for value in result.iter().chain(exchanged) {
                    let why = Why::Atomic(access.region);
                    self.varies(*value, Level::Varying, why, span);
                }
            }
            NodeKind::Subgroup { op, results, .. } => {
                let level = match op.is_shared() {
                    true => Level::Subgroup,
                    false => Level::Varying,
                };
                for &value in results {
                    // Those who come by themselves get a result of their own.
                    self.graph.depend(value.index(), placed.control);
                    self.varies(value, level, Why::Subgroup, span);
                }
            }
            _ => {}
        }
    }

    fn depend(&mut self, user: NodeIx, on: Operand) {
        if let Operand::Value(value) = on {
            self.graph.depend(user, value.index());
        }
    }

    fn varies(&mut self, value: ValueId, level: Level, why: Why, place: Span) {
        let own = self.program.values[value.index()].span;
        let span = if own.is_known() { own } else { place };
        let source = SourceOf { level, why, span };
        self.graph.source(value.index(), source);
    }

    fn let_(&mut self, value: ValueId, expr: &Expr, pos: Pos) {
        match expr {
            Expr::Local(local) => {
                (self.locals).read(self.graph, value.index(), *local, pos);
            }
            Expr::Builtin(builtin) => {
                let level = self.builtin(*builtin);
                if level > Level::Grid {
                    let place = self.walk.nodes[pos].node.span;
                    self.varies(value, level, Why::Builtin(*builtin), place);
                }
            }
            _ => for_each_operand(expr, |operand| self.depend(value.index(), operand)),
        }
    }

    fn builtin(&self, builtin: Builtin) -> Level {
        let size = self.program.workgroup_size;
        let alone = self.program.workgroup_invocations() == 1;
        match builtin {
            Builtin::NumWorkgroups(_) | Builtin::SubgroupSize | Builtin::NumSubgroups => {
                Level::Grid
            }
            Builtin::WorkgroupId(_) => Level::Workgroup,
            Builtin::GlobalInvocationId(axis) if size[axis.index()] == 1 => Level::Workgroup,
            Builtin::LocalInvocationId(axis) if size[axis.index()] == 1 => Level::Grid,
            Builtin::LocalInvocationIndex | Builtin::SubgroupId | Builtin::SubgroupInvocationId
                if alone =>
            {
                Level::Grid
            }
            Builtin::SubgroupId => Level::Subgroup,
            _ => Level::Varying,
        }
    }

    fn load(&mut self, value: ValueId, access: &Access, pos: Pos) {
        let node = value.index();
        self.graph.set_load(node);
        for &operand in access.index.iter().chain(&access.guard) {
            self.depend(node, operand);
        }
        if let Region::Private(array) = access.region {
            (self.graph).depend(node, self.arrays[array.index()]);
        }
        let placed = &self.walk.nodes[pos];
        let span = placed.node.span;
        let bit = self.walk.flow.bit(access.region);
        let written = bit.is_some_and(|bit| self.intervals.is_written(placed.block, bit));
        if written && !self.is_apart(placed.node, access) {
            let why = Why::Written {
                region: access.region,
                load: pos,
            };
            self.varies(value, Level::Varying, why, span);
        } else if let Region::Workgroup(_) = access.region {
            let why = Why::WorkgroupMemory(access.region);
            self.varies(value, Level::Workgroup, why, span);
        }
    }

    /// Whether the writes of the load's interval go to other elements.
    fn is_apart(&mut self, load: &Node, access: &Access) -> bool {
        let Some(attempts) = self.attempts.checked_sub(1) else {
            return false;
        };
        self.attempts = attempts;
        let cfg = self.cfg.get_or_insert_with(|| Cfg::of(self.program));
        disjoint::proves(self.program, cfg, load, access, &mut self.budget)
    }

    /// All that a local is assigned, whether it is, and what paths that meet bring.
    fn held_by_locals(&mut self) -> Vec<NodeIx> {
        let locals = (self.program.locals.iter())
            .map(|_| self.graph.add(Role::Storage))
            .collect::<Vec<_>>();
        for placed in &self.walk.nodes {
            if let NodeKind::Assign { local, value } = placed.node.kind {
                self.graph.depend(locals[local.index()], placed.control);
                self.depend(locals[local.index()], value);
            }
        }
        for (local, meeting) in self.locals.meetings() {
            self.graph.depend(locals[local.index()], meeting);
        }
        locals
    }

    /// A value that is used after the loop which computes it is each invocation's value of its own last
    /// iteration.
    fn leave_loops(&mut self) {
        let mut defined: Vec<Pos> = vec![usize::MAX; self.program.values.len()];
        for (pos, placed) in self.walk.nodes.iter().enumerate() {
            for_each_defined(&placed.node.kind, |v| defined[v.index()] = pos);
        }
        for (pos, placed) in self.walk.nodes.iter().enumerate() {
            for_each_used(&placed.node.kind, |v| {
                self.leave(v, defined[v.index()], pos)
            });
        }
    }

    fn leave(&mut self, value: ValueId, mut inside: Pos, used: Pos) {
        if inside == usize::MAX {
            return;
        }
        loop {
            let region = &self.walk.regions[self.walk.nodes[inside].region];
            let Some(owner) = region.owner else { return };
            if used < self.walk.nodes[owner].end {
                return;
            }
            if region.kind != RegionKind::Plain {
                for &(_, taken) in &self.walk.constructs[&owner].breaks {
                    self.graph.depend(value.index(), taken);
                }
            }
            inside = owner;
        }
    }
}

fn for_each_operand(expr: &Expr, mut f: impl FnMut(Operand)) {
    match expr {
        Expr::Local(_) | Expr::Builtin(_) | Expr::ArrayLength(_) => {}
        Expr::Unary(_, x) | Expr::Convert(x) | Expr::Bitcast(x) => f(*x),
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => {
            f(*a);
            f(*b);
        }
        Expr::Select {
            cond,
            accept,
            reject,
        } => [cond, accept, reject].into_iter().for_each(|x| f(*x)),
        Expr::Math(_, operands) => operands.iter().for_each(|x| f(*x)),
    }
}

fn for_each_defined(kind: &NodeKind, mut f: impl FnMut(ValueId)) {
    match kind {
        NodeKind::Let { value, .. } => f(*value),
        NodeKind::Load {
            values: results, ..
        }
        | NodeKind::Subgroup { results, .. } => results.iter().for_each(|v| f(*v)),
        NodeKind::Atomic {
            result, exchanged, ..
        } => result.iter().chain(exchanged).for_each(|v| f(*v)),
        _ => {}
    }
}

fn for_each_used(kind: &NodeKind, mut f: impl FnMut(ValueId)) {
    let mut operand = |operand: Operand| {
        if let Operand::Value(value) = operand {
            f(value);
        }
    };
    let address = |access: &Access, operand: &mut dyn FnMut(Operand)| {
        access
            .index
            .iter()
            .chain(&access.guard)
            .for_each(|x| operand(*x));
    };
    match kind {
        NodeKind::Let { expr, .. } => for_each_operand(expr, operand),
        NodeKind::Load { access, .. } => address(access, &mut operand),
        NodeKind::Store { access, values } => {
            address(access, &mut operand);
            values.iter().for_each(|x| operand(*x));
        }
        NodeKind::Atomic {
            access,
            value,
            compare,
            ..
        } => {
            address(access, &mut operand);
            value.iter().chain(compare).for_each(|x| operand(*x));
        }
        NodeKind::Subgroup { operands, lane, .. } => {
            operands.iter().chain(lane).for_each(|x| operand(*x));
        }
        NodeKind::Assign { value, .. } => operand(*value),
        NodeKind::If { cond, .. } => operand(*cond),
        NodeKind::Switch { selector, .. } => operand(*selector),
        _ => {}
    }
}
