//! Statements: structured and labelled.

use super::{BufferId, Const, Expr, MemoryId, Operand, Scalar, Span, SubgroupOp, ValueId};

/// A mutable scalar of an invocation; zero until first assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

impl LocalId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Names an enclosing `Block` or `Loop`; unique in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// Index into [`Program::barriers`](super::Program::barriers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BarrierId(pub u32);

impl BarrierId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Who meets at a barrier. All order all memory of those who meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The active invocations of a subgroup: also those of each subgroup operation.
    Subgroup,
    Workgroup,
    Grid,
}

/// One call site of a barrier or a subgroup operation (a function called twice gives two).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    pub scope: Scope,
    pub span: Span,
}

/// The memory that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// A storage or uniform buffer.
    Buffer(BufferId),
    /// One of the workgroup variables; zero when the workgroup starts.
    Workgroup(MemoryId),
    /// One of the invocation's own arrays; zero when the invocation starts.
    Private(MemoryId),
    /// The dispatch's immediates; read only.
    Immediates,
    /// One of the program's constant tables; read only.
    Constant(MemoryId),
}

/// Where an access goes: `index + offset` bytes into the region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    pub region: Region,
    /// u64, in bytes; the dynamic part of the address.
    pub index: Option<Operand>,
    /// In bytes; the constant part.
    pub offset: u64,
    /// bool. False: the address is out of bounds, so a load gives zero, a store does nothing and
    /// an atomic does nothing and gives zero. Absent: the address is always in bounds (given that
    /// each bound range has at least its declaration's smallest size).
    pub guard: Option<Operand>,
    /// Element type; the address is a multiple of its size.
    pub scalar: Scalar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Load,
    Store,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Min,
    Max,
    Exchange,
    /// Strong: it fails only when the values differ.
    CompareExchange,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub kind: NodeKind,
    pub span: Span,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body(pub Vec<Node>);

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Constants of the selector's type; each selector value appears in one case.
    pub values: Vec<Const>,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    Let {
        value: ValueId,
        expr: Expr,
    },
    /// 1, 2 or 4 values of `access.scalar` from consecutive addresses (one guard for all).
    Load {
        values: smallvec::SmallVec<[ValueId; 4]>,
        access: Access,
    },
    /// 1, 2 or 4 values to consecutive addresses (one guard for all).
    Store {
        access: Access,
        values: smallvec::SmallVec<[Operand; 4]>,
    },
    /// A relaxed atomic on an i32, u32, i64 or u64.
    Atomic {
        op: AtomicOp,
        access: Access,
        /// The right operand; absent for `Load`.
        value: Option<Operand>,
        /// What `CompareExchange` expects to find.
        compare: Option<Operand>,
        /// The old value (for `Load`, the value); absent if unused or for `Store`.
        result: Option<ValueId>,
        /// bool: whether `CompareExchange` stored.
        exchanged: Option<ValueId>,
    },
    Assign {
        local: LocalId,
        value: Operand,
    },
    /// Zeroes one private array (its declaration was reached again).
    Clear(MemoryId),
    If {
        cond: Operand,
        accept: Body,
        reject: Body,
    },
    /// Runs `body` once; `Break(label)` leaves it.
    Block {
        label: Label,
        body: Body,
    },
    /// Runs `body`, then `continuing`, for ever. `Break(label)` leaves it from either;
    /// `Continue(label)` goes to the start of `continuing`.
    Loop {
        label: Label,
        body: Body,
        continuing: Body,
    },
    /// Runs the case whose values contain the selector (i32, u32, i64 or u64), else `default`. No fall-through.
    Switch {
        selector: Operand,
        cases: Vec<Case>,
        default: Body,
    },
    Break(Label),
    Continue(Label),
    /// Ends the invocation.
    Return,
    Barrier(BarrierId),
    /// The invocations of a subgroup exchange values: 1 to 4 operands of one type, each by itself.
    Subgroup {
        /// Of scope `Subgroup`.
        site: BarrierId,
        op: SubgroupOp,
        operands: smallvec::SmallVec<[Operand; 4]>,
        /// u32; only of `Shuffle`.
        lane: Option<Operand>,
        /// One for each operand.
        results: smallvec::SmallVec<[ValueId; 4]>,
    },
}
