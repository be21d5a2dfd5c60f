//! The functions that CUDA computes by series of its own, held to what vyre promises, where there is no GPU.
//!
//! tests/accuracy.rs does that on the device, with many more operands.
#![allow(dead_code, reason = "that test uses all of these modules")]

#[path = "../accuracy/allowed.rs"]
mod allowed;
#[path = "../accuracy/device.rs"]
mod device;
#[path = "../accuracy/elementary.rs"]
mod elementary;
#[path = "../accuracy/format.rs"]
mod format;
#[path = "../accuracy/number.rs"]
mod number;
#[path = "../accuracy/points.rs"]
mod points;
#[path = "../accuracy/precise.rs"]
mod precise;

use format::Format;

use super::{bytes, load, words};

#[test]
fn series_keep_what_is_promised() {
    let format = Format::F32;
    for function in elementary::elementary() {
        let Some(most) = function.ours else { continue };
        let columns = match function.operands {
            1 => points::unary(format, &(function.domain)(format), 4000, 7),
            n => points::several(format, n, 4000, 7, function.more),
        };
        let mut declared = String::new();
        let mut body = String::new();
        for at in 0..function.operands {
            let (name, binding) = (device::name(at), at + 1);
            declared +=
                &format!("@group(0) @binding({binding}) var<storage, read> {name}_: array<f32>;");
            body += &format!("let {name} = {name}_[w.x];");
        }
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<f32>; {declared}
            @compute @workgroup_size(1) fn main(@builtin(workgroup_id) w: vec3u) {{
              {body} out[w.x] = {};
            }}",
            function.expression
        );
        let count = columns.len();
        let mut contents = vec![vec![0; count * 4]];
        for column in &columns.values {
            let column: Vec<u32> = column.iter().map(|&bits| bits as u32).collect();
            contents.push(bytes(&column));
        }
        load(&source).launch([count as u32, 1, 1], &mut contents, u64::MAX, 0);
        let mut judged = 0;
        for (at, &seen) in words(&contents[0]).iter().enumerate() {
            let row = columns.row(at);
            let x: Vec<f64> = row.iter().map(|&bits| format.decode(bits)).collect();
            let truth = (function.truth)(&x);
            if x.iter().any(|x| !x.is_finite()) || !truth.is_finite() {
                continue;
            }
            judged += 1;
            let seen = format.decode(seen.into());
            let off = number::error(format, truth.into(), seen);
            let name = function.name;
            assert!(
                off <= most,
                "{name} of {x:?}: saw {seen:e}, {off} ULP from {truth:e}"
            );
        }
        assert!(
            judged > 1000,
            "{}: only {judged} operands are judged",
            function.name
        );
    }
}
