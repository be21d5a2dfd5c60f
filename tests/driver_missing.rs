//! CUDA drivers that are not there, are not drivers, are too old, or refuse to start: each is told for what it
//! is, and the CPU goes on working.
//!
//! A process opens the driver once, so each case runs in one of its own: this test again, with the path of a
//! made-up driver in the environment.

#[path = "driver_missing/child.rs"]
mod child;
mod fake_driver;

use std::path::Path;

use child::{Report, report_of};
use vyre::error::Status;

/// Acquiring gave this status and driver's code and a message that has every needle, with and without a fallback; the
/// list shows the reason; the CPU works.
#[track_caller]
fn check(report: &Report, status: Status, code: i32, needles: &[&str]) {
    let about = format!("{report:#?}");
    assert_eq!(report.status, status as i32, "{about}");
    assert_eq!(report.native_code, code, "{about}");
    for needle in needles {
        assert!(report.message.contains(needle), "no {needle:?} in {about}");
    }
    assert!(report.fix.len() > 10, "{about}");
    assert!(report.cpu_works, "{about}");
    if report.cuda_listed.is_empty() {
        return;
    }
    // One entry in the place of the devices.
    assert_eq!(report.cuda_listed.len(), 1, "{about}");
    for needle in needles {
        // An empty list of devices has no code and no ordinal to be about.
        let is_there = report.cuda_listed[0].contains(needle);
        assert!(is_there || status == Status::NoDevice, "{about}");
    }
    assert!(
        report.auto_reason.starts_with("AUTO took the CPU: "),
        "{about}"
    );
    assert!(report.auto_reason.contains(&report.message), "{about}");
}

/// A driver that behaves as the settings say.
#[track_caller]
fn check_driver(settings: &[(&str, &str)], status: Status, code: i32, needles: &[&str]) -> Report {
    let driver = fake_driver::driver(None);
    let report = report_of(Some(driver.as_os_str()), settings);
    check(&report, status, code, needles);
    assert_eq!(report.cuda_listed.len(), 1, "{report:#?}");
    report
}

#[test]
fn a_file_that_is_not_there() {
    let path = "/nowhere/libcuda.so.1";
    let report = report_of(Some(path.as_ref()), &[]);
    check(
        &report,
        Status::DriverUnavailable,
        0,
        &[path, "VYRE_CUDA_DRIVER"],
    );
    assert!(report.fix.contains("VYRE_CUDA_DRIVER"));
}

#[test]
fn a_variable_that_is_empty() {
    let report = report_of(Some("".as_ref()), &[]);
    check(
        &report,
        Status::DriverUnavailable,
        0,
        &["VYRE_CUDA_DRIVER is empty"],
    );
}

#[test]
fn a_file_that_is_no_library() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let report = report_of(Some(path.as_os_str()), &[]);
    let name = path.to_str().unwrap();
    check(&report, Status::DriverUnavailable, 0, &[name]);
    let folder = report_of(Some(env!("CARGO_MANIFEST_DIR").as_ref()), &[]);
    check(
        &folder,
        Status::DriverUnavailable,
        0,
        &[env!("CARGO_MANIFEST_DIR")],
    );
}

/// Whatever this machine has: nothing here may depend on it, but for telling no driver from one that is there.
#[test]
fn no_variable() {
    let report = report_of(None, &[]);
    assert!(report.cpu_works, "{report:#?}");
    let is_absent = report.message.contains("no CUDA driver was found");
    assert_eq!(report.cuda_listed.is_empty(), is_absent, "{report:#?}");
    if is_absent {
        check(
            &report,
            Status::DriverUnavailable,
            0,
            &["libcuda.so.1", "/usr/lib/wsl/lib"],
        );
    }
}

#[test]
fn each_function_that_an_old_driver_may_lack() {
    let required = fake_driver::required();
    for symbol in &required {
        let driver = fake_driver::driver(Some(symbol));
        let report = report_of(Some(driver.as_os_str()), &[]);
        let no_function = format!("has no function {symbol}:");
        let mut needles = vec![no_function.as_str()];
        // Where it lies is found through cuInit.
        if symbol != "cuInit" {
            needles.push(driver.to_str().unwrap());
        }
        check(&report, Status::DriverUnavailable, 0, &needles);
        assert!(report.fix.contains("newer NVIDIA driver"), "{report:#?}");
    }
}

#[test]
fn codes_that_starting_a_driver_may_give() {
    let path = fake_driver::driver(None);
    let path = path.to_str().unwrap();
    let init = |code| [("FAKE_CUDA_INIT", code)];
    let unavailable = Status::DriverUnavailable;
    let needles = ["finds no device", "CUDA_ERROR_NO_DEVICE, 100", path];
    let none = check_driver(&init("100"), Status::NoDevice, 100, &needles);
    assert!(none.cuda_listed[0].contains("CUDA_ERROR_NO_DEVICE"));
    assert!(none.fix.contains("CUDA_VISIBLE_DEVICES"));

    let needles = [
        "refuses to start",
        "CUDA_ERROR_UNKNOWN (999): unknown error",
        path,
    ];
    let refusing = check_driver(&init("999"), unavailable, 999, &needles);
    assert!(refusing.fix.contains("nvidia-smi"));

    let stub = check_driver(&init("34"), unavailable, 34, &["CUDA stub library", path]);
    assert!(stub.fix.contains("stubs folder"));

    let needles = ["refuses to start", "CUDA_ERROR_NOT_INITIALIZED (3)"];
    check_driver(&init("3"), unavailable, 3, &needles);
    let fabric = check_driver(&init("802"), unavailable, 802, &["802"]);
    assert!(fabric.fix.contains("fabricmanager"));
    let mismatch = check_driver(&init("803"), unavailable, 803, &["803"]);
    assert!(mismatch.fix.contains("one version"));
    // A code of a newer driver than anyone knows, and no code at all.
    for code in ["54321", "-7"] {
        let number = code.parse().unwrap();
        let unnamed = format!("code {code}, which this driver does not name");
        check_driver(&init(code), unavailable, number, &[&unnamed]);
    }
}

#[test]
fn a_driver_without_devices() {
    let report = check_driver(
        &[("FAKE_CUDA_COUNT", "0")],
        Status::NoDevice,
        0,
        &["no CUDA device 0", "shows 0"],
    );
    assert_eq!(report.cuda_listed, ["the CUDA driver shows no device"]);
    let negative = [("FAKE_CUDA_COUNT", "-1")];
    check_driver(&negative, Status::NoDevice, 0, &["shows 0"]);
}

/// Started, and then a question that must be answered is not.
#[test]
fn a_driver_that_fails_later() {
    let failing = |call| [("FAKE_CUDA_FAILS", call)];
    let message = |call| format!("{call} failed with CUDA_ERROR_UNKNOWN (999)");
    for call in [
        "cuDriverGetVersion",
        "cuDeviceGetCount",
        "cuDeviceGet",
        "cuDeviceGetAttribute",
        "cuDeviceGetName",
    ] {
        let report = check_driver(
            &failing(call),
            Status::DriverUnavailable,
            999,
            &[&message(call)],
        );
        assert!(report.fix.contains("nvidia-smi"), "{report:#?}");
    }
    // A device that can be looked at but not used: it is in the list.
    let driver = fake_driver::driver(None);
    let call = "cuDevicePrimaryCtxRetain";
    let report = report_of(Some(driver.as_os_str()), &failing(call));
    assert_eq!(report.cuda_listed, [""], "{report:#?}");
    assert_eq!(report.status, Status::DriverUnavailable as i32);
    assert!(
        report.message.contains(&message(call)) && report.cpu_works,
        "{report:#?}"
    );
}

#[test]
fn a_device_that_is_too_old() {
    let needles = ["Made-up device has compute capability 6.6", "7.0 or newer"];
    let old = [("FAKE_CUDA_ATTRIBUTE", "6")];
    check_driver(&old, Status::Unsupported, 0, &needles);
}
