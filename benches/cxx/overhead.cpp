// overhead: each call of vyre.hpp beside the C call that it makes, in turns, medians of many.
//
//   overhead [cpu|cuda]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include <vyre/vyre.hpp>

namespace {

constexpr int turns = 4001;
constexpr int calls = 16;  // in a turn: a clock counts in steps
constexpr double limit = 1.02;
int missed = 0;

double median(std::vector<double> &times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class Call>
double nanoseconds(Call &&call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; i++) call();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls;
}

// One line of the table.
template <class C, class Cxx>
void compare(const char *what, C &&c, Cxx &&cxx) {
  std::vector<double> theirs, ours;
  for (int turn = -100; turn < turns; turn++) {
    // Which is first changes: the second finds the caches warmer.
    double first = 0.0, second = 0.0;
    if (turn % 2 == 0) first = nanoseconds(c), second = nanoseconds(cxx);
    else second = nanoseconds(cxx), first = nanoseconds(c);
    if (turn >= 0) theirs.push_back(first), ours.push_back(second);
  }
  const double of_c = median(theirs), of_cxx = median(ours), ratio = of_cxx / of_c;
  missed += ratio > limit;
  std::printf("%-36s %10.1f %10.1f ns  %6.3f  at most %.2f  %s\n", what, of_cxx, of_c, ratio, limit, ratio > limit ? "MISSED" : "ok");
}

void check(vyre_status status) {
  if (status != VYRE_OK) std::fprintf(stderr, "%s\n", vyre_status_name(status)), std::exit(2);
}

}  // namespace

int main(int argc, char **argv) {
  vyre::backend_options options;
  options.kind = argc > 1 && std::strcmp(argv[1], "cuda") == 0 ? VYRE_BACKEND_CUDA : VYRE_BACKEND_CPU;
  options.cpu_threads = 1;
  const vyre::backend backend = vyre::backend::acquire(options);
  const vyre::program program = backend.load(
      "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
      "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { o[i] += i; }\n");
  vyre::buffer buffer = backend.create_buffer(256);
  vyre::dispatch work(1);
  work.bind(0, buffer);

  vyre_binding binding{};
  binding.buffer = buffer.get();
  vyre_dispatch_desc desc;
  vyre_dispatch_desc_init(&desc);
  desc.workgroups[0] = desc.workgroups[1] = desc.workgroups[2] = 1;
  desc.bindings = &binding, desc.binding_count = 1;
  std::vector<std::uint32_t> words(64);
  vyre_error *error = nullptr;

  std::printf("%-36s %10s %10s     %6s\n", "", "C++", "C", "ratio");
  compare(
      "dispatch", [&] { check(vyre_dispatch(program.get(), &desc, nullptr, &error)); }, [&] { program.run_quietly(work); });
  compare(
      "dispatch with a report",
      [&] {
        vyre_dispatch_report report;
        vyre_dispatch_report_init(&report);
        check(vyre_dispatch(program.get(), &desc, &report, &error));
      },
      [&] { (void)program.run(work); });
  compare(
      "write of 256 bytes", [&] { check(vyre_buffer_write(buffer.get(), 0, words.data(), 256, &error)); },
      [&] { buffer.write(words); });
  compare(
      "read of 256 bytes", [&] { check(vyre_buffer_read(buffer.get(), 0, words.data(), 256, &error)); },
      [&] { buffer.read_into(words); });
  return missed > 0;
}
