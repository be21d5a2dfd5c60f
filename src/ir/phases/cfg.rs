//! Structured control flow as a graph of basic blocks.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::ir::{BarrierId, Body, Label, Node, NodeKind, Operand, Program};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    pub const ENTRY: BlockId = BlockId(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Jump(BlockId),
    /// The jump that closes a loop.
    Back(BlockId),
    Branch {
        cond: Operand,
        accept: BlockId,
        reject: BlockId,
    },
    /// Selector bits to target; each value once.
    Switch {
        selector: Operand,
        cases: Vec<(u64, BlockId)>,
        default: BlockId,
    },
    /// Execution goes on at `next`, a block with no other way in, once everybody has arrived.
    Barrier {
        barrier: BarrierId,
        next: BlockId,
        /// What a subgroup operation takes along: its operands, and the lane.
        brought: SmallVec<[Operand; 4]>,
    },
    Return,
}

impl End {
    /// Calls `f` with every block that may follow, the one behind a barrier included.
    pub fn successors(&self, mut f: impl FnMut(BlockId)) {
        match self {
            End::Jump(to) | End::Back(to) => f(*to),
            End::Branch { accept, reject, .. } => {
                f(*accept);
                f(*reject);
            }
            End::Switch { cases, default, .. } => {
                cases.iter().for_each(|&(_, to)| f(to));
                f(*default);
            }
            End::Barrier { next, .. } => f(*next),
            End::Return => {}
        }
    }
}

/// Straight-line nodes (`Let`, `Load`, `Store`, `Atomic`, `Assign`, `Clear`) and an end. A `Subgroup` node reads
/// its operands at the end of one block, and is the first of the next, where it defines its results.
#[derive(Debug)]
pub struct Block<'p> {
    pub nodes: Vec<&'p Node>,
    pub end: End,
}

#[derive(Debug)]
pub struct Cfg<'p> {
    pub blocks: Vec<Block<'p>>,
}

impl<'p> Cfg<'p> {
    pub fn of(program: &'p Program) -> Cfg<'p> {
        let mut builder = Builder {
            cfg: Cfg { blocks: Vec::new() },
            current: BlockId::ENTRY,
            targets: HashMap::new(),
        };
        builder.new_block();
        builder.body(&program.body);
        builder.cfg
    }

    pub fn block(&self, id: BlockId) -> &Block<'p> {
        &self.blocks[id.index()]
    }
}

struct Builder<'p> {
    cfg: Cfg<'p>,
    current: BlockId,
    /// Of each open label: where `Break` and `Continue` go.
    targets: HashMap<Label, (BlockId, Option<BlockId>)>,
}

impl<'p> Builder<'p> {
    fn new_block(&mut self) -> BlockId {
        let id = BlockId(self.cfg.blocks.len() as u32);
        self.cfg.blocks.push(Block {
            nodes: Vec::new(),
            end: End::Return,
        });
        id
    }

    fn end(&mut self, end: End, next: BlockId) {
        self.cfg.blocks[self.current.index()].end = end;
        self.current = next;
    }

    fn body(&mut self, body: &'p Body) {
        for node in &body.0 {
            self.node(node);
        }
    }

    /// `body` from `start` on, then to `join`.
    fn arm(&mut self, start: BlockId, body: &'p Body, join: BlockId) {
        self.current = start;
        self.body(body);
        self.end(End::Jump(join), join);
    }

    fn node(&mut self, node: &'p Node) {
        match &node.kind {
            NodeKind::Let { .. }
            | NodeKind::Load { .. }
            | NodeKind::Store { .. }
            | NodeKind::Atomic { .. }
            | NodeKind::Assign { .. }
            | NodeKind::Clear(_) => self.cfg.blocks[self.current.index()].nodes.push(node),
            NodeKind::If {
                cond,
                accept,
                reject,
            } => {
                let (then, join) = (self.new_block(), self.new_block());
                let otherwise = if reject.0.is_empty() {
                    join
                } else {
                    self.new_block()
                };
                self.end(
                    End::Branch {
                        cond: *cond,
                        accept: then,
                        reject: otherwise,
                    },
                    join,
                );
                self.arm(then, accept, join);
                if otherwise != join {
                    self.arm(otherwise, reject, join);
                }
            }
            NodeKind::Block { label, body } => {
                let join = self.new_block();
                self.targets.insert(*label, (join, None));
                let start = self.current;
                self.arm(start, body, join);
            }
            NodeKind::Loop {
                label,
                body,
                continuing,
            } => {
                let head = self.new_block();
                let tail = self.new_block();
                let join = self.new_block();
                self.targets.insert(*label, (join, Some(tail)));
                self.end(End::Jump(head), head);
                self.arm(head, body, tail);
                self.current = tail;
                self.body(continuing);
                self.end(End::Back(head), join);
            }
            NodeKind::Switch {
                selector,
                cases,
                default,
            } => {
                let join = self.new_block();
                let starts: Vec<BlockId> = cases.iter().map(|_| self.new_block()).collect();
                let otherwise = self.new_block();
                let targets = cases
                    .iter()
                    .zip(&starts)
                    .flat_map(|(case, &start)| case.values.iter().map(move |c| (c.bits, start)))
                    .collect();
                self.end(
                    End::Switch {
                        selector: *selector,
                        cases: targets,
                        default: otherwise,
                    },
                    join,
                );
                for (case, start) in cases.iter().zip(starts) {
                    self.arm(start, &case.body, join);
                }
                self.arm(otherwise, default, join);
            }
            // What follows a jump is unreachable; it goes to a block of its own that nobody enters.
            NodeKind::Break(label) => {
                let (target, _) = self.targets[label];
                let dead = self.new_block();
                self.end(End::Jump(target), dead);
            }
            NodeKind::Continue(label) => {
                let (_, target) = self.targets[label];
                let target = target.expect("validated: Continue names a loop");
                let dead = self.new_block();
                self.end(End::Jump(target), dead);
            }
            NodeKind::Return => {
                let dead = self.new_block();
                self.end(End::Return, dead);
            }
            NodeKind::Barrier(barrier) => {
                let next = self.new_block();
                self.end(
                    End::Barrier {
                        barrier: *barrier,
                        next,
                        brought: SmallVec::new(),
                    },
                    next,
                );
            }
            NodeKind::Subgroup {
                site,
                operands,
                lane,
                ..
            } => {
                let next = self.new_block();
                self.end(
                    End::Barrier {
                        barrier: *site,
                        next,
                        brought: operands.iter().chain(lane).copied().collect(),
                    },
                    next,
                );
                self.cfg.blocks[next.index()].nodes.push(node);
            }
        }
    }
}
