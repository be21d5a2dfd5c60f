//! What depends on what, and the flood that finds each node's level.

use super::Level;
use super::explain::{ConditionKind, Exit, Why};
use crate::ir::Span;

/// Index of a node; the values of the program come first, under their own ids.
pub type NodeIx = usize;

/// What a node stands for, as far as messages care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    Value {
        is_load: bool,
    },
    /// Whether a place behind a condition is reached.
    Condition {
        kind: ConditionKind,
        span: Span,
    },
    /// Whether a place is reached that exits may have gone past.
    After,
    /// Whether an exit is taken.
    Exit {
        exit: Exit,
        span: Span,
    },
    /// A local variable where paths meet, or a private array.
    Storage,
}

/// Why a node is above `Level::Grid` by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceOf {
    pub level: Level,
    pub why: Why,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Graph {
    roles: Vec<Role>,
    sources: Vec<(NodeIx, SourceOf)>,
    /// (what is depended on, who depends on it)
    edges: Vec<(NodeIx, NodeIx)>,
}

impl Graph {
    /// A graph of the program's values alone.
    pub fn new(values: usize) -> Graph {
        Graph {
            roles: vec![Role::Value { is_load: false }; values],
            sources: Vec::new(),
            edges: Vec::new(),
        }
    }

    pub fn add(&mut self, role: Role) -> NodeIx {
        self.roles.push(role);
        self.roles.len() - 1
    }

    pub fn depend(&mut self, user: NodeIx, on: NodeIx) {
        self.edges.push((on, user));
    }

    pub fn source(&mut self, node: NodeIx, source: SourceOf) {
        self.sources.push((node, source));
    }

    pub fn set_load(&mut self, value: NodeIx) {
        self.roles[value] = Role::Value { is_load: true };
    }

    pub fn role(&self, node: NodeIx) -> Role {
        self.roles[node]
    }

    /// Raises everything that depends on a source, breadth first, so that the way back is a shortest one.
    pub fn flood(&self) -> Levels {
        let users = Users::of(self.roles.len(), &self.edges);
        let mut reached: Vec<Option<Reached>> = vec![None; self.roles.len()];
        for level in [Level::Varying, Level::Subgroup, Level::Workgroup] {
            let mut front = Vec::new();
            for &(node, source) in self.sources.iter().filter(|(_, s)| s.level == level) {
                if reached[node].is_none() {
                    reached[node] = Some(Reached {
                        level,
                        from: From::Source(source),
                    });
                    front.push(node);
                }
            }
            let mut next = 0;
            while let Some(&node) = front.get(next) {
                next += 1;
                for &user in users.of_node(node) {
                    if reached[user].is_none() {
                        reached[user] = Some(Reached {
                            level,
                            from: From::Node(node),
                        });
                        front.push(user);
                    }
                }
            }
        }
        Levels { reached }
    }
}

/// The edges, grouped by what is depended on.
struct Users {
    starts: Vec<usize>,
    users: Vec<NodeIx>,
}

impl Users {
    fn of(nodes: usize, edges: &[(NodeIx, NodeIx)]) -> Users {
        let mut starts = vec![0; nodes + 1];
        for &(on, _) in edges {
            starts[on + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut fill = starts.clone();
        let mut users = vec![0; edges.len()];
        for &(on, user) in edges {
            users[fill[on]] = user;
            fill[on] += 1;
        }
        Users { starts, users }
    }

    fn of_node(&self, node: NodeIx) -> &[NodeIx] {
        &self.users[self.starts[node]..self.starts[node + 1]]
    }
}

#[derive(Clone, Copy, Debug)]
struct Reached {
    level: Level,
    from: From,
}

/// Where the flood came from.
#[derive(Clone, Copy, Debug)]
pub enum From {
    Source(SourceOf),
    Node(NodeIx),
}

/// What the flood left: nothing where the whole grid agrees.
pub struct Levels {
    reached: Vec<Option<Reached>>,
}

impl Levels {
    pub fn of(&self, node: NodeIx) -> Level {
        self.reached[node].map_or(Level::Grid, |reached| reached.level)
    }

    pub fn came_from(&self, node: NodeIx) -> Option<From> {
        self.reached[node].map(|reached| reached.from)
    }
}
