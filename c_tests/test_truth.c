/* Cross-block truth: every workgroup reads, after the barrier, what the last one wrote before it. In any number of
 * launches, from several threads, alone and in batches, and on a GPU also through the module-scope contract. */
#include <pthread.h>

#include "check.h"

/* Of that many invocations to a workgroup; `last` is the last one of them. */
#define TRUTH(size, last)                                                                     \
  "struct Parameters { launch: u32 }\n"                                                       \
  "var<immediate> parameters: Parameters;\n"                                                  \
  "@group(0) @binding(0) var<storage, read_write> word: array<u32>;\n"                        \
  "@group(0) @binding(1) var<storage, read_write> seen: array<atomic<u32>>;\n"                \
  "@compute @workgroup_size(" size ")\n"                                                      \
  "fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,\n" \
  "        @builtin(local_invocation_index) i: u32) {\n"                                      \
  "  if id.x == grid.x - 1u && i == " last " { word[0] = parameters.launch; }\n"              \
  "  gridBarrier();\n"                                                                        \
  "  if i == 0u {\n"                                                                          \
  "    if word[0] != parameters.launch { atomicAdd(&seen[1], 1u); }\n"                        \
  "    atomicAdd(&seen[0], 1u);\n"                                                            \
  "  }\n"                                                                                     \
  "}\n"

enum { THREADS = 4, BATCH = 100 };

typedef struct job {
  vyre_program program;
  uint32_t workgroups;
  int launches;
  int in_batches;
  /* Results. */
  uint64_t expected, seen, wrong;
  vyre_status status;
} job;

/* Launches, each with another value, on buffers of its own. */
static void *work(void *argument) {
  job *own = (job *)argument;
  vyre_binding bound[2];
  vyre_dispatch_desc descs[BATCH];
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  vyre_buffer word = {0}, seen = {0};
  uint32_t launch[BATCH], counts[2] = {0, 0};
  int done, i, size = own->in_batches ? BATCH : 1;
  uint64_t grid = own->workgroups;
  own->status = vyre_buffer_create(backend, 16, &word, NULL);
  own->status = own->status ? own->status : vyre_buffer_create(backend, 16, &seen, NULL);
  bound[0] = check_bind(0, word);
  bound[1] = check_bind(1, seen);
  for (done = 0; done < own->launches && own->status == VYRE_OK; done += size) {
    for (i = 0; i < size; i++) {
      launch[i] = (uint32_t)(done + i) + 1;
      descs[i] = check_grid(own->workgroups, bound, 2);
      descs[i].immediates = &launch[i];
      descs[i].immediates_size = 4;
    }
    if (own->in_batches) {
      own->status = vyre_dispatch_batch(own->program, descs, BATCH, NULL, NULL, NULL);
    } else {
      own->status = vyre_dispatch(own->program, descs, &report, NULL);
      grid = report.workgroups;
      if (report.audited != 1 || report.barriers != 1 || report.arrivals != grid) {
        own->wrong++;
      }
    }
  }
  if (own->status == VYRE_OK) {
    own->status = vyre_buffer_read(seen, 0, counts, sizeof counts, NULL);
  }
  own->seen = counts[0];
  own->wrong += counts[1];
  own->expected = grid * (uint64_t)own->launches;
  vyre_buffer_release(word, NULL);
  vyre_buffer_release(seen, NULL);
  return NULL;
}

static int slow(void) { return getenv("VYRE_TEST_SLOW") != NULL; }

/* 0: as many as can be co-resident. */
static const uint32_t wide[] = {8, 132, 528, 0};
/* On a GPU these meet in groups, and in groups that wait apart. */
static const uint32_t many[] = {1056, 1501, 0};

static void run(vyre_program program, const uint32_t *grids, size_t count, int threads, int in_batches) {
  const int all = check_on_cuda() ? 1000 : slow() ? BATCH : 2 * BATCH;
  size_t g;
  int i;
  for (g = 0; g < count; g++) {
    pthread_t others[THREADS];
    job jobs[THREADS];
    vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
    uint32_t workgroups = grids[g];
    OK(vyre_program_info(program, &info, ERR));
    if (workgroups == 0 && check_on_cuda()) {
      workgroups = (uint32_t)info.max_cooperative_workgroups;
    } else if (workgroups == 0) {
      workgroups = slow() ? 1024 : 4096;
    }
    for (i = 0; i < threads; i++) {
      job own = {{0}, 0, 0, 0, 0, 0, 0, VYRE_OK};
      own.program = program;
      own.workgroups = workgroups;
      own.launches = threads == 1 || in_batches ? all : all / threads;
      own.in_batches = in_batches;
      jobs[i] = own;
      EQUAL(pthread_create(&others[i], NULL, work, &jobs[i]), 0);
    }
    for (i = 0; i < threads; i++) {
      EQUAL(pthread_join(others[i], NULL), 0);
      EQUAL(jobs[i].status, VYRE_OK);
      EQUAL(jobs[i].wrong, 0);
      EQUAL(jobs[i].seen, jobs[i].expected);
      CHECK(jobs[i].seen > (uint64_t)jobs[i].launches); /* more than one workgroup ran */
    }
  }
}

static void run_all(vyre_program program, const uint32_t *grids, size_t count) {
  run(program, grids, count, 1, 0);
  run(program, grids, count, 1, 1);
  run(program, grids, count, THREADS, 0);
  run(program, grids, count, THREADS, 1);
}

#define RUN_ALL(program, grids) run_all(program, grids, sizeof(grids) / sizeof *(grids))

static void every_workgroup_sees_what_the_last_one_wrote(void) {
  vyre_program program = check_load(backend, TRUTH("256", "255u"));
  RUN_ALL(program, wide);
  OK(vyre_program_release(program, ERR));
}

static void so_do_many_small_ones(void) {
  vyre_program program = check_load(backend, TRUTH("64", "63u"));
  RUN_ALL(program, many);
  OK(vyre_program_release(program, ERR));
}

static void so_it_does_in_a_module_with_a_counter_of_its_own(void) {
  static const vyre_ptx_parameter parameters[5] = {
      {VYRE_PTX_PARAMETER_ADDRESS, 0, 0, VYRE_ACCESS_READ_WRITE},
      {VYRE_PTX_PARAMETER_SIZE, 0, 0, VYRE_ACCESS_READ_WRITE},
      {VYRE_PTX_PARAMETER_ADDRESS, 0, 1, VYRE_ACCESS_READ_WRITE},
      {VYRE_PTX_PARAMETER_SIZE, 0, 1, VYRE_ACCESS_READ_WRITE},
      {VYRE_PTX_PARAMETER_IMMEDIATES, 0, 0, 0}};
  vyre_program emitted = check_load(backend, TRUTH("256", "255u")), program = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  size_t size = 0;
  char *text;
  EQUAL(vyre_program_ptx(emitted, VYRE_PTX_MODULE_SCOPE, NULL, 0, &size, NULL), VYRE_OK);
  text = (char *)malloc(size);
  OK(vyre_program_ptx(emitted, VYRE_PTX_MODULE_SCOPE, text, size, NULL, ERR));
  desc.format = VYRE_PROGRAM_PTX;
  desc.code = text;
  desc.code_size = size;
  desc.parameters = parameters;
  desc.parameter_count = 5;
  OK(vyre_program_load(backend, &desc, &program, ERR));
  RUN_ALL(program, wide);
  OK(vyre_program_release(program, ERR));
  OK(vyre_program_release(emitted, ERR));
  free(text);
}

int main(void) {
  RUN(every_workgroup_sees_what_the_last_one_wrote);
  RUN(so_do_many_small_ones);
  if (check_on_cuda()) {
    RUN(so_it_does_in_a_module_with_a_counter_of_its_own);
  } else {
    printf("skipped: the module-scope contract needs a GPU (VYRE_TEST_BACKEND=cuda)\n");
  }
  return check_finish();
}
