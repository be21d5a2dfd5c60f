/* Many threads, shared objects: each call gets one of the sequential results, never a torn one. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 8, WORDS = 4096 };

static vyre_program add_one, sum_up;
static vyre_buffer shared, wide[THREADS];

static int rounds(void) { return getenv("VYRE_TEST_SLOW") != NULL ? 10 : 100; }

static void *increment(void *argument) {
  vyre_binding bound = check_bind(0, shared);
  vyre_dispatch_desc desc = check_grid(WORDS / 64, &bound, 1);
  intptr_t wrong = 0;
  int i;
  (void)argument;
  for (i = 0; i < rounds(); i++) {
    wrong += vyre_dispatch(add_one, &desc, NULL, NULL) != VYRE_OK;
  }
  return (void *)wrong;
}

/* Whoever reads sees all words alike: every dispatch before it is complete, none after it has begun. */
static void *observe(void *argument) {
  uint32_t *words = (uint32_t *)malloc(WORDS * sizeof *words);
  uint32_t last = 0;
  intptr_t wrong = 0;
  int i, k;
  (void)argument;
  for (i = 0; i < rounds(); i++) {
    wrong += vyre_buffer_read(shared, 0, words, WORDS * sizeof *words, NULL) != VYRE_OK;
    for (k = 1; k < WORDS; k++) {
      wrong += words[k] != words[0];
    }
    wrong += words[0] < last;
    last = words[0];
  }
  free(words);
  return (void *)wrong;
}

static void run_threads(void *(*const body[THREADS])(void *)) {
  pthread_t threads[THREADS];
  intptr_t i;
  for (i = 0; i < THREADS; i++) {
    EQUAL(pthread_create(&threads[i], NULL, body[i], (void *)i), 0);
  }
  for (i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    EQUAL(pthread_join(threads[i], &wrong), 0);
    EQUAL((uintptr_t)wrong, 0);
  }
}

static void one_buffer_many_writers_and_readers(void) {
  void *(*const body[THREADS])(void *) = {increment, observe, increment, observe,
                                          increment, observe, increment, increment};
  uint32_t word = 0;
  add_one = check_load(backend, ADD_ONE);
  OK(vyre_buffer_create(backend, WORDS * 4, &shared, ERR));
  run_threads(body);
  OK(vyre_buffer_read(shared, WORDS * 4 - 4, &word, 4, ERR));
  EQUAL(word, 5 * rounds());
  OK(vyre_buffer_release(shared, ERR));
  OK(vyre_program_release(add_one, ERR));
}

/* Reads all of one buffer, writes another, after a grid barrier: results belong to one state of the input. */
static void *sum_into_own(void *argument) {
  vyre_binding bound[2];
  vyre_dispatch_desc desc;
  intptr_t mine = (intptr_t)argument, wrong = 0;
  uint32_t seen[4];
  int i;
  bound[0] = check_bind(0, shared);
  bound[1] = check_bind(1, wide[mine]);
  desc = check_grid(4, bound, 2);
  for (i = 0; i < rounds(); i++) {
    wrong += vyre_dispatch(sum_up, &desc, NULL, NULL) != VYRE_OK;
    wrong += vyre_buffer_read(wide[mine], 0, seen, sizeof seen, NULL) != VYRE_OK;
    wrong += seen[0] % 64 != 0 || seen[1] != seen[0] || seen[2] != seen[0] || seen[3] != seen[0];
  }
  return (void *)wrong;
}

static void *fill_shared(void *argument) {
  intptr_t wrong = 0;
  uint32_t i;
  (void)argument;
  for (i = 0; i < (uint32_t)rounds(); i++) {
    wrong += vyre_buffer_fill(shared, 0, 256, i, NULL) != VYRE_OK;
  }
  return (void *)wrong;
}

static void readers_with_barriers_and_writers(void) {
  void *(*const body[THREADS])(void *) = {sum_into_own, fill_shared, sum_into_own, sum_into_own,
                                          fill_shared,  sum_into_own, sum_into_own, sum_into_own};
  int i;
  sum_up = check_load(backend,
                      "@group(0) @binding(0) var<storage, read> input: array<u32, 64>;\n"
                      "@group(0) @binding(1) var<storage, read_write> output: array<u32, 4>;\n"
                      "@compute @workgroup_size(1)\n"
                      "fn main(@builtin(workgroup_id) id: vec3<u32>) {\n"
                      "  var sum = 0u;\n"
                      "  for (var i = 0u; i < 32u; i++) { sum += input[i]; }\n"
                      "  gridBarrier();\n"
                      "  for (var i = 32u; i < 64u; i++) { sum += input[i]; }\n"
                      "  output[id.x] = sum;\n"
                      "}\n");
  OK(vyre_buffer_create(backend, 256, &shared, ERR));
  for (i = 0; i < THREADS; i++) {
    OK(vyre_buffer_create(backend, 16, &wide[i], ERR));
  }
  run_threads(body);
  for (i = 0; i < THREADS; i++) {
    OK(vyre_buffer_release(wide[i], ERR));
  }
  OK(vyre_buffer_release(shared, ERR));
  OK(vyre_program_release(sum_up, ERR));
}

static void *live_and_die(void *argument) {
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  intptr_t wrong = 0;
  int i;
  (void)argument;
  desc.kind = check_kind();
  desc.cpu_threads = 2;
  for (i = 0; i < rounds() / 10; i++) {
    vyre_backend mine = {0};
    wrong += vyre_backend_acquire(&desc, &mine, NULL) != VYRE_OK;
    wrong += !check_buffers_work(mine);
    wrong += vyre_backend_release(mine, NULL) != VYRE_OK;
  }
  return (void *)wrong;
}

static void backends_come_and_go(void) {
  void *(*const body[THREADS])(void *) = {live_and_die, live_and_die, live_and_die, live_and_die,
                                          live_and_die, live_and_die, live_and_die, live_and_die};
  run_threads(body);
}

/* A handle that one thread releases while another uses it: each call works or is told, nothing else. */
static vyre_buffer contested;

static void *use_until_gone(void *argument) {
  intptr_t wrong = 0;
  vyre_status status;
  uint32_t word;
  (void)argument;
  do {
    status = vyre_buffer_read(contested, 0, &word, 4, NULL);
  } while (status == VYRE_OK);
  wrong += status != VYRE_ERROR_INVALID_HANDLE;
  return (void *)wrong;
}

static void *release_soon(void *argument) {
  intptr_t wrong = 0;
  int i;
  (void)argument;
  for (i = 0; i < 100; i++) {
    wrong += vyre_buffer_fill(contested, 0, 64, 1, NULL) != VYRE_OK;
  }
  wrong += vyre_buffer_release(contested, NULL) != VYRE_OK;
  return (void *)wrong;
}

static void release_while_in_use(void) {
  void *(*const body[THREADS])(void *) = {use_until_gone, use_until_gone, use_until_gone, release_soon,
                                          use_until_gone, use_until_gone, use_until_gone, use_until_gone};
  int i;
  for (i = 0; i < 10; i++) {
    OK(vyre_buffer_create(backend, 64, &contested, ERR));
    run_threads(body);
  }
}

int main(void) {
  RUN(one_buffer_many_writers_and_readers);
  RUN(readers_with_barriers_and_writers);
  RUN(backends_come_and_go);
  RUN(release_while_in_use);
  return check_finish();
}
