//! What programs become: declarations, guards, widths, spans, and what is refused where.

mod overrides;
mod refusals;
mod shape;

use super::compile;
use crate::error::{Error, Position, Status};
use crate::front::Options;
use crate::ir::{Node, NodeKind, Program, validate};

fn options() -> Options<'static> {
    Options {
        label: Some("t.wgsl"),
        subgroup_size: 1,
        ..Options::default()
    }
}

/// Compiles, and checks the form.
fn program(text: &str) -> Program {
    let program = compile(text, &options()).unwrap_or_else(|error| panic!("{error}"));
    validate(&program).unwrap_or_else(|why| panic!("{why}"));
    program
}

fn refusal(text: &str) -> Error {
    match compile(text, &options()) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error,
    }
}

/// The refusal's status, place and message hold.
fn refused(text: &str, status: Status, at: Option<(u32, u32)>, words: &str) {
    let error = refusal(text);
    let place = at.map(|(line, column)| Position { line, column });
    assert_eq!(error.status(), status, "{error}");
    assert_eq!(error.position(), place, "{error}");
    assert!(error.message().contains(words), "{error}");
    assert!(!error.fix().is_empty());
}

/// Every node, outer ones first.
fn nodes(program: &Program) -> Vec<&Node> {
    fn walk<'a>(body: &'a crate::ir::Body, all: &mut Vec<&'a Node>) {
        for node in &body.0 {
            all.push(node);
            match &node.kind {
                NodeKind::If { accept, reject, .. } => {
                    walk(accept, all);
                    walk(reject, all);
                }
                NodeKind::Block { body, .. } => walk(body, all),
                NodeKind::Loop {
                    body, continuing, ..
                } => {
                    walk(body, all);
                    walk(continuing, all);
                }
                NodeKind::Switch { cases, default, .. } => {
                    cases.iter().for_each(|case| walk(&case.body, all));
                    walk(default, all);
                }
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    walk(&program.body, &mut all);
    all
}

fn count(program: &Program, wanted: impl Fn(&NodeKind) -> bool) -> usize {
    nodes(program).iter().filter(|n| wanted(&n.kind)).count()
}
