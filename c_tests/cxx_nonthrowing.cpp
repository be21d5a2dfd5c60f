// The C++ header without exceptions and run-time type information, in one program with a unit that has both.
#include "vyre/vyre.hpp"

#include <cstring>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this unit is to be compiled with -fno-exceptions -fno-rtti"
#endif

int without_exceptions(vyre_backend_kind kind);

// 0, or the line of what failed.
int without_exceptions(vyre_backend_kind kind) {
  vyre::backend_options options;
  options.kind = kind;
  auto on = vyre::backend::try_acquire(options);
  if (!on) return __LINE__;
  auto program = on->try_load(
      "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
      "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { o[i] += i; }\n");
  if (!program) return __LINE__;
  auto buffer = on->try_upload({1u, 1u, 1u, 1u});
  if (!buffer) return __LINE__;
  const auto report = program->try_run(vyre::dispatch(1).bind(0, *buffer).repeat(2));
  if (!report || report->workgroups != 1) return __LINE__;
  const auto words = buffer->try_read<std::uint32_t>();
  if (!words || words->size() != 4 || (*words)[3] != 7) return __LINE__;
  if (!buffer->try_write({5u}, 4)) return __LINE__;
  const auto past = buffer->try_write({5u}, 16);
  if (past || past.failure().status() != VYRE_ERROR_OUT_OF_RANGE) return __LINE__;
  if (std::strlen(past.failure().message()) == 0 || std::strlen(past.failure().fix()) == 0) return __LINE__;
  const auto broken = on->try_load("fn main( {}");
  if (broken || !broken.failure().position() || broken.failure().position()->line != 1) return __LINE__;
  const vyre::buffer none;
  const auto size = none.try_size();
  if (size || size.failure().status() != VYRE_ERROR_INVALID_HANDLE) return __LINE__;
  return 0;
}
