#include <cstdint>
#include <cstdio>
#include <vector>
#include <vyre/vyre.hpp>

extern "C" int other_check();

int main() {
  if (!other_check()) return std::puts("the header and the library differ"), 1;
  try {
    vyre::backend_options options;
    options.kind = VYRE_BACKEND_CPU;
    const vyre::backend backend = vyre::backend::acquire(options);
    const std::vector<std::uint32_t> sent{1, 2, 3, 4};
    const vyre::buffer buffer = backend.upload(sent);
    if (buffer.read<std::uint32_t>() != sent) return std::puts("the buffer gave other bytes back"), 1;
  } catch (const vyre::error &error) {
    return std::puts(error.what()), 1;
  }
  std::printf("consumer: vyre %s works\n", vyre_version_string());
}
