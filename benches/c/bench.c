/* bench: what vyre's calls cost, each beside the limit that the project sets itself.
 *
 * Comparisons run in turns within this process, so that both sides see the same machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "device.h"
#include "fail.h"
#include "kronecker.h"
#include "median.h"
#include "reach_openmp.h"
#include "reach_wgsl.h"
#include "search.h"

#define SAMPLES 4096

static const char HELP[] =
    "bench: times of vyre's calls and of a breadth-first search against OpenMP\n"
    "  --scale N         of the Kronecker graph (20)\n"
    "  --rounds N        turns of the long comparisons (9)\n"
    "  --strict          exit status 1 if a limit is missed\n" DEVICE_HELP;

static double samples[SAMPLES];
static int missed;

/* One line of the table; `unit` says what value and limit are. */
static void row(const char *what, double value, double limit, const char *unit) {
  const int over = value > limit;
  missed += over;
  printf("%-46s %10.2f %-3s  limit %7.2f  %s\n", what, value, unit, limit, over ? "OVER" : "within");
  fflush(stdout);
}

static void bench_dispatch(vyre_backend backend) {
  static const char source[] =
      "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
      "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { out[i] = out[i] + i; }\n";
  const vyre_program program = device_load(backend, source, "one workgroup");
  const vyre_buffer buffer = device_buffer(backend, 64 * sizeof(uint32_t));
  const vyre_binding binding = {.buffer = buffer};
  vyre_dispatch_desc desc;
  vyre_dispatch_desc_init(&desc);
  desc.workgroups[0] = desc.workgroups[1] = desc.workgroups[2] = 1;
  desc.bindings = &binding;
  desc.binding_count = 1;
  vyre_error *error;
  for (int i = -1000; i < SAMPLES; i++) {
    const double start = clock_seconds();
    const vyre_status status = vyre_dispatch(program, &desc, NULL, &error);
    const double time = clock_seconds() - start;
    device_check(status, error, "dispatching");
    if (i >= 0) samples[i] = time;
  }
  row("warm dispatch of one workgroup", median(samples, SAMPLES) * 1e6, 5, "us");
  vyre_buffer_release(buffer, NULL);
  vyre_program_release(program, NULL);
}

static void bench_load(vyre_backend backend) {
  /* A comment of its own makes each source new to every cache. */
  char *text = allocate(sizeof reach_wgsl + 64, 1);
  for (int i = 0; i < 9; i++) {
    snprintf(text, sizeof reach_wgsl + 64, "%s// copy %d\n", reach_wgsl, i);
    const double start = clock_seconds();
    const vyre_program program = device_load(backend, text, "reach.wgsl");
    samples[i] = clock_seconds() - start;
    vyre_program_release(program, NULL);
  }
  free(text);
  row("first load of reach.wgsl", median(samples, 9) * 1e3, 50, "ms");

  const vyre_program kept = device_load(backend, reach_wgsl, "reach.wgsl");
  for (int i = 0; i < 500; i++) {
    const double start = clock_seconds();
    const vyre_program program = device_load(backend, reach_wgsl, "reach.wgsl");
    samples[i] = clock_seconds() - start;
    vyre_program_release(program, NULL);
  }
  vyre_program_release(kept, NULL);
  row("second load of reach.wgsl", median(samples, 500) * 1e6, 20, "us");
}

static void bench_copy(vyre_backend backend, int rounds) {
  const size_t size = (size_t)64 << 20;
  char *host = allocate(size, 1), *other = allocate(size, 1);
  memset(host, 1, size);
  memset(other, 2, size);
  const vyre_buffer buffer = device_buffer(backend, size);
  double *write = allocate((size_t)rounds, sizeof *write), *read = allocate((size_t)rounds, sizeof *read),
         *copy = allocate((size_t)rounds, sizeof *copy);
  vyre_error *error;
  for (int i = -2; i < rounds; i++) {
    const double t0 = clock_seconds();
    vyre_status status = vyre_buffer_write(buffer, 0, host, size, &error);
    const double t1 = clock_seconds();
    device_check(status, error, "writing");
    memcpy(other, host, size);
    const double t2 = clock_seconds();
    status = vyre_buffer_read(buffer, 0, host, size, &error);
    const double t3 = clock_seconds();
    device_check(status, error, "reading");
    if (i < 0) continue; /* the first touches of the pages */
    write[i] = t1 - t0;
    copy[i] = t2 - t1;
    read[i] = t3 - t2;
  }
  const double base = median(copy, (size_t)rounds);
  row("buffer write of 64 MiB against memcpy", median(write, (size_t)rounds) / base, 1.2, "x");
  row("buffer read of 64 MiB against memcpy", median(read, (size_t)rounds) / base, 1.2, "x");
  printf("%-46s %10.2f ms\n", "  memcpy itself", base * 1e3);
  vyre_buffer_release(buffer, NULL);
  free(write);
  free(read);
  free(copy);
  free(host);
  free(other);
}

static void bench_reach(vyre_backend backend, uint32_t scale, int rounds, int threads) {
  edge_list list;
  graph g;
  kronecker_edge_list(scale, 16, 1, &list, false);
  graph_build(&g, &list, false);
  edge_list_free(&list);
  const uint32_t source = graph_busiest(&g);
  uint32_t *levels = allocate(g.vertex_count, sizeof *levels), *queue = allocate(g.vertex_count, sizeof *queue),
           *ours = allocate(g.vertex_count, sizeof *ours);
  double *vyre = allocate((size_t)rounds, sizeof *vyre), *openmp = allocate((size_t)rounds, sizeof *openmp);
  search bfs;
  search_start(&bfs, backend, &g);
  for (int i = -1; i < rounds; i++) {
    const double t0 = clock_seconds();
    search_run(&bfs, source, NULL);
    const double t1 = clock_seconds();
    reach_openmp(&g, source, levels, queue, threads);
    const double t2 = clock_seconds();
    if (i < 0) continue;
    vyre[i] = t1 - t0;
    openmp[i] = t2 - t1;
  }
  search_levels(&bfs, ours);
  if (memcmp(ours, levels, g.vertex_count * sizeof *levels) != 0) fail("vyre and OpenMP disagree about the levels");
  const double base = median(openmp, (size_t)rounds), time = median(vyre, (size_t)rounds);
  char what[64];
  snprintf(what, sizeof what, "reach on Kronecker scale %" PRIu32 " against OpenMP", scale);
  row(what, time / base, 2.5, "x");
  printf("%-46s %10.2f ms\n%-46s %10.2f ms, %d threads\n", "  vyre", time * 1e3, "  OpenMP, -O3 -march=native", base * 1e3,
         threads);
  search_end(&bfs);
  graph_free(&g);
  free(levels);
  free(queue);
  free(ours);
  free(vyre);
  free(openmp);
}

int main(int argc, char **argv) {
  device_choice choice = {.kind = VYRE_BACKEND_CPU, .threads = 2};
  uint32_t scale = 20;
  int rounds = 9;
  bool strict = false;
  options o;
  options_start(&o, argc, argv);
  while (options_next(&o)) {
    if (option_is(&o, "--scale")) scale = (uint32_t)option_number(&o, 0, KRONECKER_MAX_SCALE);
    else if (option_is(&o, "--rounds")) rounds = (int)option_number(&o, 1, 1000);
    else if (option_is(&o, "--strict")) option_flag(&o), strict = true;
    else if (option_is(&o, "--help")) return fputs(HELP, stdout) < 0;
    else if (!device_option(&o, &choice)) option_unknown(&o);
  }
  const vyre_backend backend = device_open(&choice);
  device_print(backend);
  bench_dispatch(backend);
  bench_load(backend);
  bench_copy(backend, rounds);
  bench_reach(backend, scale, rounds, (int)choice.threads);
  vyre_backend_release(backend, NULL);
  return strict && missed > 0;
}
