//! What a script makes go wrong.
//!
//! A script is a list of `call@n=effect` with semicolons between. `n` counts the uses of the call since the script
//! was set: a number, a number with `+` for that one and all after it, or `*`. The effect is a CUresult, which is
//! sticky if the driver's is, or `delay:N` milliseconds. The call `kernel` is the execution of a launch, later and
//! apart from the launching: its codes come asynchronously, and it has effects of its own, on the word that the
//! grid's first arrival at a barrier is counted in:
//!   `stale`    it still holds the arrivals of an earlier launch
//!   `partial`  the last block's arrival is lost
//!   `short`    one arrival too few is seen by who reads the word to report it, and left in it
//!   `extra`    as `short`, one too many

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The variable with the script of a process.
const VARIABLE: &str = "VYRE_DOUBLE_FAULTS";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Code(i32),
    Delay(Duration),
    Tamper(Tamper),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tamper {
    Stale,
    Partial,
    Short,
    Extra,
}

struct Rule {
    call: String,
    from: u64,
    to: u64,
    effect: Effect,
}

#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
    pub uses: HashMap<&'static str, u64>,
    /// How often a rule applied.
    pub fired: u64,
}

static SCRIPT: Mutex<Option<Script>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Script>> {
    SCRIPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The script in force; at first the environment's.
pub fn with<T>(f: impl FnOnce(&mut Script) -> T) -> T {
    let mut script = lock();
    f(script.get_or_insert_with(|| match std::env::var(VARIABLE) {
        Ok(text) => parse(&text).unwrap_or_else(|what| {
            eprintln!("driver double: {VARIABLE}: {what}");
            std::process::abort();
        }),
        Err(_) => Script::default(),
    }))
}

/// Counts a use of a call, and says what happens to it.
pub fn at(call: &'static str) -> Option<Effect> {
    with(|script| {
        let uses = script.uses.entry(call).or_default();
        *uses += 1;
        let n = *uses;
        let rule = (script.rules.iter()).find(|r| r.call == call && (r.from..=r.to).contains(&n));
        let effect = rule.map(|rule| rule.effect);
        script.fired += u64::from(effect.is_some());
        effect
    })
}

/// Puts a script in force and starts counting; an empty one lets everything be as it is.
pub fn set(text: &str) -> Result<(), String> {
    let script = parse(text)?;
    *lock() = Some(script);
    Ok(())
}

fn parse(text: &str) -> Result<Script, String> {
    let rules = text
        .split(';')
        .map(str::trim)
        .filter(|rule| !rule.is_empty());
    Ok(Script {
        rules: rules.map(rule).collect::<Result<_, _>>()?,
        ..Script::default()
    })
}

fn rule(text: &str) -> Result<Rule, String> {
    let wrong = || format!("{text:?} is not call@n=effect");
    let (place, effect) = text.split_once('=').ok_or_else(wrong)?;
    let (call, n) = place.split_once('@').ok_or_else(wrong)?;
    let (from, to) = match n.strip_suffix('+') {
        _ if n == "*" => (1, u64::MAX),
        Some(n) => (n.parse().map_err(|_| wrong())?, u64::MAX),
        None => {
            let n = n.parse().map_err(|_| wrong())?;
            (n, n)
        }
    };
    let effect = match (effect, effect.strip_prefix("delay:")) {
        (_, Some(n)) => Effect::Delay(Duration::from_millis(n.parse().map_err(|_| wrong())?)),
        ("stale", _) => Effect::Tamper(Tamper::Stale),
        ("partial", _) => Effect::Tamper(Tamper::Partial),
        ("short", _) => Effect::Tamper(Tamper::Short),
        ("extra", _) => Effect::Tamper(Tamper::Extra),
        (code, _) => Effect::Code(code.parse().map_err(|_| wrong())?),
    };
    Ok(Rule {
        call: call.to_owned(),
        from,
        to,
        effect,
    })
}

/// Whether a context is of no use after this code.
pub fn is_sticky(code: i32) -> bool {
    matches!(code, 214 | 220 | 700 | 702 | 710 | 714..=719)
}
