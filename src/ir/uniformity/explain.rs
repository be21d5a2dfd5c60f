//! Causes: the way back from a barrier to what varies, in words.

use super::Level;
use super::graph::{From, Graph, Levels, NodeIx, Role};
use super::walk::{Pos, Walk};
use crate::error::Error;
use crate::ir::{Axis, Barrier, Builtin, Program, Region, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    If,
    /// It decides whether a loop goes on, or a block is left.
    Loop,
    Switch,
}

/// What may go past a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Break,
    Continue,
    Return,
}

/// What varies, and with it all that is computed from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    pub span: Span,
    pub level: Level,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// Another value for each invocation or workgroup.
    Builtin(Builtin),
    /// A load from memory that its barrier interval writes; `load` is the load's number in the analysis.
    Written { region: Region, load: Pos },
    /// A load from a workgroup variable: each workgroup has its own.
    WorkgroupMemory(Region),
    /// The result of an atomic: it tells the order of invocations.
    Atomic(Region),
    /// The result of a subgroup operation: each subgroup, or each invocation, has its own.
    Subgroup,
}

/// Why a barrier is not proven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cause {
    pub kind: ConditionKind,
    /// The condition that varies.
    pub condition: Span,
    /// The exit under it that goes past the barrier; `None` if the barrier itself is under it.
    pub exit: Option<(Exit, Span)>,
    /// The load at a varying address that the condition depends on, if it is by one that the root gets there.
    pub load: Option<Span>,
    pub root: Root,
}

/// Goes back the way that the flood came to a barrier's `control`, which is above `Level::Grid`.
pub fn cause(program: &Program, graph: &Graph, levels: &Levels, control: NodeIx) -> Cause {
    let mut kind = ConditionKind::If;
    let mut condition = Span::default();
    let mut exit = None;
    let mut load = None;
    let mut node = control;
    let mut in_control = true;
    loop {
        match graph.role(node) {
            // The last ones on the way are those that vary by themselves.
            Role::Condition { kind: k, span } if in_control => (kind, condition) = (k, span),
            Role::Exit { exit: e, span } if in_control => exit = Some((e, span)),
            Role::Value { is_load } => {
                in_control = false;
                if is_load && matches!(levels.came_from(node), Some(From::Node(_))) {
                    load = Some(program.values[node].span);
                }
            }
            Role::Storage => in_control = false,
            _ => {}
        }
        match levels.came_from(node) {
            Some(From::Node(before)) => node = before,
            Some(From::Source(source)) => {
                let root = Root {
                    span: source.span,
                    level: source.level,
                    why: source.why,
                };
                return Cause {
                    kind,
                    condition,
                    exit,
                    load,
                    root,
                };
            }
            None => unreachable!("only what depends on a source is above Level::Grid"),
        }
    }
}

/// The error for a grid barrier that is not proven.
pub fn refusal(program: &Program, barrier: &Barrier, cause: &Cause) -> Error {
    let condition = quoted(program, cause.condition);
    let condition = match cause.kind {
        ConditionKind::If => format!("the condition{condition}"),
        ConditionKind::Loop => format!("the loop's or block's exit condition{condition}"),
        ConditionKind::Switch => format!("the switch selector{condition}"),
    };
    let condition = format!("{condition}{}", line(program, cause.condition));
    let how = match cause.exit {
        None => format!("it is under {condition}"),
        Some((exit, span)) => {
            let word = match exit {
                Exit::Break => "break",
                Exit::Continue => "continue",
                Exit::Return => "return",
            };
            let at = line(program, span);
            format!("`{word}`{at} goes past it or past its next round, under {condition}")
        }
    };
    let among = match cause.root.level {
        Level::Workgroup => "workgroups",
        Level::Subgroup => "subgroups",
        Level::Grid | Level::Varying => "invocations",
    };
    let load = match cause.load {
        None => String::new(),
        Some(span) => format!(
            ", and so the load{}{} is at an address that differs",
            quoted(program, span),
            line(program, span)
        ),
    };
    let root = root(program, &cause.root);
    program
        .source
        .error(
            barrier.span,
            &format!(
                "not provably every invocation of the grid reaches this grid barrier: {how}, \
                 which differs between {among}: {root}{load}"
            ),
        )
        .with_fix(
            "Move the barrier out of the condition or make the condition the same for the whole grid \
             (constants, immediates, uniform buffers, or a value loaded after a grid barrier from a place \
             that is not written until the next one); or load the program with the flag \
             VYRE_PROGRAM_TRUST_UNIFORMITY if you know that it is.",
        )
}

fn quoted(program: &Program, span: Span) -> String {
    match program.source.excerpt(span) {
        words if words.is_empty() => String::new(),
        words => format!(" `{words}`"),
    }
}

fn line(program: &Program, span: Span) -> String {
    match program.source.position(span) {
        None => String::new(),
        Some(at) => format!(" at {}:{}", at.line, at.column),
    }
}

fn root(program: &Program, root: &Root) -> String {
    let words = quoted(program, root.span);
    let words = words.trim_start();
    let at = line(program, root.span);
    match root.why {
        Why::Builtin(builtin) => {
            let name = builtin_name(builtin);
            let whose = match root.level {
                Level::Workgroup => "workgroup's",
                Level::Subgroup => "subgroup's",
                Level::Grid | Level::Varying => "invocation's",
            };
            match words {
                "" => format!("{name} is each {whose} own"),
                words => format!("{words}{at} ({name}) is each {whose} own"),
            }
        }
        Why::Written { region, load } => {
            let walk = Walk::of(program);
            let block = walk.nodes[load].block;
            let write = (walk.flow.bit(region))
                .and_then(|bit| walk.flow.witness(block, bit))
                .map_or(String::new(), |write| line(program, write));
            let name = region_name(program, region);
            format!("{words}{at} is a load from {name}, which this barrier interval writes{write}")
        }
        Why::WorkgroupMemory(region) => {
            let name = region_name(program, region);
            format!("{words}{at} is a load from {name}, of which each workgroup has its own")
        }
        Why::Subgroup => {
            let whose = match root.level {
                Level::Subgroup => "subgroup",
                _ => "invocation",
            };
            format!(
                "{words}{at} is the result of a subgroup operation, of which each {whose} has its own"
            )
        }
        Why::Atomic(region) => {
            let name = region_name(program, region);
            format!(
                "{words}{at} is the result of an atomic operation on {name}, which depends on who comes first"
            )
        }
    }
}

fn region_name(program: &Program, region: Region) -> String {
    match region {
        Region::Buffer(id) => format!("`{}`", program.buffer(id).name),
        Region::Workgroup(id) => format!("`{}`", program.workgroup[id.index()].name),
        Region::Private(id) => format!("`{}`", program.private[id.index()].name),
        Region::Immediates => "the immediates".into(),
        Region::Constant(_) => "a constant".into(),
    }
}

fn builtin_name(builtin: Builtin) -> String {
    let component = |axis| match axis {
        Axis::X => 'x',
        Axis::Y => 'y',
        Axis::Z => 'z',
    };
    match builtin {
        Builtin::GlobalInvocationId(a) => format!("global_invocation_id.{}", component(a)),
        Builtin::LocalInvocationId(a) => format!("local_invocation_id.{}", component(a)),
        Builtin::WorkgroupId(a) => format!("workgroup_id.{}", component(a)),
        Builtin::NumWorkgroups(a) => format!("num_workgroups.{}", component(a)),
        Builtin::LocalInvocationIndex => "local_invocation_index".into(),
        Builtin::SubgroupSize => "subgroup_size".into(),
        Builtin::SubgroupInvocationId => "subgroup_invocation_id".into(),
        Builtin::SubgroupId => "subgroup_id".into(),
        Builtin::NumSubgroups => "num_subgroups".into(),
    }
}
