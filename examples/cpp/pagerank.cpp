// pagerank: which vertices of a graph do the others lead to?
//
// All iterations are ONE dispatch: the grid meets at a barrier after each, and leaves together when the ranks stand. The
// result is checked against plain C++ in double precision.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>

#include <vyre/vyre.hpp>

#include "edges.hpp"
#include "pagerank_wgsl.h"

namespace {

constexpr char help[] =
    "pagerank FILE: PageRank of a directed graph\n"
    "  FILE             lines of two vertex ids, # before comments; - is the standard input\n"
    "  --both-ways      each line is two edges\n"
    "  --damping X      share of a rank that is passed on (0.85)\n"
    "  --tolerance X    sum of all changes at which the ranks are taken to stand (1e-6)\n"
    "  --iterations N   at most (100)\n"
    "  --top N          how many to print (10)\n"
    "  --backend KIND   auto, cpu or cuda (auto)\n"
    "  --threads N      of the CPU backend (all)\n"
    "  --quiet          no times\n";

struct bad_usage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct settings {
  std::string path;
  bool both_ways = false, quiet = false;
  float damping = 0.85f, tolerance = 1e-6f;
  std::uint32_t iterations = 100, top = 10;
  vyre::backend_options device;
};

// The value of an option, a number within the limits.
template <class T>
T number(std::string_view option, std::string_view value, T least, T most) {
  T read{};
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (code != std::errc() || end != value.data() + value.size() || !(read >= least && read <= most)) {
    throw bad_usage(std::string(option) + " wants a number from " + std::to_string(least) + " to " + std::to_string(most) +
                    ", not \"" + std::string(value) + "\"");
  }
  return read;
}

settings read_options(int argc, char **argv) {
  settings s;
  for (int i = 1; i < argc; i++) {
    const std::string_view option = argv[i];
    const auto value = [&]() -> std::string_view {
      if (++i == argc) throw bad_usage(std::string(option) + " needs a value");
      return argv[i];
    };
    if (option == "--help") std::exit(std::fputs(help, stdout) < 0);
    else if (option == "--both-ways") s.both_ways = true;
    else if (option == "--quiet") s.quiet = true;
    else if (option == "--damping") s.damping = number(option, value(), 0.0f, 1.0f);
    else if (option == "--tolerance") s.tolerance = number(option, value(), 0.0f, 1.0f);
    else if (option == "--iterations") s.iterations = number(option, value(), 1u, 1000000u);
    else if (option == "--top") s.top = number(option, value(), 0u, UINT32_MAX);
    else if (option == "--threads") s.device.cpu_threads = number(option, value(), 1u, 1024u);
    else if (option == "--backend") {
      const std::string_view kind = value();
      if (kind == "auto") s.device.kind = VYRE_BACKEND_AUTO;
      else if (kind == "cpu") s.device.kind = VYRE_BACKEND_CPU;
      else if (kind == "cuda") s.device.kind = VYRE_BACKEND_CUDA;
      else throw bad_usage("--backend wants auto, cpu or cuda, not \"" + std::string(kind) + "\"");
    } else if (option.size() > 1 && option[0] == '-') throw bad_usage("there is no option " + std::string(option));
    else if (s.path.empty()) s.path = option;
    else throw bad_usage("name one file");
  }
  if (s.path.empty()) throw bad_usage("name a file of edges");
  return s;
}

graph read(const settings &s) {
  if (s.path == "-") return read_graph(std::cin, "standard input", s.both_ways);
  std::ifstream file(s.path);
  if (!file) throw bad_graph(s.path + ": it cannot be opened");
  return read_graph(file, s.path, s.both_ways);
}

struct parameters {
  std::uint32_t most;
  float damping, tolerance;
};

struct ranking {
  std::vector<float> ranks;
  std::uint32_t iterations;
  vyre::report report;
  double seconds;
};

ranking rank(const vyre::backend &backend, const graph &g, const settings &s) {
  vyre::program_options options;
  options.label = "pagerank.wgsl";
  const vyre::program program = backend.load(pagerank_wgsl, options);
  const std::uint32_t width = program.info().workgroup_size[0];
  // As many workgroups as may meet, but none without a vertex.
  const std::uint64_t most = std::min<std::uint64_t>(program.info().max_cooperative_workgroups, 1024);
  const auto workgroups = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, (g.size() + width - 1) / width));

  const vyre::buffer offsets = backend.upload(g.offsets);
  const vyre::buffer predecessors = backend.upload(g.predecessors);
  const vyre::buffer successor_counts = backend.upload(g.successor_counts);
  const std::uint64_t size = std::uint64_t{g.size()} * sizeof(float);
  const vyre::buffer ranks = backend.create_buffer(size), shares = backend.create_buffer(size);
  const vyre::buffer sums = backend.create_buffer(std::uint64_t{workgroups} * 8), total = backend.create_buffer(8);
  const vyre::buffer iterations = backend.create_buffer(4);

  vyre::dispatch work(workgroups);
  work.bind(0, offsets).bind(1, predecessors).bind(2, successor_counts).bind(3, ranks).bind(4, shares);
  work.bind(5, sums).bind(6, total).bind(7, iterations);
  work.immediates(parameters{s.iterations, s.damping, s.tolerance});
  const auto start = std::chrono::steady_clock::now();
  const vyre::report report = program.run(work);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {ranks.read<float>(), iterations.read<std::uint32_t>()[0], report, took.count()};
}

// The same, one vertex after the other.
std::vector<double> plain(const graph &g, const settings &s, std::uint32_t iterations) {
  const double n = g.size(), damping = static_cast<double>(s.damping);
  std::vector<double> ranks(g.size(), 1.0 / n), before;
  for (std::uint32_t done = 0; done < iterations; done++) {
    before = ranks;
    double nowhere = 0.0;
    for (std::uint32_t v = 0; v < g.size(); v++) {
      if (g.successor_counts[v] == 0) nowhere += before[v];
    }
    for (std::uint32_t v = 0; v < g.size(); v++) {
      double gathered = 0.0;
      for (std::uint32_t arc = g.offsets[v]; arc < g.offsets[v + 1]; arc++) {
        const std::uint32_t u = g.predecessors[arc];
        gathered += before[u] / g.successor_counts[u];
      }
      ranks[v] = (1.0 - damping + damping * nowhere) / n + damping * gathered;
    }
  }
  return ranks;
}

int run(const settings &s) {
  const graph g = read(s);
  std::printf("graph: %s\n       %u vertices, %zu edges\n", s.path.c_str(), g.size(), g.predecessors.size());
  const vyre::backend backend = vyre::backend::acquire(s.device);
  std::printf("backend: %s\n", backend.name().c_str());
  const ranking found = rank(backend, g, s);

  std::vector<std::uint32_t> order(g.size());
  std::iota(order.begin(), order.end(), 0u);
  const std::size_t top = std::min<std::size_t>(s.top, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return found.ranks[a] != found.ranks[b] ? found.ranks[a] > found.ranks[b] : a < b;
  });
  std::printf("      rank  vertex\n");
  for (std::size_t i = 0; i < top; i++) {
    std::printf("  %.6f  %llu\n", static_cast<double>(found.ranks[order[i]]), static_cast<unsigned long long>(g.ids[order[i]]));
  }
  std::printf("%u iterations in one dispatch: %llu grid barriers, %llu workgroups\n", found.iterations,
              static_cast<unsigned long long>(found.report.barriers), static_cast<unsigned long long>(found.report.workgroups));

  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> expected = plain(g, s, found.iterations);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!s.quiet) std::printf("time: dispatch %.3f ms, plain C++ on one thread %.3f ms\n", found.seconds * 1e3, took.count() * 1e3);
  double sum = 0.0, furthest = 0.0;
  for (std::uint32_t v = 0; v < g.size(); v++) {
    const double rank = static_cast<double>(found.ranks[v]);
    sum += rank;
    furthest = std::max(furthest, std::abs(rank - expected[v]) / expected[v]);
  }
  // Floats have 24 bits; the sums over all vertices are the least exact.
  if (!(furthest <= 1e-5) || !(std::abs(sum - 1.0) <= 1e-5)) {
    std::fprintf(stderr, "pagerank: the ranks differ by %g from the plain ones, and sum up to %g\n", furthest, sum);
    return 1;
  }
  std::printf("check: all %u ranks are within 1e-5 of the plain ones, and sum up to 1\n", g.size());
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(read_options(argc, argv));
  } catch (const bad_usage &error) {
    std::fprintf(stderr, "pagerank: %s\n%s", error.what(), help);
    return 2;
  } catch (const vyre::error &error) {
    std::fprintf(stderr, "pagerank: %s\n  %s\n", error.message(), error.fix());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "pagerank: %s\n", error.what());
  }
  return 1;
}
