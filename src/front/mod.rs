//! Text to IR.

mod build;
mod flatten;
mod fold;
mod nesting;
mod prune;
mod range;
mod renumber;
pub mod wgsl;

/// How to lower a program.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// `None`: the only compute entry point.
    pub entry_point: Option<&'a str>,
    pub label: Option<&'a str>,
    /// By name, or by the decimal digits of an `@id`.
    pub overrides: &'a [(&'a str, f64)],
    /// Leave out the bounds checks of dynamic indices.
    pub unchecked: bool,
    /// Invocations per subgroup on the backend that will run the program.
    pub subgroup_size: u32,
}
