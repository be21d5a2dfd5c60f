//! Link flags of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // Programs record the name that promises this ABI, not the file they were linked with.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libvyre.so.0");
        // Worker threads run code of this library: dlclose must not unmap it under them.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
