#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include <vyre/vyre.h>

extern "C" int other_check();

namespace {

// Throws what a failed call says.
void check(vyre_status status, vyre_error *error) {
  if (status == VYRE_OK) return;
  std::string message = vyre_error_message(error);
  vyre_error_free(error);
  throw message;
}

void round_trip() {
  const std::vector<std::uint32_t> sent{1, 2, 3, 4};
  std::vector<std::uint32_t> received(sent.size());
  const std::uint64_t size = sent.size() * sizeof(sent[0]);
  vyre_backend_desc desc;
  vyre_backend_desc_init(&desc);
  desc.kind = VYRE_BACKEND_CPU;
  vyre_backend backend{};
  vyre_buffer buffer{};
  vyre_error *error = nullptr;
  check(vyre_backend_acquire(&desc, &backend, &error), error);
  check(vyre_buffer_upload(backend, sent.data(), size, &buffer, &error), error);
  check(vyre_buffer_read(buffer, 0, received.data(), size, &error), error);
  if (sent != received) throw std::string("the buffer gave other bytes back");
  check(vyre_buffer_release(buffer, &error), error);
  check(vyre_backend_release(backend, &error), error);
}

}  // namespace

int main() {
  if (!other_check()) return std::puts("the header and the library differ"), 1;
  try {
    round_trip();
  } catch (const std::string &message) {
    return std::puts(message.c_str()), 1;
  }
  std::printf("consumer: vyre %s works\n", vyre_version_string());
}
