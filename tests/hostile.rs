//! Texts that nobody would write, found by the fuzzer: each is refused or runs, and takes neither long nor much memory.

mod harness;

use std::time::{Duration, Instant};

use vyre::backend::ProgramFlags;
use vyre::error::Status;

/// What loading says; no fault of our own, and soon.
fn loads(text: &str) -> Result<(), Status> {
    let start = Instant::now();
    let backend = harness::backend(1);
    let result = harness::try_load(&backend, text, ProgramFlags::default());
    let took = start.elapsed();
    assert!(
        took < Duration::from_secs(10),
        "it took {took:?}: {text:.200}"
    );
    result.map(|_| ()).map_err(|error| {
        assert_ne!(error.status(), Status::Internal, "{error}\n{text:.2000}");
        error.status()
    })
}

#[test]
fn structures_inside_of_structures_are_refused() {
    for text in [
        "const c = 8; struct A { a@size(c) struct B { @align(c) x: u32 } struct C { b: B }",
        "const c = 8; struct A { @size(c, struct B { @size(c) x: u32 }) a: u32 }",
        "struct A { @size(8) a = 5; struct B { @align(4 + 4) x: u32 } : u32 }",
    ] {
        assert_eq!(loads(text), Err(Status::InvalidProgram), "{text}");
    }
    // Each would be read to the end of the text.
    for begin in [
        "struct a {",
        "struct a { @size(8) b: u32, ",
        "struct a { b: array<",
    ] {
        let text = begin.repeat((1 << 20) / begin.len());
        assert_eq!(loads(&text), Err(Status::InvalidProgram), "{begin}");
    }
}
