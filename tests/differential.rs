//! placeholder
#[path = "common/eval/mod.rs"]
mod eval;
#[test]
fn x() {
    let _ = eval::run;
}
