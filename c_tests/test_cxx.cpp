// The C++ header: owners, copies, dispatches, errors. cxx_nonthrowing.cpp is the same program's part without exceptions.
#include "vyre/vyre.hpp"

#include <array>
#include <string>
#include <vector>

#include "check.h"

int without_exceptions(vyre_backend_kind kind);

static_assert(!std::is_copy_constructible<vyre::buffer>::value && std::is_nothrow_move_constructible<vyre::buffer>::value,
              "owners are moved");
static_assert(std::is_nothrow_copy_constructible<vyre::error>::value, "a thrown error is copied without throwing");

// Memory that is lent may not be a temporary.
template <class C, class = void>
constexpr bool may_lend = false;
template <class C>
constexpr bool may_lend<C, decltype(void(std::declval<vyre::dispatch &>().lend_in(0, 0, std::declval<C>())))> = true;
static_assert(may_lend<std::vector<int> &> && may_lend<const std::array<int, 2> &> && may_lend<vyre::bytes>, "it may be lent");
static_assert(!may_lend<std::vector<int>> && !may_lend<std::initializer_list<int>>, "it may not");

// A backend of its own over what the test is about.
static vyre::backend acquire(void) {
  vyre::backend_options options;
  options.kind = check_kind();
  options.cpu_threads = 2;
  return vyre::backend::acquire(options);
}

// What a call throws, or "nothing".
template <class Call>
static vyre_status thrown(const char *needle, Call &&call) {
  try {
    call();
  } catch (const vyre::error &error) {
    CHECK(std::string(error.what()).find(needle) != std::string::npos);
    if (std::string(error.what()).find(needle) == std::string::npos) fprintf(stderr, "  seen: %s\n", error.what());
    CHECK(std::string(error.fix()).size() >= 10);
    CHECK(std::string(error.name()) == vyre_status_name(error.status()));
    return error.status();
  }
  return VYRE_OK;
}

struct parameters {
  uint32_t factor, offset;
};

#define SCALE                                                            \
  "struct P { factor: u32, offset: u32 }\n"                              \
  "var<immediate> p: P;\n"                                               \
  "override more: u32 = 0u;\n"                                           \
  "@group(0) @binding(0) var<storage, read> given: array<u32>;\n"         \
  "@group(0) @binding(1) var<storage, read_write> scaled: array<u32>;\n"     \
  "@compute @workgroup_size(64)\n"                                       \
  "fn scale(@builtin(global_invocation_id) id: vec3<u32>) {\n"           \
  "  if id.x < arrayLength(&given) { scaled[id.x] = given[id.x] * p.factor + p.offset + more; }\n" \
  "  gridBarrier();\n"                                                   \
  "}\n"

static void a_dispatch(void) {
  const vyre::backend on = acquire();
  vyre::program_options options;
  options.label = "scale.wgsl";
  options.overrides = {{"more", 1000.0}};
  const vyre::program program = on.load(SCALE, options);
  EQUAL(program.info().workgroup_size[0], 64);
  EQUAL(program.info().grid_barriers, 1);
  CHECK(program.entry_point() == "scale");
  const auto bindings = program.bindings();
  EQUAL(bindings.size(), 2);
  CHECK(bindings[0].name == "given" && bindings[1].name == "scaled");
  EQUAL(bindings[1].properties.access, VYRE_ACCESS_READ_WRITE);

  std::vector<uint32_t> in(100);
  for (uint32_t i = 0; i < in.size(); i++) in[i] = i;
  const vyre::buffer from = on.upload(in);
  vyre::buffer to = on.create_buffer(from.size());
  vyre::dispatch what(2);
  what.bind(0, from).bind(1, to).immediates(parameters{10, 5}).timeout(std::chrono::seconds(30));
  program.warm_up(what);
  const vyre::report report = program.run(what);
  EQUAL(report.workgroups, 2);
  EQUAL(report.barriers, 1);
  EQUAL(report.audited, 1);
  const auto out = to.read<uint32_t>();
  EQUAL(out.size(), 100);
  EQUAL(out[99], 99 * 10 + 5 + 1000);
  EQUAL(to.read<uint32_t>(2, 8).at(1), 3 * 10 + 5 + 1000);

  // Binding the same place again replaces it; a batch runs all of them.
  vyre::buffer other = on.create_buffer(400);
  std::vector<vyre::dispatch> batch(3, what);
  batch[1].bind(1, other);
  batch[2].immediates(parameters{1, 0});
  size_t completed = 0;
  EQUAL(program.run_batch(batch, &completed).size(), 3);
  EQUAL(completed, 3);
  EQUAL(other.read<uint32_t>()[99], 99 * 10 + 5 + 1000);
  EQUAL(to.read<uint32_t>()[99], 99 + 1000);

  // Lent memory, of several kinds of containers.
  const std::array<uint32_t, 3> lent = {1, 2, 3};
  uint32_t back[3] = {7, 7, 7};
  what.workgroups(1).lend_in(0, 0, lent).lend_out(0, 1, back).without_timeout();
  program.run_quietly(what);
  EQUAL(back[2], 3 * 10 + 5 + 1000);
}

static void copies(void) {
  vyre::backend on = acquire();
  vyre::buffer buffer = on.create_buffer(64);
  buffer.write({1.5f, 2.5f}, 16);
  CHECK(buffer.read<float>(2, 16) == (std::vector<float>{1.5f, 2.5f}));
  buffer.fill(0x01020304, 8, 8);
  uint8_t bytes[4] = {0};
  buffer.read_into(bytes, 12);
  EQUAL(bytes[0], 4);
  vyre::buffer copy = on.create_buffer(64);
  copy.copy_from(buffer, 16, 0, 16);
  CHECK(copy.read<float>(2) == (std::vector<float>{1.5f, 2.5f}));
  CHECK(copy.native_pointer() != buffer.native_pointer());
  EQUAL(buffer.read<uint64_t>(std::nullopt, 56).size(), 1);
  EQUAL(buffer.read<uint64_t>(std::nullopt, 60).size(), 0);

  auto host = on.allocate_host<uint32_t>(16);
  for (uint32_t &word : host) word = 9;
  buffer.write(host);
  EQUAL(buffer.read<uint32_t>().at(15), 9);
  CHECK(on.telemetry().copies_in > 0);
  on.reset_telemetry();
  EQUAL(on.telemetry().copies_in, 0);
  on.trim(true);
  CHECK(!on.name().empty() && !on.reason().empty());
  EQUAL(on.info().kind, check_kind());
  CHECK(!vyre::devices().empty() && vyre::devices().back().properties.kind == VYRE_BACKEND_CPU);
}

static void owners(void) {
  vyre::backend on = acquire();
  vyre::buffer first = on.create_buffer(16), second = on.create_buffer(32);
  const vyre_buffer raw = second.get();
  first = std::move(second);
  CHECK(!second && first);
  EQUAL(first.get().id, raw.id);
  EQUAL(on.telemetry().buffers, 1);
  const vyre::buffer adopted(first.release());
  CHECK(!first);
  EQUAL(adopted.size(), 32);
  EQUAL(thrown("", [&] { (void)first.size(); }), VYRE_ERROR_INVALID_HANDLE);
  // A buffer outlives its backend's owner.
  vyre::buffer outlives = on.upload({1u, 2u});
  on = vyre::backend();
  EQUAL(outlives.read<uint32_t>().at(1), 2);
}

static void errors(void) {
  const vyre::backend on = acquire();
  try {
    (void)on.load("@compute @workgroup_size(1)\nfn main() { let x = ; }\n", {"", "broken.wgsl", 0, {}});
    CHECK(!"it loads");
  } catch (const vyre::error &error) {
    const vyre::error copied = error;
    EQUAL(copied.status(), VYRE_ERROR_INVALID_PROGRAM);
    CHECK(copied.position() && copied.position()->line == 2 && copied.position()->column == 21);
    CHECK(std::string(copied.message()).find("broken.wgsl:2:21") != std::string::npos);
  }
  const vyre::program program = on.load(SCALE);
  vyre::buffer buffer = on.create_buffer(16);
  vyre::dispatch what(1);
  what.bind(0, buffer).immediates(parameters{1, 1});
  EQUAL(thrown("is missing", [&] { program.run(what); }), VYRE_ERROR_BINDING_MISMATCH);
  vyre::buffer gone = on.create_buffer(16);
  what.bind(1, gone);
  gone = vyre::buffer();
  EQUAL(thrown("buffer", [&] { program.run(what); }), VYRE_ERROR_INVALID_HANDLE);
  EQUAL(thrown("16", [&] { (void)buffer.read<uint32_t>(5); }), VYRE_ERROR_OUT_OF_RANGE);
  EQUAL(thrown("16", [&] { (void)buffer.read<uint32_t>(SIZE_MAX); }), VYRE_ERROR_OUT_OF_RANGE);
  EQUAL(thrown("16", [&] { buffer.write({1u, 2u}, 12); }), VYRE_ERROR_OUT_OF_RANGE);
  EQUAL(thrown("", [&] { (void)on.allocate_host<uint64_t>(SIZE_MAX); }), VYRE_ERROR_OUT_OF_HOST_MEMORY);
  const auto failed = on.try_load("");
  CHECK(!failed);
  EQUAL(thrown("", [&] { (void)on.try_load("").value(); }), failed.failure().status());
  what.timeout(std::chrono::seconds(-1));
  EQUAL(what.get().timeout_ns, 1);
}

static long resident_kib(void) {
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file != NULL) {
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
  }
  return resident * 4;
}

static void nothing_is_kept(void) {
  const vyre::backend on = acquire();
  const int cycles = getenv("VYRE_TEST_SLOW") != NULL ? 20 : 10000;
  long before = 0;
  for (int i = 0; i < cycles; i++) {
    const vyre::program program = on.load(SCALE);
    const vyre::buffer from = on.upload({1u, 2u, 3u});
    const vyre::buffer to = on.create_buffer(12);
    program.run(vyre::dispatch(1).bind(0, from).bind(1, to).immediates(parameters{2, 0}));
    if (to.try_read<uint32_t>(4)) CHECK(!"past its end");
    if (i == cycles / 10) before = resident_kib();
  }
  const long after = resident_kib();
  if (!CHECK(after - before < 4096)) fprintf(stderr, "  %ld KiB grew to %ld\n", before, after);
}

int main(void) {
  RUN(a_dispatch);
  RUN(copies);
  RUN(owners);
  RUN(errors);
  RUN(nothing_is_kept);
  EQUAL(without_exceptions(check_kind()), 0);
  return check_finish();
}
