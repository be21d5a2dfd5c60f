/* kernels: eight kernels on vyre, beside the same algorithms compiled by nvcc.
 *
 *   kernels [--cpu | --check] WGSL_FOLDER [BASELINES_FOLDER]
 *
 * --cpu checks each program on the CPU, at small sizes, against plain C; --check does so on CUDA, the baselines
 * too if they are given. Without either it checks and then measures.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_side.h"
#include "compare.h"
#include "job.h"
#include "vyre_side.h"

#define WARM_UPS 5
#define RUNS 21
/* A kernel that takes more than this times nvcc's time does not pass. */
#define MOST_RATIO 1.15

typedef struct bench {
  vyre_backend backend;
  const char *wgsl;
  bool has_baselines;
  /* [0]: no operations are fused; [1]: they are. */
  baseline_side baselines[2];
  int passed, failed;
} bench;

static const char *const version_names[VERSIONS] = {"", " unchecked", " fast", " fast unchecked"};

static void count(bench *b, bool good) {
  if (good) b->passed++;
  else b->failed++;
}

/* Whether the two round alike, so that every bit agrees. */
static bool is_exact(const job *what, int version) {
  return !what->is_approximate && !(what->has_floats && (version & VERSION_FAST));
}

/* Compares the buffers that hold results with what is expected of each. */
static bool compare_results(vyre_side *side, void *const expected[], bool exact, const char *name) {
  bool good = true;
  for (int i = 0; i < side->data->buffer_count && good; i++) {
    const job_buffer *of = &side->data->buffers[i];
    if (!of->is_result) continue;
    void *found = job_allocate(of->bytes);
    good = vyre_side_read(side, i, found) && compare(name, found, expected[i], of->bytes, !exact);
    free(found);
  }
  return good;
}

/* The baseline to compare a version with; NULL: there is none. */
static const baseline_side *rival(const bench *b, const job *what, int version) {
  if (!b->has_baselines) return NULL;
  return &b->baselines[what->has_floats && (version & VERSION_FAST)];
}

/* --- correctness, at small sizes against plain C ------------------------------------------------------------ */

static bool check_versions(bench *b, vyre_side *side) {
  const job *what = side->what;
  void *expected[MOST_BUFFERS] = {NULL};
  for (int i = 0; i < side->data->buffer_count; i++) expected[i] = side->data->buffers[i].expected;
  double us;
  char name[64];
  for (int version = 0; version < VERSIONS; version++) {
    snprintf(name, sizeof name, "%s%s", what->name, version_names[version]);
    if (!vyre_side_restore(side) || !vyre_side_run(side, version, &us)) return false;
    if (!compare_results(side, expected, is_exact(what, version), name)) return false;
    const baseline_side *other = rival(b, what, version);
    if (!other) continue;
    snprintf(name, sizeof name, "baseline of %s%s", what->name, version_names[version]);
    if (!vyre_side_restore(side) || !baseline_side_run(other, side, &us)) return false;
    if (!compare_results(side, expected, is_exact(what, version), name)) return false;
  }
  return true;
}

static bool check_job(bench *b, const job *what) {
  instance data = {.buffer_count = 0};
  what->make(&data, true);
  for (int i = 0; i < data.buffer_count; i++) {
    if (data.buffers[i].is_result) data.buffers[i].expected = job_allocate(data.buffers[i].bytes);
  }
  what->reference(&data);
  vyre_side side;
  const bool good = vyre_side_open(&side, b->backend, b->wgsl, what, &data) && check_versions(b, &side);
  vyre_side_close(&side);
  instance_free(&data);
  printf("%s %s\n", good ? "ok    " : "FAIL  ", what->name);
  fflush(stdout);
  return good;
}

/* --- time ----------------------------------------------------------------------------------------------------- */

static int order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double times[RUNS]) {
  qsort(times, RUNS, sizeof *times, order);
  return times[RUNS / 2];
}

/* One run of the baseline and one of each version from the same start, and whether they agree. */
static bool agree(vyre_side *side, const baseline_side *other, int first) {
  void *expected[MOST_BUFFERS] = {NULL};
  double us;
  bool good = vyre_side_restore(side) && baseline_side_run(other, side, &us);
  for (int i = 0; i < side->data->buffer_count && good; i++) {
    if (!side->data->buffers[i].is_result) continue;
    expected[i] = job_allocate(side->data->buffers[i].bytes);
    good = vyre_side_read(side, i, expected[i]);
  }
  for (int version = first; version <= first + VERSION_UNCHECKED && good; version++) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", side->what->name, version_names[version]);
    good = vyre_side_restore(side) && vyre_side_run(side, version, &us) &&
           compare_results(side, expected, is_exact(side->what, version), name);
  }
  for (int i = 0; i < MOST_BUFFERS; i++) free(expected[i]);
  return good;
}

/* A line of the table: the checked and the unchecked version with or without fast mathematics. */
static bool measure_versions(bench *b, vyre_side *side, int first) {
  const baseline_side *other = rival(b, side->what, first);
  double checked[RUNS], unchecked[RUNS], baseline[RUNS];
  if (!agree(side, other, first)) return false;
  for (int run = -WARM_UPS; run < RUNS; run++) {
    /* The warm-ups are overwritten. */
    const int at = run < 0 ? 0 : run;
    if (!vyre_side_run(side, first, &checked[at]) || !baseline_side_run(other, side, &baseline[at]) ||
        !vyre_side_run(side, first + VERSION_UNCHECKED, &unchecked[at]))
      return false;
  }
  char name[32];
  snprintf(name, sizeof name, "%s%s", side->what->name, version_names[first]);
  const double ours = median(checked), theirs = median(baseline), bare = median(unchecked);
  const bool good = theirs > 0 && ours <= MOST_RATIO * theirs;
  printf("%-15s %6lu x %-4lu %10.1f %10.1f %7.3f %10.3f  %s\n", name, (unsigned long)side->workgroups[0],
         (unsigned long)side->workgroups[1], ours, theirs, ours / theirs, bare / theirs, good ? "" : "SLOW");
  fflush(stdout);
  count(b, good);
  return true;
}

/* False if something did not work or disagrees; then the rest of the job is not measured. */
static bool measure_job(bench *b, const job *what) {
  instance data = {.buffer_count = 0};
  what->make(&data, false);
  vyre_side side;
  const bool good = vyre_side_open(&side, b->backend, b->wgsl, what, &data) && measure_versions(b, &side, 0) &&
                    measure_versions(b, &side, VERSION_FAST);
  vyre_side_close(&side);
  instance_free(&data);
  if (!good) printf("%-15s FAIL\n", what->name);
  return good;
}

static void measure(bench *b) {
  printf("\nmedians of %d runs by the device's clock; `fast` rows: fast mathematics, against nvcc -fmad=true\n"
         "where floats are multiplied, and then results within %g of the largest instead of bit for bit\n"
         "%-15s %13s %10s %10s %7s %10s\n",
         RUNS, TOLERANCE, "job", "workgroups", "vyre us", "nvcc us", "ratio", "unchecked");
  for (int i = 0; i < JOB_COUNT; i++) {
    if (!measure_job(b, &jobs[i])) count(b, false);
  }
}

/* --- command line ----------------------------------------------------------------------------------------------- */

static int usage(void) {
  fputs("usage: kernels [--cpu | --check] WGSL_FOLDER [BASELINES_FOLDER]\n"
        "  --cpu    check the programs on the CPU\n"
        "  --check  check the programs on CUDA, and the baselines if they are given; measure nothing\n",
        stderr);
  return 2;
}

int main(int argc, char **argv) {
  const bool cpu = argc > 1 && strcmp(argv[1], "--cpu") == 0;
  const bool only_check = cpu || (argc > 1 && strcmp(argv[1], "--check") == 0);
  const int first = only_check ? 2 : 1, folders = argc - first;
  if (folders < 1 || folders > 2 || argv[first][0] == '-' || (cpu && folders > 1) || (!only_check && folders < 2))
    return usage();
  bench b = {.wgsl = argv[first], .has_baselines = folders > 1};
  if (b.has_baselines) {
    if (!baseline_side_open(&b.baselines[0], argv[first + 1], "libbaselines.so")) return 1;
    if (!baseline_side_open(&b.baselines[1], argv[first + 1], "libbaselines_fmad.so")) return 1;
  }
  if (!vyre_side_acquire(cpu, &b.backend)) return 1;
  bool good = true;
  for (int i = 0; i < JOB_COUNT; i++) {
    const bool checked = check_job(&b, &jobs[i]);
    good = good && checked;
    if (only_check || !checked) count(&b, checked);
  }
  /* Times of wrong results are of no use. */
  if (!only_check && good) measure(&b);
  else if (!only_check) printf("nothing was measured: results are wrong\n");
  vyre_backend_release(b.backend, NULL);
  for (int i = 0; i < 2; i++) baseline_side_close(&b.baselines[i]);
  printf("%d passed, %d failed\n", b.passed, b.failed);
  return b.failed > 0;
}
