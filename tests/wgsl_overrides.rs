//! Override constants: each value is what the program computes with.

mod harness;

use vyre::backend::{Format, ProgramDesc};
use vyre::error::Result;

/// `o[0]` after a run, in which `o[1]` is 7 and `o[2]` is 100.
fn run(text: &str, overrides: &[(&str, f64)]) -> Result<u32> {
    let backend = harness::backend(1);
    let overrides = overrides.iter().copied();
    let program = backend.clone().load(&ProgramDesc {
        label: Some("test.wgsl"),
        overrides: overrides.collect(),
        ..ProgramDesc::new(Format::Wgsl, text.as_bytes())
    })?;
    let o = harness::buffer(&backend, &[0, 7, 100]);
    harness::try_run(
        &program,
        harness::dispatch([1, 1, 1], std::slice::from_ref(&o)),
    )?;
    Ok(harness::words(&o)[0])
}

/// naga refuses it when it puts the value in the override's place itself.
const TAKEN_APART: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
    const T = array<vec2<u32>, 2>(vec2(1u, 2u), vec2(3u, 4u));
    @id(4) override k: u32 = 5u;
    override unused: u32; // without a value
    @compute @workgroup_size(1) fn main() {
        let c = T[0i].y <= k;
        var a = vec4<u32>(1u, o[2], T[1].r, o[1]);
        let b = T[0i].rggr;
        o[0] = select(0u, 10u, c) + a[2] * b[1] + a[1];
    }";

#[test]
fn constants_taken_apart_beside_an_override() {
    assert_eq!(run(TAKEN_APART, &[]).unwrap(), 116);
    assert_eq!(run(TAKEN_APART, &[("4", 1.0)]).unwrap(), 106);
    // Errors keep their place in the user's text, and their words.
    let wrong = TAKEN_APART.replace("o[2]", "o[2].x");
    let error = run(&wrong, &[]).unwrap_err();
    assert!(error.message().contains("test.wgsl:7:"), "{error}");
    let error = run(TAKEN_APART, &[("k", 1.0)]).unwrap_err();
    assert!(error.message().contains("no override `k`"), "{error}");
}

#[test]
fn values_are_converted_as_webgpu_does() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
        override i: i32; override u: u32; override f: f32; override b: bool;
        override sum = f32(i) + f32(u) + f;
        @compute @workgroup_size(u) fn main() {
            if b { o[0] = bitcast<u32>(sum); }
        }";
    let values = [("i", -2.9), ("u", 1.9), ("f", 0.1), ("b", f64::NAN)];
    assert_eq!(run(text, &values).unwrap(), 0);
    let values = [("i", -2.9), ("u", 1.9), ("f", 0.1), ("b", 0.5)];
    assert_eq!(run(text, &values).unwrap(), (-2.0f32 + 1.0 + 0.1).to_bits());
}
