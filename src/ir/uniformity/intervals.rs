//! Which memory may be written in the barrier interval of each place.
//!
//! All who meet at a barrier leave it together, so an interval is what is reachable from one barrier
//! (or the start) without passing another. A load agrees only if no interval that contains it
//! contains a write to its memory, before or after it: another invocation may be ahead or behind.

use smallvec::SmallVec;

use crate::ir::{Program, Region, Span};

/// How a block of the control flow begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    Entry,
    Plain,
    /// A barrier of the workgroup: it ends intervals of workgroup memory only.
    Workgroup,
    Grid,
}

/// Writable memories as bits: buffers first, then workgroup variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set(SmallVec<[u64; 2]>);

impl Set {
    pub fn insert(&mut self, bit: usize) {
        if self.0.len() <= bit / 64 {
            self.0.resize(bit / 64 + 1, 0);
        }
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    pub fn contains(&self, bit: usize) -> bool {
        (self.0.get(bit / 64)).is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }

    fn unite(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    fn split(&self, at: usize) -> (Set, Set) {
        let (mut below, mut above) = (self.clone(), self.clone());
        for (i, (low, high)) in below.0.iter_mut().zip(&mut above.0).enumerate() {
            let mask = match at.saturating_sub(i * 64) {
                n if n >= 64 => u64::MAX,
                n => (1 << n) - 1,
            };
            *low &= mask;
            *high &= !mask;
        }
        (below, above)
    }
}

#[derive(Clone, Debug)]
pub struct Block {
    pub start: Start,
    pub writes: Set,
    /// Each write's memory and place.
    pub sites: Vec<(usize, Span)>,
    pub next: SmallVec<[usize; 2]>,
}

/// The control flow, as far as memory and barriers are concerned. Block 0 is the entry; blocks are
/// in an order that only back edges of loops run against.
#[derive(Clone, Debug)]
pub struct Flow {
    pub blocks: Vec<Block>,
    buffers: usize,
}

impl Flow {
    pub fn new(program: &Program) -> Flow {
        let mut flow = Flow {
            blocks: Vec::new(),
            buffers: program.buffers.len(),
        };
        flow.add(Start::Entry);
        flow
    }

    pub fn add(&mut self, start: Start) -> usize {
        self.blocks.push(Block {
            start,
            writes: Set::default(),
            sites: Vec::new(),
            next: SmallVec::new(),
        });
        self.blocks.len() - 1
    }

    pub fn edge(&mut self, from: usize, to: usize) {
        self.blocks[from].next.push(to);
    }

    /// The bit of a memory that several invocations share and may write.
    pub fn bit(&self, region: Region) -> Option<usize> {
        match region {
            Region::Buffer(id) => Some(id.index()),
            Region::Workgroup(id) => Some(self.buffers + id.index()),
            Region::Private(_) | Region::Immediates | Region::Constant(_) => None,
        }
    }

    pub fn write(&mut self, block: usize, region: Region, span: Span) {
        if let Some(bit) = self.bit(region) {
            let block = &mut self.blocks[block];
            block.writes.insert(bit);
            block.sites.push((bit, span));
        }
    }

    /// Whether an interval of this memory ends where the block starts.
    fn cuts(&self, block: usize, bit: usize) -> bool {
        match self.blocks[block].start {
            Start::Entry | Start::Grid => true,
            Start::Workgroup => bit >= self.buffers,
            Start::Plain => false,
        }
    }

    /// A write to the memory in an interval that contains `block`.
    pub fn witness(&self, block: usize, bit: usize) -> Option<Span> {
        let mut before = vec![Vec::new(); self.blocks.len()];
        for (from, b) in self.blocks.iter().enumerate() {
            for &to in &b.next {
                before[to].push(from);
            }
        }
        let mut starts = vec![false; self.blocks.len()];
        let mut front = vec![block];
        while let Some(b) = front.pop() {
            if !std::mem::replace(&mut starts[b], true) && !self.cuts(b, bit) {
                front.extend(&before[b]);
            }
        }
        let mut found = vec![false; self.blocks.len()];
        let mut front: Vec<usize> = (0..self.blocks.len())
            .filter(|&b| starts[b] && self.cuts(b, bit))
            .collect();
        let mut earliest = None;
        while let Some(b) = front.pop() {
            if std::mem::replace(&mut found[b], true) {
                continue;
            }
            let sites = self.blocks[b].sites.iter().filter(|site| site.0 == bit);
            earliest = sites
                .map(|site| site.1)
                .chain(earliest)
                .min_by_key(|s| s.start);
            let next = self.blocks[b].next.iter().copied();
            front.extend(next.filter(|&n| !self.cuts(n, bit)));
        }
        earliest
    }
}

/// By block: the memories that some interval which contains the block writes.
pub struct Intervals {
    written: Vec<Set>,
}

impl Intervals {
    pub fn of(flow: &Flow) -> Intervals {
        let ahead = ahead(flow);
        let count = flow.blocks.len();
        let mut written: Vec<Set> = vec![Set::default(); count];
        let mut joined: Vec<Set> = vec![Set::default(); count];
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..count {
                let now = match flow.blocks[b].start {
                    Start::Entry | Start::Grid => ahead[b].clone(),
                    Start::Plain => joined[b].clone(),
                    Start::Workgroup => {
                        let (mut buffers, _) = joined[b].split(flow.buffers);
                        buffers.unite(&ahead[b].split(flow.buffers).1);
                        buffers
                    }
                };
                if now != written[b] {
                    changed = true;
                    for &next in &flow.blocks[b].next {
                        joined[next].unite(&now);
                    }
                    written[b] = now;
                }
            }
        }
        Intervals { written }
    }

    pub fn is_written(&self, block: usize, bit: usize) -> bool {
        self.written[block].contains(bit)
    }
}

/// By block: the memories that may be written from its start on before the next barrier.
fn ahead(flow: &Flow) -> Vec<Set> {
    let mut ahead: Vec<Set> = flow.blocks.iter().map(|b| b.writes.clone()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for b in (0..flow.blocks.len()).rev() {
            let mut now = ahead[b].clone();
            for &next in &flow.blocks[b].next {
                match flow.blocks[next].start {
                    Start::Grid => {}
                    Start::Workgroup => now.unite(&ahead[next].split(flow.buffers).0),
                    Start::Entry | Start::Plain => now.unite(&ahead[next]),
                }
            }
            if now != ahead[b] {
                ahead[b] = now;
                changed = true;
            }
        }
    }
    ahead
}
