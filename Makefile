# What one does with this repository; each target sets up what it needs.
#
#   make demo      build, search two graphs, draw a picture
#   make test      all tests
#   make check     format, lints, generated files
#   make bench     times against OpenMP and memcpy
#   make conformance [BACKEND=cuda] [FILTER=text]  the recorded vectors in ../shared/conformance, all by default
#   make nightly   the long differential test
#   make fuzz [TARGET=wgsl] [SECONDS=3600]  a front end under random texts; TARGET=ptx is the other
#   make gpu-bundle  what runs on a machine with a GPU and no toolchain, in build/gpu-bundle
#   make header    regenerate include/vyre
#   make clean     remove what was built

CARGO ?= $(or $(shell command -v cargo),$(wildcard $(HOME)/.cargo/bin/cargo),cargo)
JOBS ?= $(shell nproc)
# Everything that is built, except what cargo keeps in target/.
BUILD := build
PREFIX := $(CURDIR)/$(BUILD)/prefix
EXAMPLES := $(BUILD)/examples
EXAMPLES_CPP := $(BUILD)/examples-cpp
# A package of its own, because nothing depends on it.
DOUBLE := tests/driver_double
export CARGO

.PHONY: all demo test check header bench nightly fuzz conformance gpu-bundle clean \
  install examples test-rust test-double test-c test-install test-readme test-guide test-examples test-kernels check-exports

all: install

# --- building ------------------------------------------------------------------------------------

# The library in build/prefix, as a user would have it under /usr/local.
install:
	@scripts/setup.sh build
	cmake -S . -B $(BUILD)/release -DCMAKE_BUILD_TYPE=Release -DVYRE_CARGO="$(CARGO)" \
	  -DVYRE_CARGO_TARGET_DIR="$(CURDIR)/target"
	cmake --build $(BUILD)/release
	cmake --install $(BUILD)/release --prefix "$(PREFIX)"

examples: install
	cmake -S examples/c -B $(EXAMPLES) -DCMAKE_PREFIX_PATH="$(PREFIX)"
	cmake --build $(EXAMPLES) --parallel $(JOBS)
	cmake -S examples/cpp -B $(EXAMPLES_CPP) -DCMAKE_PREFIX_PATH="$(PREFIX)"
	cmake --build $(EXAMPLES_CPP) --parallel $(JOBS)

demo: examples
	@scripts/demo.sh $(EXAMPLES) $(BUILD)/demo

# --- tests -----------------------------------------------------------------------------------------

test: test-rust test-double test-c test-install test-readme test-guide test-examples test-kernels
	@echo "make test: everything passed"

# nextest gives each test a process of its own and a line at the end; cargo's runner does without it.
# What the PTX emitter writes is assembled where ptxas can be had.
test-rust:
	@scripts/ptxas.sh
	@ls "$${VYRE_CONFORMANCE_DIR:-../shared/conformance}"/*.jsonl.gz >/dev/null 2>&1 || \
	  echo "make test: no conformance vectors in $${VYRE_CONFORMANCE_DIR:-../shared/conformance}: that test runs none"
	@if "$(CARGO)" nextest --version >/dev/null 2>&1; then \
	  "$(CARGO)" nextest run --locked --no-fail-fast; \
	else \
	  "$(CARGO)" test --locked --no-fail-fast --lib --tests; \
	fi

# What runs on a GPU, without one.
test-double: install
	@scripts/setup.sh test
	tests/double.sh "$(PREFIX)" $(BUILD)/double

test-c: install
	@scripts/setup.sh test
	tests/c.sh "$(PREFIX)" $(BUILD)/c

test-install: install
	@scripts/setup.sh test
	tests/install/run.sh $(BUILD)/release $(BUILD)/install-test

test-guide:
	tests/guide.sh $(BUILD)/guide

test-readme: install
	tests/readme.sh "$(PREFIX)" $(BUILD)/readme

test-examples: examples
	tests/examples.sh $(EXAMPLES) $(EXAMPLES_CPP) $(BUILD)/examples-test

# What benches/cuda measures, on the CPU against plain C.
test-kernels: install
	cmake -S benches/cuda -B $(BUILD)/kernels -DCMAKE_PREFIX_PATH="$(PREFIX)"
	cmake --build $(BUILD)/kernels --parallel $(JOBS)
	$(BUILD)/kernels/kernels --cpu benches/cuda

# --- checks ----------------------------------------------------------------------------------------

check: check-exports
	"$(CARGO)" fmt --check
	"$(CARGO)" clippy --locked --all-targets -- -D warnings
	"$(CARGO)" fmt --check --manifest-path $(DOUBLE)/Cargo.toml
	"$(CARGO)" fmt --check --manifest-path fuzz/Cargo.toml
	"$(CARGO)" clippy --locked --all-targets --manifest-path $(DOUBLE)/Cargo.toml --target-dir target/double -- -D warnings
	"$(CARGO)" test --locked --test header
	scripts/check_sources.sh
	@echo "make check: everything passed"

# The shared library exports the committed list and nothing else.
# (The release build, which the tests of the C surface need anyway.)
check-exports: install
	@scripts/setup.sh test
	sh c_tests/check_exports.sh "$(PREFIX)/lib/libvyre.so" include/vyre/vyre.symbols

header:
	VYRE_UPDATE_HEADER=1 "$(CARGO)" test --locked --test header

# --- the rest ----------------------------------------------------------------------------------------

bench: install
	@scripts/setup.sh bench
	cmake -S benches/c -B $(BUILD)/benches -DCMAKE_PREFIX_PATH="$(PREFIX)" -DCMAKE_C_COMPILER=gcc
	cmake --build $(BUILD)/benches --parallel $(JOBS)
	cmake -S benches/cxx -B $(BUILD)/benches-cxx -DCMAKE_PREFIX_PATH="$(PREFIX)"
	cmake --build $(BUILD)/benches-cxx --parallel $(JOBS)
	$(BUILD)/benches/bench
	$(BUILD)/benches-cxx/overhead

nightly:
	VYRE_DIFF_SEEDS=2000 "$(CARGO)" test --locked --release --test differential --test differential_rich --test ranges

# VYRE_CONFORMANCE_DIR names another folder.
conformance:
	VYRE_TEST_BACKEND=$(or $(BACKEND),cpu) VYRE_CONFORMANCE="$(or $(FILTER),all)" \
	  "$(CARGO)" test --locked --release --test conformance -- --nocapture

# cargo-fuzz wants a nightly compiler, or one that is told that it is one. What it finds is in fuzz/artifacts.
fuzz: TARGET := wgsl
fuzz: SECONDS := 3600
fuzz:
	@"$(CARGO)" fuzz --version >/dev/null 2>&1 || { echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 1; }
	scripts/fuzz_corpus.sh $(TARGET) fuzz/corpus/$(TARGET)
	RUSTC_BOOTSTRAP=1 "$(CARGO)" fuzz run --sanitizer none --target-dir "$(CURDIR)/target/fuzz" $(TARGET) -- \
	  -dict=fuzz/wgsl.dict -max_len=8192 -rss_limit_mb=4096 -timeout=10 -max_total_time=$(SECONDS)

gpu-bundle: install
	scripts/gpu_bundle.sh "$(PREFIX)" $(BUILD)/gpu-bundle

clean:
	rm -rf $(BUILD)
	"$(CARGO)" clean
