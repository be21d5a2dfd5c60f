//! Programs written as IR, run through a backend.

use std::sync::Arc;

use smallvec::smallvec;

use super::Compiled;
use crate::backend::{
    BackendDesc, Binding, BindingSource, Choice, Dispatch, HostIn, HostOut, Program as _,
};
use crate::cpu::backend::CpuBackend;
use crate::cpu::program::CpuProgram;
use crate::ir::*;
use crate::program::Checked;

struct Build {
    program: Program,
    stack: Vec<Vec<Node>>,
}

fn v(id: ValueId) -> Operand {
    Operand::Value(id)
}

fn u(x: u32) -> Operand {
    Operand::Const(Const::u32(x))
}

impl Build {
    fn new(size: u32, buffers: u32) -> Build {
        let decl = |binding| BufferDecl {
            group: 0,
            binding,
            name: format!("b{binding}"),
            space: BufferSpace::Storage,
            access: BufferAccess::ReadWrite,
            min_size: 4,
            runtime: Some(RuntimeArray {
                offset: 0,
                stride: 4,
            }),
            element_size: 4,
            span: Span::default(),
        };
        Build {
            program: Program {
                source: Source::new("", None),
                entry_point: "main".into(),
                workgroup_size: [size, 1, 1],
                buffers: (0..buffers).map(decl).collect(),
                workgroup: vec![],
                private: vec![],
                constants: vec![],
                immediates_size: 0,
                values: vec![],
                locals: vec![],
                barriers: vec![],
                body: Body::default(),
            },
            stack: vec![vec![]],
        }
    }
    fn push(&mut self, kind: NodeKind) {
        self.stack.last_mut().unwrap().push(Node {
            kind,
            span: Span::default(),
        });
    }
    fn value(&mut self, ty: Scalar) -> ValueId {
        self.program.values.push(ValueDecl {
            ty,
            span: Span::default(),
        });
        ValueId(self.program.values.len() as u32 - 1)
    }
    fn local(&mut self, ty: Scalar) -> LocalId {
        self.program.locals.push(LocalDecl {
            ty,
            name: "l".into(),
        });
        LocalId(self.program.locals.len() as u32 - 1)
    }
    fn emit(&mut self, ty: Scalar, expr: Expr) -> Operand {
        let value = self.value(ty);
        self.push(NodeKind::Let { value, expr });
        v(value)
    }
    fn bin(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        self.emit(Scalar::U32, Expr::Binary(op, a, b))
    }
    fn access(&mut self, buffer: u32, index: Operand) -> Access {
        let length = self.emit(Scalar::U32, Expr::ArrayLength(BufferId(buffer)));
        let guard = self.emit(Scalar::Bool, Expr::Compare(CompareOp::Lt, index, length));
        let wide = self.emit(Scalar::U64, Expr::Convert(index));
        let byte = self.emit(
            Scalar::U64,
            Expr::Binary(BinaryOp::Mul, wide, Operand::Const(Const::u64(4))),
        );
        Access {
            region: Region::Buffer(BufferId(buffer)),
            index: Some(byte),
            offset: 0,
            guard: Some(guard),
            scalar: Scalar::U32,
        }
    }
    fn load(&mut self, buffer: u32, index: Operand) -> Operand {
        let access = self.access(buffer, index);
        let value = self.value(Scalar::U32);
        self.push(NodeKind::Load {
            values: smallvec![value],
            access,
        });
        v(value)
    }
    fn store(&mut self, buffer: u32, index: Operand, value: Operand) {
        let access = self.access(buffer, index);
        self.push(NodeKind::Store {
            access,
            values: smallvec![value],
        });
    }
    fn barrier(&mut self, scope: Scope) {
        self.program.barriers.push(Barrier {
            scope,
            span: Span::default(),
        });
        self.push(NodeKind::Barrier(BarrierId(
            self.program.barriers.len() as u32 - 1,
        )));
    }
    fn open(&mut self) {
        self.stack.push(vec![]);
    }
    fn close(&mut self) -> Body {
        Body(self.stack.pop().unwrap())
    }
    fn finish(mut self) -> Program {
        self.program.body = self.close();
        self.program
    }
}

fn run(program: Program, threads: u32, workgroups: [u32; 3], buffers: &mut [Vec<u32>]) {
    let uniformity = uniformity::analyse(&program);
    let compiled = Compiled::from_checked(Checked {
        program,
        uniformity,
    })
    .unwrap();
    let backend = CpuBackend::new(
        &BackendDesc {
            choice: Choice::Cpu,
            ordinal: 0,
            cpu_threads: threads,
        },
        String::new(),
    );
    let program = CpuProgram {
        backend,
        compiled: Arc::new(compiled),
        from_cache: false,
    };
    let bindings = buffers
        .iter_mut()
        .enumerate()
        .map(|(i, words)| {
            let size = words.len() * 4;
            let pointer = std::ptr::NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
            Binding {
                group: 0,
                binding: i as u32,
                source: BindingSource::Host {
                    // SAFETY: the vector outlives the dispatch.
                    input: Some(unsafe { HostIn::new(pointer, size) }),
                    // SAFETY: as above.
                    output: Some(unsafe { HostOut::new(pointer, size) }),
                    size: size as u64,
                },
            }
        })
        .collect();
    let report = program
        .submit(Dispatch {
            workgroups,
            bindings,
            immediates: &[],
            timeout: None,
            repeat: 1,
            cooperative: false,
        })
        .unwrap()
        .wait()
        .unwrap();
    assert!(report.audited);
}

/// Everybody reads what the last workgroup wrote before the barrier, many times over.
#[test]
fn a_grid_barrier_in_a_loop_holds() {
    let (size, groups, turns) = (64, 64, 10);
    let mut b = Build::new(size, 2);
    let i = b.local(Scalar::U32);
    let sum = b.local(Scalar::U32);
    let gid = b.emit(
        Scalar::U32,
        Expr::Builtin(Builtin::GlobalInvocationId(Axis::X)),
    );
    let mirror = b.bin(BinaryOp::Sub, u(size * groups - 1), gid);
    let label = Label(0);
    b.open();
    let turn = b.emit(Scalar::U32, Expr::Local(i));
    let done = b.emit(Scalar::Bool, Expr::Compare(CompareOp::Ge, turn, u(turns)));
    b.open();
    b.push(NodeKind::Break(label));
    let accept = b.close();
    b.push(NodeKind::If {
        cond: done,
        accept,
        reject: Body::default(),
    });
    let written = b.bin(BinaryOp::Mul, gid, turn);
    b.store(0, gid, written);
    b.barrier(Scope::Grid);
    let read = b.load(0, mirror);
    let so_far = b.emit(Scalar::U32, Expr::Local(sum));
    let total = b.bin(BinaryOp::Add, so_far, read);
    b.push(NodeKind::Assign {
        local: sum,
        value: total,
    });
    b.barrier(Scope::Grid);
    let body = b.close();
    b.open();
    let turn = b.emit(Scalar::U32, Expr::Local(i));
    let next = b.bin(BinaryOp::Add, turn, u(1));
    b.push(NodeKind::Assign {
        local: i,
        value: next,
    });
    let continuing = b.close();
    b.push(NodeKind::Loop {
        label,
        body,
        continuing,
    });
    let result = b.emit(Scalar::U32, Expr::Local(sum));
    b.store(1, gid, result);
    let program = b.finish();
    let n = (size * groups) as usize;
    for threads in [1, 2, 4] {
        let mut buffers = [vec![0; n], vec![0; n]];
        run(program.clone(), threads, [groups, 1, 1], &mut buffers);
        for (k, &seen) in buffers[1].iter().enumerate() {
            assert_eq!(seen, (n - 1 - k) as u32 * (turns * (turns - 1) / 2));
        }
    }
}
