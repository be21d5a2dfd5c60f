//! Makes programs by hand, for unit tests. Each node gets a line of the made-up source.

use super::*;

pub struct Maker {
    pub program: Program,
    text: String,
    bodies: Vec<Vec<Node>>,
    labels: u32,
}

impl Maker {
    pub fn new(workgroup_size: [u32; 3]) -> Maker {
        Maker {
            program: Program {
                source: Source::new("", None),
                entry_point: "main".into(),
                workgroup_size,
                buffers: Vec::new(),
                workgroup: Vec::new(),
                private: Vec::new(),
                constants: Vec::new(),
                immediates_size: 16,
                values: Vec::new(),
                locals: Vec::new(),
                barriers: Vec::new(),
                body: Body::default(),
            },
            text: String::new(),
            bodies: vec![Vec::new()],
            labels: 0,
        }
    }

    pub fn finish(mut self) -> Program {
        self.program.source = Source::new(self.text, Some("made"));
        self.program.body = Body(self.bodies.pop().unwrap());
        assert!(self.bodies.is_empty());
        self.program
    }

    fn span(&mut self, words: &str) -> Span {
        let start = self.text.len() as u32;
        self.text.push_str(words);
        let end = self.text.len() as u32;
        self.text.push('\n');
        Span::new(start, end)
    }

    pub fn push(&mut self, words: &str, kind: NodeKind) {
        let span = self.span(words);
        self.bodies.last_mut().unwrap().push(Node { kind, span });
    }

    pub fn value(&mut self, ty: Scalar) -> ValueId {
        self.program.values.push(ValueDecl {
            ty,
            span: Span::default(),
        });
        ValueId(self.program.values.len() as u32 - 1)
    }

    pub fn storage(&mut self, name: &str, access: BufferAccess) -> Region {
        self.buffer(name, BufferSpace::Storage, access)
    }

    pub fn uniform(&mut self, name: &str) -> Region {
        self.buffer(name, BufferSpace::Uniform, BufferAccess::Read)
    }

    fn buffer(&mut self, name: &str, space: BufferSpace, access: BufferAccess) -> Region {
        let binding = self.program.buffers.len() as u32;
        let array = RuntimeArray {
            offset: 0,
            stride: 4,
        };
        self.program.buffers.push(BufferDecl {
            group: 0,
            binding,
            name: name.into(),
            space,
            access,
            min_size: 16,
            runtime: (space == BufferSpace::Storage).then_some(array),
            element_size: 4,
            span: Span::default(),
        });
        Region::Buffer(BufferId(binding))
    }

    fn memory(name: &str) -> Memory {
        Memory {
            name: name.into(),
            size: 16,
            align: 4,
            span: Span::default(),
        }
    }

    pub fn workgroup_variable(&mut self, name: &str) -> Region {
        self.program.workgroup.push(Maker::memory(name));
        Region::Workgroup(MemoryId(self.program.workgroup.len() as u32 - 1))
    }

    pub fn private_array(&mut self, name: &str) -> MemoryId {
        self.program.private.push(Maker::memory(name));
        MemoryId(self.program.private.len() as u32 - 1)
    }

    pub fn local(&mut self, ty: Scalar) -> LocalId {
        self.program.locals.push(LocalDecl {
            ty,
            name: "x".into(),
        });
        LocalId(self.program.locals.len() as u32 - 1)
    }

    pub fn let_(&mut self, ty: Scalar, expr: Expr) -> Operand {
        let value = self.value(ty);
        let words = match &expr {
            Expr::Builtin(Builtin::GlobalInvocationId(Axis::X)) => "gid.x".into(),
            expr => expr.to_string(),
        };
        self.push(&words, NodeKind::Let { value, expr });
        self.program.values[value.index()].span = self.bodies.last().unwrap().last().unwrap().span;
        value.into()
    }

    pub fn builtin(&mut self, builtin: Builtin) -> Operand {
        self.let_(Scalar::U32, Expr::Builtin(builtin))
    }

    pub fn gid(&mut self) -> Operand {
        self.builtin(Builtin::GlobalInvocationId(Axis::X))
    }

    /// Whether a u32 is zero.
    pub fn is_zero(&mut self, x: Operand) -> Operand {
        let zero = Const::u32(0).into();
        self.let_(Scalar::Bool, Expr::Compare(CompareOp::Eq, x, zero))
    }

    /// A condition that differs between invocations.
    pub fn varying(&mut self) -> Operand {
        let gid = self.gid();
        self.is_zero(gid)
    }

    /// A condition that the grid agrees on and the compiler cannot see through.
    pub fn even(&mut self) -> Operand {
        let n = self.load(Region::Immediates, None);
        self.is_zero(n)
    }

    pub fn add(&mut self, a: Operand, b: Operand) -> Operand {
        self.let_(Scalar::U32, Expr::Binary(BinaryOp::Add, a, b))
    }

    pub fn read(&mut self, local: LocalId) -> Operand {
        let ty = self.program.local_type(local);
        self.let_(ty, Expr::Local(local))
    }

    pub fn assign(&mut self, local: LocalId, value: impl Into<Operand>) {
        let value = value.into();
        self.push("assign", NodeKind::Assign { local, value });
    }

    pub fn access(&mut self, region: Region, index: Option<Operand>) -> Access {
        Access {
            region,
            index: index.map(|i| self.let_(Scalar::U64, Expr::Convert(i))),
            offset: 0,
            guard: None,
            scalar: Scalar::U32,
        }
    }

    pub fn load(&mut self, region: Region, index: Option<Operand>) -> Operand {
        let access = self.access(region, index);
        let value = self.value(Scalar::U32);
        let values = [value].into_iter().collect();
        self.push("load", NodeKind::Load { values, access });
        value.into()
    }

    pub fn store(&mut self, region: Region, index: Option<Operand>, value: impl Into<Operand>) {
        let access = self.access(region, index);
        let values = [value.into()].into_iter().collect();
        self.push("store", NodeKind::Store { access, values });
    }

    pub fn atomic(&mut self, op: AtomicOp, region: Region, value: Option<Operand>) -> Operand {
        let access = self.access(region, None);
        let result = self.value(Scalar::U32);
        let kind = NodeKind::Atomic {
            op,
            access,
            value,
            compare: None,
            result: (op != AtomicOp::Store).then_some(result),
            exchanged: None,
        };
        self.push("atomic", kind);
        result.into()
    }

    pub fn body(&mut self, f: impl FnOnce(&mut Maker)) -> Body {
        self.bodies.push(Vec::new());
        f(self);
        Body(self.bodies.pop().unwrap())
    }

    pub fn if_(&mut self, cond: Operand, accept: impl FnOnce(&mut Maker)) {
        self.if_else(cond, accept, |_| {});
    }

    pub fn if_else(
        &mut self,
        cond: Operand,
        accept: impl FnOnce(&mut Maker),
        reject: impl FnOnce(&mut Maker),
    ) {
        let accept = self.body(accept);
        let reject = self.body(reject);
        let kind = NodeKind::If {
            cond,
            accept,
            reject,
        };
        self.push("if", kind);
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub fn block(&mut self, f: impl FnOnce(&mut Maker, Label)) {
        let label = self.label();
        let body = self.body(|m| f(m, label));
        self.push("block", NodeKind::Block { label, body });
    }

    pub fn loop_(
        &mut self,
        body: impl FnOnce(&mut Maker, Label),
        continuing: impl FnOnce(&mut Maker, Label),
    ) {
        let label = self.label();
        let body = self.body(|m| body(m, label));
        let continuing = self.body(|m| continuing(m, label));
        let kind = NodeKind::Loop {
            label,
            body,
            continuing,
        };
        self.push("loop", kind);
    }

    /// A `switch` on a u32 with one body for each value from 0 on, and an empty default.
    pub fn switch(&mut self, selector: Operand, cases: Vec<Body>) {
        let cases = (0..).zip(cases).map(|(i, body)| Case {
            values: vec![Const::u32(i)],
            body,
        });
        let kind = NodeKind::Switch {
            selector,
            cases: cases.collect(),
            default: Body::default(),
        };
        self.push("switch", kind);
    }

    pub fn break_(&mut self, label: Label) {
        self.push("break", NodeKind::Break(label));
    }

    pub fn break_if(&mut self, label: Label, cond: Operand) {
        self.if_(cond, |m| m.break_(label));
    }

    pub fn continue_(&mut self, label: Label) {
        self.push("continue", NodeKind::Continue(label));
    }

    pub fn return_(&mut self) {
        self.push("return", NodeKind::Return);
    }

    pub fn grid(&mut self) {
        self.barrier(Scope::Grid);
    }

    pub fn workgroup(&mut self) {
        self.barrier(Scope::Workgroup);
    }

    fn barrier(&mut self, scope: Scope) {
        let id = BarrierId(self.program.barriers.len() as u32);
        self.push("barrier", NodeKind::Barrier(id));
        self.note_barrier(scope);
    }

    fn note_barrier(&mut self, scope: Scope) {
        let span = self.bodies.last().unwrap().last().unwrap().span;
        self.program.barriers.push(Barrier { scope, span });
    }

    pub fn subgroup(&mut self, op: SubgroupOp, operand: Operand, lane: Option<Operand>) -> Operand {
        let of = self.program.operand_type(operand);
        let result = self.value(op.result(of).unwrap_or(of));
        let kind = NodeKind::Subgroup {
            site: BarrierId(self.program.barriers.len() as u32),
            op,
            operands: smallvec::smallvec![operand],
            lane,
            results: smallvec::smallvec![result],
        };
        self.push("subgroup", kind);
        self.note_barrier(Scope::Subgroup);
        result.into()
    }
}
