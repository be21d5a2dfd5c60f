//! What is live where: values, locals and memories, item by item.
//!
//! Each item is walked backward from its uses to its definitions, so the cost is the size of the
//! live ranges and not blocks times items.

use super::cfg::{BlockId, Cfg, End};
use super::uses;
use crate::ir::{LocalId, MemoryId, Operand, Program, Region, ValueId};

/// Something whose contents a later node may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    Value(ValueId),
    Local(LocalId),
    Workgroup(MemoryId),
    Private(MemoryId),
}

/// The items live at the start of each block.
pub struct Liveness {
    live_in: Vec<Vec<Item>>,
}

impl Liveness {
    pub fn at(&self, block: BlockId) -> &[Item] {
        &self.live_in[block.index()]
    }
}

/// Per item: the blocks that need it from outside, and the blocks that make it anew.
#[derive(Clone, Default)]
struct Sites {
    uses: Vec<BlockId>,
    kills: Vec<BlockId>,
}

pub fn analyse(program: &Program, cfg: &Cfg<'_>) -> Liveness {
    let numbering = Numbering::of(program);
    let mut sites = vec![Sites::default(); numbering.count()];
    for (index, block) in cfg.blocks.iter().enumerate() {
        let id = BlockId(index as u32);
        let read = |sites: &mut Vec<Sites>, item: Item| {
            let site = &mut sites[numbering.number(item)];
            // A use behind a definition in its own block needs nothing from outside.
            if site.kills.last() != Some(&id) && site.uses.last() != Some(&id) {
                site.uses.push(id);
            }
        };
        let kill = |sites: &mut Vec<Sites>, item: Item| {
            let site = &mut sites[numbering.number(item)];
            if site.kills.last() != Some(&id) {
                site.kills.push(id);
            }
        };
        for node in &block.nodes {
            uses::operands(node, |operand| {
                if let Operand::Value(value) = operand {
                    read(&mut sites, Item::Value(value));
                }
            });
            if let Some(local) = uses::local_read(node) {
                read(&mut sites, Item::Local(local));
            }
            match uses::memory_read(node) {
                Some(Region::Workgroup(m)) => read(&mut sites, Item::Workgroup(m)),
                Some(Region::Private(m)) => read(&mut sites, Item::Private(m)),
                _ => {}
            }
            uses::definitions(node, |value| kill(&mut sites, Item::Value(value)));
            if let crate::ir::NodeKind::Assign { local, .. } = node.kind {
                kill(&mut sites, Item::Local(local));
            }
            if let Some(memory) = uses::memory_cleared(node) {
                kill(&mut sites, Item::Private(memory));
            }
        }
        let at_end = match &block.end {
            End::Branch { cond: x, .. } | End::Switch { selector: x, .. } => {
                std::slice::from_ref(x)
            }
            End::Barrier { brought, .. } => brought.as_slice(),
            End::Jump(_) | End::Back(_) | End::Return => &[],
        };
        for operand in at_end {
            if let Operand::Value(value) = operand {
                read(&mut sites, Item::Value(*value));
            }
        }
    }
    walk(cfg, &numbering, &sites)
}

fn walk(cfg: &Cfg<'_>, numbering: &Numbering, sites: &[Sites]) -> Liveness {
    let predecessors = predecessors(cfg);
    let mut live_in: Vec<Vec<Item>> = vec![Vec::new(); cfg.blocks.len()];
    // The number of the item that last marked the block as live-in, or as killing.
    let mut live = vec![u32::MAX; cfg.blocks.len()];
    let mut killing = vec![u32::MAX; cfg.blocks.len()];
    let mut open = Vec::new();
    for (number, site) in sites.iter().enumerate() {
        if site.uses.is_empty() {
            continue;
        }
        let stamp = number as u32;
        for block in &site.kills {
            killing[block.index()] = stamp;
        }
        let item = numbering.item(number);
        let mut reach = |block: BlockId, open: &mut Vec<BlockId>| {
            if live[block.index()] != stamp {
                live[block.index()] = stamp;
                live_in[block.index()].push(item);
                open.push(block);
            }
        };
        for &block in &site.uses {
            reach(block, &mut open);
        }
        while let Some(block) = open.pop() {
            for &before in &predecessors[block.index()] {
                if killing[before.index()] != stamp {
                    reach(before, &mut open);
                }
            }
        }
    }
    Liveness { live_in }
}

fn predecessors(cfg: &Cfg<'_>) -> Vec<Vec<BlockId>> {
    let mut result = vec![Vec::new(); cfg.blocks.len()];
    for (index, block) in cfg.blocks.iter().enumerate() {
        block
            .end
            .successors(|next| result[next.index()].push(BlockId(index as u32)));
    }
    result
}

/// Items as consecutive numbers.
struct Numbering {
    locals: usize,
    workgroup: usize,
    private: usize,
    end: usize,
}

impl Numbering {
    fn of(program: &Program) -> Numbering {
        let locals = program.values.len();
        let workgroup = locals + program.locals.len();
        let private = workgroup + program.workgroup.len();
        Numbering {
            locals,
            workgroup,
            private,
            end: private + program.private.len(),
        }
    }

    fn count(&self) -> usize {
        self.end
    }

    fn number(&self, item: Item) -> usize {
        match item {
            Item::Value(id) => id.index(),
            Item::Local(id) => self.locals + id.index(),
            Item::Workgroup(id) => self.workgroup + id.index(),
            Item::Private(id) => self.private + id.index(),
        }
    }

    fn item(&self, number: usize) -> Item {
        if number < self.locals {
            Item::Value(ValueId(number as u32))
        } else if number < self.workgroup {
            Item::Local(LocalId((number - self.locals) as u32))
        } else if number < self.private {
            Item::Workgroup(MemoryId((number - self.workgroup) as u32))
        } else {
            Item::Private(MemoryId((number - self.private) as u32))
        }
    }
}
