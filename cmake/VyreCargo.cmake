# The target vyre_cargo: cargo builds the crate on every build (cargo itself knows what is fresh) and
# the libraries are put under their installed names into ${PROJECT_BINARY_DIR}/lib.

if(NOT VYRE_CARGO)
  # $ENV{HOME}/.cargo/bin: where rustup puts it, also when the shell's path does not say so yet.
  find_program(VYRE_CARGO_FOUND cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin")
  if(NOT VYRE_CARGO_FOUND)
    message(FATAL_ERROR "cargo is not on the path, and vyre's core is written in Rust. "
      "Install a Rust toolchain (https://rustup.rs) or give -DVYRE_CARGO=/path/to/cargo.")
  endif()
  set(vyre_cargo "${VYRE_CARGO_FOUND}")
else()
  set(vyre_cargo "${VYRE_CARGO}")
endif()

# Debug is for those who debug vyre itself; everything else gets the optimised library.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(vyre_profile dev)
  set(vyre_profile_dir debug)
else()
  set(vyre_profile release)
  set(vyre_profile_dir release)
endif()

set(vyre_cargo_flags --locked)
if(VYRE_OFFLINE)
  list(APPEND vyre_cargo_flags --offline)
endif()

# What a program needs beside libvyre.a. Asked of an empty crate now, because targets want to know
# before the build; the build asks again about the real one and fails if the answers differ.
set(vyre_probe "${PROJECT_BINARY_DIR}/native-libs-probe")
file(WRITE "${vyre_probe}/Cargo.toml" [=[
[package]
name = "probe"
version = "0.0.0"
edition = "2024"
[lib]
path = "lib.rs"
crate-type = ["staticlib"]
[workspace]
]=])
file(WRITE "${vyre_probe}/lib.rs" "")
execute_process(
  COMMAND "${vyre_cargo}" rustc --offline --manifest-path "${vyre_probe}/Cargo.toml"
    --target-dir "${vyre_probe}/target" -- --print native-static-libs
  RESULT_VARIABLE vyre_probe_result
  OUTPUT_VARIABLE vyre_probe_output
  ERROR_VARIABLE vyre_probe_output)
if(NOT vyre_probe_result EQUAL 0 OR NOT vyre_probe_output MATCHES "native-static-libs: ([^\n]+)")
  message(FATAL_ERROR "${vyre_cargo} could not build an empty crate:\n${vyre_probe_output}")
endif()
string(STRIP "${CMAKE_MATCH_1}" VYRE_NATIVE_LIBS)
separate_arguments(VYRE_NATIVE_LIBS_LIST UNIX_COMMAND "${VYRE_NATIVE_LIBS}")

set(vyre_lib_dir "${PROJECT_BINARY_DIR}/lib")
set(vyre_shared_name "libvyre.so.${PROJECT_VERSION}")
set(vyre_soname "libvyre.so.${VYRE_SOVERSION}")
set(vyre_shared "${vyre_lib_dir}/${vyre_shared_name}")
set(vyre_static "${vyre_lib_dir}/libvyre.a")

add_custom_target(vyre_cargo ALL
  COMMAND "${CMAKE_COMMAND}"
    "-DCARGO=${vyre_cargo}"
    "-DFLAGS=${vyre_cargo_flags}"
    "-DPROFILE=${vyre_profile}"
    "-DMANIFEST=${PROJECT_SOURCE_DIR}/Cargo.toml"
    "-DTARGET_DIR=${VYRE_CARGO_TARGET_DIR}"
    "-DMADE=${VYRE_CARGO_TARGET_DIR}/${vyre_profile_dir}"
    "-DLIB_DIR=${vyre_lib_dir}"
    "-DSHARED_NAME=${vyre_shared_name}"
    "-DSONAME=${vyre_soname}"
    "-DNATIVE_LIBS=${VYRE_NATIVE_LIBS}"
    -P "${PROJECT_SOURCE_DIR}/cmake/RunCargo.cmake"
  BYPRODUCTS "${vyre_shared}" "${vyre_static}"
  COMMENT "cargo builds vyre (${vyre_profile})"
  USES_TERMINAL
  VERBATIM)
