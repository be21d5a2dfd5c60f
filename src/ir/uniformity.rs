//! stub
use super::Program;
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Grid,
    Workgroup,
    Varying,
}
pub struct Uniformity {
    pub values: Vec<Level>,
    pub locals: Vec<Level>,
}
pub fn analyse(p: &Program) -> Uniformity {
    Uniformity {
        values: vec![Level::Varying; p.values.len()],
        locals: vec![Level::Varying; p.locals.len()],
    }
}
impl Uniformity {
    pub fn refusal(&self, _p: &Program) -> Option<crate::error::Error> {
        None
    }
}
