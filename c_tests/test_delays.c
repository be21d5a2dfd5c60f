/* Barriers back to back, with every workgroup late by another while each time: none of them meets too early or not
 * at all. On one stream and on eight at once. */
#include <pthread.h>

#include "check.h"

/* A workgroup writes the turn where one half of the words is for even turns and one for odd ones, so that nobody is
 * ahead by more than the barrier allows; behind the barrier it looks at that of another workgroup. */
static const char source[] =
    "struct Parameters { turns: u32, seed: u32, longest: u32 }\n"
    "var<immediate> parameters: Parameters;\n"
    "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n"
    "@group(0) @binding(1) var<storage, read_write> seen: array<atomic<u32>>;\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,\n"
    "        @builtin(local_invocation_index) i: u32) {\n"
    "  var state = id.x * 2654435761u + parameters.seed;\n"
    "  var wrong = 0u;\n"
    "  var spent = 0u;\n"
    "  for (var turn = 1u; turn <= parameters.turns; turn++) {\n"
    "    state = state * 1664525u + 1013904223u;\n"
    "    let delay = (state >> 16u) % parameters.longest;\n"
    "    for (var k = 0u; k < delay; k++) { spent = spent * 5u + k; }\n"
    "    let half = (turn & 1u) * grid.x;\n"
    "    if i == 0u { words[half + id.x] = turn; }\n"
    "    gridBarrier();\n"
    "    let other = (id.x + 1u + (turn * 7u) % grid.x) % grid.x;\n"
    "    if i == 63u && words[half + other] != turn { wrong++; }\n"
    "  }\n"
    "  if wrong != 0u { atomicAdd(&seen[1], wrong); }\n"
    "  if i == 0u { atomicAdd(&seen[0], 1u); }\n"
    "  if spent == 1u { atomicAdd(&seen[2], 1u); }\n" /* or the delays would be left out */
    "}\n";

enum { STREAMS = 8, MOST_WORKGROUPS = 2112 };

typedef struct job {
  vyre_program program;
  uint32_t workgroups, turns, seed;
  vyre_status status;
  uint32_t ended, wrong;
  uint64_t barriers;
} job;

static void *work(void *argument) {
  job *own = (job *)argument;
  uint32_t parameters[3], counts[4] = {0, 0, 0, 0};
  vyre_buffer words = {0}, seen = {0};
  vyre_binding bound[2];
  vyre_dispatch_desc desc;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  parameters[0] = own->turns;
  parameters[1] = own->seed;
  parameters[2] = 97;
  own->status = vyre_buffer_create(backend, 8 * MOST_WORKGROUPS, &words, NULL);
  own->status = own->status ? own->status : vyre_buffer_create(backend, 16, &seen, NULL);
  bound[0] = check_bind(0, words);
  bound[1] = check_bind(1, seen);
  desc = check_grid(own->workgroups, bound, 2);
  desc.immediates = parameters;
  desc.immediates_size = sizeof parameters;
  desc.timeout_ns = 60u * UINT64_C(1000000000);
  if (own->status == VYRE_OK) {
    own->status = vyre_dispatch(own->program, &desc, &report, NULL);
  }
  if (own->status == VYRE_OK) {
    own->status = vyre_buffer_read(seen, 0, counts, sizeof counts, NULL);
  }
  own->ended = counts[0];
  own->wrong = counts[1];
  own->barriers = report.audited ? report.barriers : 0;
  vyre_buffer_release(words, NULL);
  vyre_buffer_release(seen, NULL);
  return NULL;
}

static void hold(const job *own) {
  EQUAL(own->status, VYRE_OK);
  EQUAL(own->wrong, 0);
  EQUAL(own->ended, own->workgroups);
  EQUAL(own->barriers, own->turns);
}

static uint32_t turns(uint32_t on_cuda) {
  return check_on_cuda() ? on_cuda : getenv("VYRE_TEST_SLOW") != NULL ? 20 : 200;
}

static void a_million_barriers_hold(void) {
  /* The last two meet in groups on a GPU, and the last one waits apart in them. */
  static const uint32_t grids[] = {8, 132, 1056, MOST_WORKGROUPS};
  vyre_program program = check_load(backend, source);
  size_t g;
  for (g = 0; g < sizeof grids / sizeof *grids; g++) {
    job own = {{0}, 0, 0, 0, VYRE_OK, 0, 0, 0};
    own.program = program;
    own.workgroups = grids[g];
    own.turns = turns(250000); /* a million in all on a GPU */
    own.seed = (uint32_t)g;
    work(&own);
    hold(&own);
  }
  OK(vyre_program_release(program, ERR));
}

static void eight_streams_meet_apart(void) {
  vyre_program program = check_load(backend, source);
  pthread_t threads[STREAMS];
  job jobs[STREAMS];
  int i;
  for (i = 0; i < STREAMS; i++) {
    job own = {{0}, 0, 0, 0, VYRE_OK, 0, 0, 0};
    own.program = program;
    /* All of them together fit on the device. */
    own.workgroups = 16;
    own.turns = turns(20000);
    own.seed = 100 + (uint32_t)i;
    jobs[i] = own;
    EQUAL(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
  }
  for (i = 0; i < STREAMS; i++) {
    EQUAL(pthread_join(threads[i], NULL), 0);
    hold(&jobs[i]);
  }
  OK(vyre_program_release(program, ERR));
}

int main(void) {
  RUN(a_million_barriers_hold);
  RUN(eight_streams_meet_apart);
  return check_finish();
}
