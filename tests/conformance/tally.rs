//! Counts by category, and what is expected to be refused.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;

use super::one::{Outcome, Times};
use super::vectors::Vector;

#[derive(Default)]
struct Row {
    passed: usize,
    failed: usize,
    listed: usize,
    /// Ran without a complaint, and had nothing to compare.
    unchanged: usize,
}

#[derive(Default)]
pub struct Tally {
    rows: BTreeMap<String, Row>,
    failures: Vec<String>,
    /// Expectations that a vector met.
    met: HashSet<String>,
    /// Programs of which `times` has one.
    timed: HashSet<u64>,
    times: Vec<Times>,
}

/// The end of a vector's id, and words of naga's message.
pub type Expectation = (String, String);

pub fn expectations(text: &str) -> Vec<Expectation> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (id, message) = line
                .split_once('\t')
                .unwrap_or_else(|| panic!("expectations.txt: {line:?} is no id, tab and message"));
            (id.to_string(), message.to_string())
        })
        .collect()
}

impl Tally {
    pub fn count(
        &mut self,
        vector: &Vector,
        (outcome, times): (Outcome, Option<Times>),
        expected: &[Expectation],
    ) {
        if let Some(times) = times
            && self.timed.insert(vector.program())
        {
            self.times.push(times);
        }
        let row = self.rows.entry(vector.category.clone()).or_default();
        let expectation = expected
            .iter()
            .find(|(id, _)| vector.id.ends_with(id.as_str()));
        let what = match (outcome, expectation) {
            (Outcome::Refused(message), Some((id, words))) if message.contains(words.as_str()) => {
                row.listed += 1;
                self.met.insert(id.clone());
                return;
            }
            (Outcome::Passed, None) => {
                if vector.changes() {
                    row.passed += 1;
                } else {
                    row.unchanged += 1;
                }
                return;
            }
            (Outcome::Passed, Some(_)) => "is listed as refused, and passes".to_string(),
            (Outcome::Refused(message), _) => format!("refused: {message}"),
            (Outcome::Failed(what), _) => what,
        };
        row.failed += 1;
        let failure = format!("{}: {}: {what}", vector.category, vector.id);
        self.failures.push(failure);
    }

    pub fn done(&self) -> usize {
        let rows = self.rows.values();
        rows.map(|row| row.passed + row.failed + row.listed + row.unchanged)
            .sum()
    }

    /// Of all, or of those that no vector met when all ran.
    pub fn unmet<'a>(&self, expected: &'a [Expectation]) -> Vec<&'a str> {
        let unmet = expected.iter().filter(|(id, _)| !self.met.contains(id));
        unmet.map(|(id, _)| id.as_str()).collect()
    }

    pub fn failures(&mut self) -> &[String] {
        self.failures.sort();
        &self.failures
    }

    pub fn failed(&self) -> usize {
        self.failures.len()
    }

    fn median(&self, of: impl Fn(&Times) -> Duration) -> (f64, f64) {
        let mut all: Vec<f64> = self
            .times
            .iter()
            .map(|t| of(t).as_secs_f64() * 1e3)
            .collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (all.len() as f64 * share) as usize;
            all.get(index).copied().unwrap_or(0.0)
        };
        (at(0.5), at(0.99))
    }

    pub fn report_times(&self, backend: &str) {
        println!("of {} programs: median, 99th percentile", self.times.len());
        type Part = (&'static str, fn(&Times) -> Duration);
        let parts: [Part; 3] = [
            ("load", |times| times.load),
            ("PTX emission alone", |times| times.emission),
            ("text to PTX", |times| times.to_ptx),
        ];
        for (name, of) in parts {
            let (median, late) = self.median(of);
            let place = if name == "load" { backend } else { "" };
            println!("  {name:<18} {place:<5} {median:8.3} ms {late:8.3} ms");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.keys().map(String::len).max().unwrap_or(0).max(8);
        writeln!(
            f,
            "{:<width$} {:>7} {:>7} {:>7} {:>9}",
            "category", "passed", "failed", "listed", "unchanged"
        )?;
        let mut all = Row::default();
        let mut line = |name: &str, row: &Row| {
            writeln!(
                f,
                "{name:<width$} {:>7} {:>7} {:>7} {:>9}",
                row.passed, row.failed, row.listed, row.unchanged
            )
        };
        for (name, row) in &self.rows {
            line(name, row)?;
            all.passed += row.passed;
            all.failed += row.failed;
            all.listed += row.listed;
            all.unchanged += row.unchanged;
        }
        line("all", &all)?;
        writeln!(
            f,
            "listed: naga refuses them (tests/conformance/expectations.txt). unchanged: they ran without a \
             complaint and change no byte; they are in no other column."
        )?;
        write!(f, "{} passed, {} failed", all.passed, all.failed)
    }
}
