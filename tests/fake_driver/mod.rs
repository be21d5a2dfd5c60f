//! Made-up drivers: C libraries with every function that the library looks for, and no GPU behind them.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What the environment makes them do; the rest says yes and does nothing.
const BEHAVIOUR: &str = r#"
#include <stdlib.h>
#include <string.h>

static int set(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}

/* 999 if the environment says that this call fails. */
static int result(const char *call) {
  const char *failing = getenv("FAKE_CUDA_FAILS");
  return failing != NULL && strcmp(failing, call) == 0 ? 999 : 0;
}

int fake_init(unsigned flags) {
  (void)flags;
  return set("FAKE_CUDA_INIT", 0);
}

int fake_version(int *version) {
  *version = 12040;
  return result("cuDriverGetVersion");
}

int fake_count(int *count) {
  *count = set("FAKE_CUDA_COUNT", 1);
  return result("cuDeviceGetCount");
}

/* Every attribute is the same number; as a compute capability it is new enough. */
int fake_attribute(int *value) {
  *value = set("FAKE_CUDA_ATTRIBUTE", 9);
  return result("cuDeviceGetAttribute");
}

int fake_device_name(char *name, int size) {
  strncpy(name, "Made-up device", (size_t)size);
  return result("cuDeviceGetName");
}

static const struct {
  int code;
  const char *name, *meaning;
} known[] = {
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int text_of(int code, const char **text, int meaning) {
  size_t i;
  for (i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].code == code) {
      *text = meaning ? known[i].meaning : known[i].name;
      return 0;
    }
  }
  *text = NULL;
  return 1;
}

int fake_name(int code, const char **text) { return text_of(code, text, 0); }
int fake_meaning(int code, const char **text) { return text_of(code, text, 1); }
"#;

/// The names that the library requires of a driver, as its source lists them.
pub fn required() -> Vec<String> {
    let text = include_str!("../../src/cuda/driver/api.rs");
    let (_, list) = text.split_once("    required {\n").expect("the list");
    let (list, _) = list.split_once("    optional {\n").expect("its end");
    let names: Vec<String> = (list.split("= c\"").skip(1))
        .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
        .collect();
    assert!(names.len() > 30, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("cu")), "{names:?}");
    names
}

/// A driver that has every required function but this one, and none of the optional ones.
pub fn driver(without: Option<&str>) -> PathBuf {
    static BUILT: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let name = format!("without-{}", without.unwrap_or("nothing"));
    let path = (built.get_or_insert_default())
        .entry(name)
        .or_insert_with_key(|name| build(name, without));
    path.clone()
}

fn build(name: &str, without: Option<&str>) -> PathBuf {
    let mut source = BEHAVIOUR.to_owned();
    for symbol in required() {
        if Some(symbol.as_str()) == without {
            continue;
        }
        let line = match symbol.as_str() {
            "cuInit" => "int cuInit(unsigned flags) { return fake_init(flags); }".into(),
            "cuDriverGetVersion" => {
                "int cuDriverGetVersion(int *v) { return fake_version(v); }".into()
            }
            "cuDeviceGetCount" => "int cuDeviceGetCount(int *n) { return fake_count(n); }".into(),
            "cuDeviceGetAttribute" => {
                "int cuDeviceGetAttribute(int *v) { return fake_attribute(v); }".into()
            }
            "cuDeviceGetName" => {
                "int cuDeviceGetName(char *t, int n) { return fake_device_name(t, n); }".into()
            }
            "cuGetErrorName" => {
                "int cuGetErrorName(int c, const char **t) { return fake_name(c, t); }".into()
            }
            "cuGetErrorString" => {
                "int cuGetErrorString(int c, const char **t) { return fake_meaning(c, t); }".into()
            }
            _ => format!("int {symbol}(void) {{ return result(\"{symbol}\"); }}"),
        };
        writeln!(source, "{line}").expect("a string takes everything");
    }
    // Some runners give each test a process of its own, and they run at once.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake_driver");
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests can be written");
    let own = folder.join(format!("{name}-{}", std::process::id()));
    let (text, library) = (own.with_extension("c"), own.with_extension("so"));
    std::fs::write(&text, source).expect("as above");
    let output = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-shared", "-fPIC", "-O0", "-o"])
        .arg(&library)
        .arg(&text)
        .output()
        .expect("these tests need a C compiler: install cc, or name one in CC");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let _ = std::fs::remove_file(&text);
    library
}
