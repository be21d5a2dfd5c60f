//! The builder that lowering emits IR through.

use smallvec::SmallVec;

use super::{fold, range};
use crate::ir::{
    Access, AtomicOp, Barrier, BarrierId, BinaryOp, Body, Case, CompareOp, Const, Expr, Label,
    LocalDecl, LocalId, MathOp, Memory, MemoryId, Node, NodeKind, Operand, Scalar, Scope, Span,
    SubgroupOp, UnaryOp, ValueDecl, ValueId,
};

/// What inlining and unrolling may grow a program to, in nodes. A lawful program is thousands of
/// times smaller; a hostile one doubles with each function and would otherwise take all memory.
const NODE_BUDGET: u32 = 2_000_000;

/// Bodies within bodies: below what the IR's checks allow, and what backends recurse through.
const DEEPEST: usize = 1000;

/// Emits IR. Operations whose operands are all constants are folded where every backend would
/// compute the same bits.
pub struct Builder {
    pub values: Vec<ValueDecl>,
    pub locals: Vec<LocalDecl>,
    pub workgroup: Vec<Memory>,
    pub private: Vec<Memory>,
    pub constants: Vec<Vec<u8>>,
    pub barriers: Vec<Barrier>,
    bodies: Vec<Vec<Node>>,
    next_label: u32,
    /// Of the expression being lowered: goes to the values.
    span: Span,
    /// Of the statement being lowered: goes to the nodes.
    statement: Span,
    left: u32,
    deepest: usize,
    /// Upper bounds of the values; see [`range`].
    uppers: Vec<u64>,
    pub workgroup_size: [u32; 3],
}

impl Builder {
    /// A builder whose root body is open.
    pub fn new(workgroup_size: [u32; 3]) -> Builder {
        Builder {
            values: Vec::new(),
            locals: Vec::new(),
            workgroup: Vec::new(),
            private: Vec::new(),
            constants: Vec::new(),
            barriers: Vec::new(),
            bodies: vec![Vec::new()],
            next_label: 0,
            span: Span::default(),
            statement: Span::default(),
            left: NODE_BUDGET,
            deepest: 1,
            uppers: Vec::new(),
            workgroup_size,
        }
    }

    /// The source expression that the values emitted from now on stand for.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    pub fn span(&self) -> Span {
        self.span
    }

    /// The source statement that the nodes emitted from now on belong to; returns the one before.
    /// What naga adds (the `return` that ends a function) has no place and takes that of what is
    /// around it.
    pub fn set_statement(&mut self, span: Span) -> Span {
        let outer = self.statement;
        if span.is_known() {
            self.statement = span;
        }
        outer
    }

    pub fn statement(&self) -> Span {
        self.statement
    }

    /// Takes `amount` from the budget without emitting anything: work that may multiply without
    /// leaving nodes (calls of empty functions) has to end too.
    pub fn spend(&mut self, amount: u32) {
        self.left = self.left.saturating_sub(amount);
    }

    /// The budget is used up: nothing is emitted any more and the program has to be refused.
    pub fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    pub fn ty(&self, x: Operand) -> Scalar {
        match x {
            Operand::Value(id) => self.values[id.index()].ty,
            Operand::Const(c) => c.ty,
        }
    }

    fn value(&mut self, ty: Scalar) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("bounded by the node budget"));
        self.values.push(ValueDecl {
            ty,
            span: self.span,
        });
        self.uppers.push(range::UNKNOWN);
        id
    }

    /// The largest value that an integer can have, `u64::MAX` if unknown or possibly negative.
    pub fn upper(&self, x: Operand) -> u64 {
        match x {
            Operand::Value(id) => self.uppers[id.index()],
            Operand::Const(c) => range::of_const(c),
        }
    }

    fn push(&mut self, kind: NodeKind) {
        self.spend(1);
        if self.is_exhausted() {
            return;
        }
        let span = self.statement;
        self.bodies
            .last_mut()
            .expect("the root body stays open")
            .push(Node { kind, span });
    }

    /// Emits a `Let`; nothing is folded.
    pub fn emit(&mut self, ty: Scalar, expr: Expr) -> Operand {
        if self.is_exhausted() {
            return Const::zero(ty).into();
        }
        let upper = range::of_expr(self, ty, &expr);
        let value = self.value(ty);
        self.uppers[value.index()] = upper;
        self.push(NodeKind::Let { value, expr });
        value.into()
    }

    pub fn unary(&mut self, op: UnaryOp, x: Operand) -> Operand {
        if let Some(folded) = fold::unary(op, x) {
            return folded.into();
        }
        let ty = self.ty(x);
        self.emit(ty, Expr::Unary(op, x))
    }

    /// The result has the type of `a`; the count of a shift is u32.
    pub fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        if let Some(folded) = fold::binary(op, a, b) {
            return folded;
        }
        let ty = self.ty(a);
        self.emit(ty, Expr::Binary(op, a, b))
    }

    pub fn compare(&mut self, op: CompareOp, a: Operand, b: Operand) -> Operand {
        if let Some(folded) = fold::compare(op, a, b) {
            return folded.into();
        }
        self.emit(Scalar::Bool, Expr::Compare(op, a, b))
    }

    pub fn select(&mut self, cond: Operand, accept: Operand, reject: Operand) -> Operand {
        if accept == reject {
            return accept;
        }
        if let Operand::Const(c) = cond {
            return if c.bits != 0 { accept } else { reject };
        }
        let ty = self.ty(accept);
        self.emit(
            ty,
            Expr::Select {
                cond,
                accept,
                reject,
            },
        )
    }

    pub fn convert(&mut self, to: Scalar, x: Operand) -> Operand {
        if self.ty(x) == to {
            return x;
        }
        if let Operand::Const(c) = x {
            return fold::convert(to, c).into();
        }
        self.emit(to, Expr::Convert(x))
    }

    pub fn bitcast(&mut self, to: Scalar, x: Operand) -> Operand {
        if self.ty(x) == to {
            return x;
        }
        if let Operand::Const(c) = x {
            return Const {
                ty: to,
                bits: c.bits,
            }
            .into();
        }
        self.emit(to, Expr::Bitcast(x))
    }

    pub fn math(&mut self, op: MathOp, to: Scalar, args: &[Operand]) -> Operand {
        if let Some(folded) = fold::math(op, args) {
            return folded.into();
        }
        self.emit(to, Expr::Math(op, SmallVec::from_slice(args)))
    }

    /// A literal of any scalar type; of integers and bool, `value` is a whole number in range.
    pub fn constant(&self, ty: Scalar, value: f64) -> Operand {
        fold::literal(ty, value).into()
    }

    pub fn local(&mut self, ty: Scalar, name: &str) -> LocalId {
        self.spend(1);
        let id = LocalId(u32::try_from(self.locals.len()).expect("bounded by the node budget"));
        self.locals.push(LocalDecl {
            ty,
            name: name.to_string(),
        });
        id
    }

    pub fn read(&mut self, local: LocalId) -> Operand {
        let ty = self.locals[local.index()].ty;
        self.emit(ty, Expr::Local(local))
    }

    pub fn assign(&mut self, local: LocalId, value: Operand) {
        self.push(NodeKind::Assign { local, value });
    }

    /// A private array.
    pub fn memory(&mut self, memory: Memory) -> MemoryId {
        self.spend(1);
        let id = u32::try_from(self.private.len()).expect("bounded by the node budget");
        self.private.push(memory);
        MemoryId(id)
    }

    pub fn clear(&mut self, memory: MemoryId) {
        self.push(NodeKind::Clear(memory));
    }

    /// Loads 1, 2 or 4 consecutive scalars.
    pub fn load(&mut self, access: Access, count: usize) -> SmallVec<[Operand; 4]> {
        debug_assert!(matches!(count, 1 | 2 | 4));
        if self.is_exhausted() {
            return SmallVec::from_elem(Const::zero(access.scalar).into(), count);
        }
        let values: SmallVec<[ValueId; 4]> =
            (0..count).map(|_| self.value(access.scalar)).collect();
        let operands = values.iter().map(|&v| v.into()).collect();
        self.push(NodeKind::Load { values, access });
        operands
    }

    /// Stores 1, 2 or 4 consecutive scalars.
    pub fn store(&mut self, access: Access, values: &[Operand]) {
        debug_assert!(matches!(values.len(), 1 | 2 | 4));
        self.push(NodeKind::Store {
            access,
            values: SmallVec::from_slice(values),
        });
    }

    /// Any atomic but a compare-exchange; the old value unless it is a store.
    pub fn atomic(&mut self, op: AtomicOp, access: Access, value: Option<Operand>) -> Operand {
        let zero = Const::zero(access.scalar).into();
        if self.is_exhausted() {
            return zero;
        }
        let result = (op != AtomicOp::Store).then(|| self.value(access.scalar));
        self.push(NodeKind::Atomic {
            op,
            access,
            value,
            compare: None,
            result,
            exchanged: None,
        });
        result.map_or(zero, Operand::Value)
    }

    /// The old value, and whether it was replaced.
    pub fn compare_exchange(
        &mut self,
        access: Access,
        compare: Operand,
        value: Operand,
    ) -> (Operand, Operand) {
        if self.is_exhausted() {
            return (Const::zero(access.scalar).into(), Const::bool(false).into());
        }
        let result = self.value(access.scalar);
        let exchanged = self.value(Scalar::Bool);
        self.push(NodeKind::Atomic {
            op: AtomicOp::CompareExchange,
            access,
            value: Some(value),
            compare: Some(compare),
            result: Some(result),
            exchanged: Some(exchanged),
        });
        (result.into(), exchanged.into())
    }

    pub fn barrier(&mut self, scope: Scope) {
        let id = self.site(scope);
        self.push(NodeKind::Barrier(id));
    }

    fn site(&mut self, scope: Scope) -> BarrierId {
        let span = self.statement;
        let id = BarrierId(u32::try_from(self.barriers.len()).expect("bounded by the node budget"));
        self.barriers.push(Barrier { scope, span });
        id
    }

    /// What the subgroup makes of 1 to 4 operands of one type that `op` takes.
    pub fn subgroup(
        &mut self,
        op: SubgroupOp,
        operands: &[Operand],
        lane: Option<Operand>,
    ) -> SmallVec<[Operand; 4]> {
        let of = self.ty(operands[0]);
        let ty = op.result(of).unwrap_or(of);
        if self.is_exhausted() {
            return SmallVec::from_elem(Const::zero(ty).into(), operands.len());
        }
        let results: SmallVec<[ValueId; 4]> = operands.iter().map(|_| self.value(ty)).collect();
        let values = results.iter().map(|&v| v.into()).collect();
        let site = self.site(Scope::Subgroup);
        self.push(NodeKind::Subgroup {
            site,
            op,
            operands: SmallVec::from_slice(operands),
            lane,
            results,
        });
        values
    }

    pub fn label(&mut self) -> Label {
        let label = Label(self.next_label);
        self.next_label += 1;
        label
    }

    /// Nodes go into a new body until `close`.
    pub fn open(&mut self) {
        self.bodies.push(Vec::new());
        self.deepest = self.deepest.max(self.bodies.len());
    }

    /// Bodies have been nested deeper than a program may be.
    pub fn is_too_deep(&self) -> bool {
        self.deepest > DEEPEST
    }

    /// The body opened last.
    pub fn close(&mut self) -> Body {
        debug_assert!(self.bodies.len() > 1, "the root body is taken by finish");
        Body(self.bodies.pop().expect("the root body stays open"))
    }

    pub fn branch(&mut self, cond: Operand, accept: Body, reject: Body) {
        if !accept.0.is_empty() || !reject.0.is_empty() {
            self.push(NodeKind::If {
                cond,
                accept,
                reject,
            });
        }
    }

    pub fn block(&mut self, label: Label, body: Body) {
        self.push(NodeKind::Block { label, body });
    }

    pub fn loop_(&mut self, label: Label, body: Body, continuing: Body) {
        self.push(NodeKind::Loop {
            label,
            body,
            continuing,
        });
    }

    pub fn switch(&mut self, selector: Operand, cases: Vec<Case>, default: Body) {
        self.push(NodeKind::Switch {
            selector,
            cases,
            default,
        });
    }

    pub fn break_(&mut self, label: Label) {
        self.push(NodeKind::Break(label));
    }

    pub fn continue_(&mut self, label: Label) {
        self.push(NodeKind::Continue(label));
    }

    pub fn return_(&mut self) {
        self.push(NodeKind::Return);
    }

    /// Splices a body into the open one.
    pub fn append(&mut self, body: Body) {
        self.bodies
            .last_mut()
            .expect("the root body stays open")
            .extend(body.0);
    }

    /// The root body; every other one has been closed.
    pub fn finish(&mut self) -> Body {
        debug_assert_eq!(self.bodies.len(), 1);
        Body(std::mem::take(&mut self.bodies[0]))
    }
}
