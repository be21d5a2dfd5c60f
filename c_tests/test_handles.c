/* Null, stale, double-released, wrong-kind, foreign and random handles; objects that outlive their backend. */
#include <pthread.h>

#include "check.h"

#define HANDLE VYRE_ERROR_INVALID_HANDLE

/* Every function that takes a handle, with a wrong one; each outcome is the same. */
static void refuse_backend(vyre_backend wrong, const char *needle) {
  void *memory = &memory;
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
  vyre_backend_counters counters = VYRE_BACKEND_COUNTERS_INIT;
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  vyre_buffer buffer = {0};
  vyre_program program = {0};
  char text[8] = "xxxxxxx";
  size_t required = 7;
  info.memory = 77;
  counters.bytes_in = 77;
  FAILS(HANDLE, needle, vyre_backend_info(wrong, &info, ERR));
  EQUAL(info.memory, 0);
  EQUAL(info.struct_size, sizeof info);
  FAILS(HANDLE, needle, vyre_backend_telemetry(wrong, &counters, ERR));
  EQUAL(counters.bytes_in, 0);
  FAILS(HANDLE, needle, vyre_backend_telemetry_reset(wrong, ERR));
  FAILS(HANDLE, needle, vyre_backend_trim(wrong, 0, ERR));
  FAILS(HANDLE, needle, vyre_backend_name(wrong, text, sizeof text, &required, ERR));
  EQUAL(required, 0);
  EQUAL(text[0], 0);
  FAILS(HANDLE, needle, vyre_backend_reason(wrong, text, sizeof text, &required, ERR));
  FAILS(HANDLE, needle, vyre_backend_release(wrong, ERR));
  FAILS(HANDLE, needle, vyre_host_alloc(wrong, 16, &memory, ERR));
  CHECK(memory == NULL);
  FAILS_OUT(HANDLE, needle, buffer, vyre_buffer_create(wrong, 16, &buffer, ERR));
  FAILS_OUT(HANDLE, needle, buffer, vyre_buffer_upload(wrong, text, 8, &buffer, ERR));
  FAILS_OUT(HANDLE, needle, buffer, vyre_buffer_import(wrong, 16, 16, &buffer, ERR));
  FAILS_OUT(HANDLE, needle, program, vyre_program_load(wrong, &desc, &program, ERR));
}

static void refuse_buffer(vyre_buffer wrong, const char *needle) {
  vyre_buffer fine = {0};
  uint64_t value = 77;
  char text[8] = "before";
  OK(vyre_buffer_create(backend, 16, &fine, ERR));
  FAILS(HANDLE, needle, vyre_buffer_write(wrong, 0, text, 4, ERR));
  FAILS(HANDLE, needle, vyre_buffer_read(wrong, 0, text, 4, ERR));
  CHECK(strcmp(text, "before") == 0);
  FAILS(HANDLE, needle, vyre_buffer_fill(wrong, 0, 4, 0, ERR));
  FAILS(HANDLE, needle, vyre_buffer_copy(wrong, 0, fine, 0, 4, ERR));
  FAILS(HANDLE, needle, vyre_buffer_copy(fine, 0, wrong, 0, 4, ERR));
  FAILS(HANDLE, needle, vyre_buffer_size(wrong, &value, ERR));
  EQUAL(value, 0);
  value = 77;
  FAILS(HANDLE, needle, vyre_buffer_native_pointer(wrong, &value, ERR));
  EQUAL(value, 0);
  FAILS(HANDLE, needle, vyre_buffer_release(wrong, ERR));
  OK(vyre_buffer_release(fine, ERR));
}

static void refuse_program(vyre_program wrong, const char *needle) {
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_binding_properties binding = VYRE_BINDING_PROPERTIES_INIT;
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  char text[8];
  size_t required = 7, completed = 7;
  info.binding_count = 77;
  report.workgroups = 77;
  FAILS(HANDLE, needle, vyre_program_info(wrong, &info, ERR));
  EQUAL(info.binding_count, 0);
  FAILS(HANDLE, needle, vyre_program_binding(wrong, 0, &binding, ERR));
  FAILS(HANDLE, needle, vyre_program_binding_name(wrong, 0, text, sizeof text, &required, ERR));
  FAILS(HANDLE, needle, vyre_program_entry_point(wrong, text, sizeof text, &required, ERR));
  FAILS(HANDLE, needle, vyre_program_ptx(wrong, VYRE_PTX_AS_DISPATCHED, text, sizeof text, &required, ERR));
  EQUAL(required, 0);
  FAILS(HANDLE, needle, vyre_program_warm_up(wrong, &desc, ERR));
  FAILS(HANDLE, needle, vyre_dispatch(wrong, &desc, &report, ERR));
  EQUAL(report.workgroups, 0);
  FAILS(HANDLE, needle, vyre_dispatch_batch(wrong, &desc, 1, &report, &completed, ERR));
  EQUAL(completed, 0);
  FAILS(HANDLE, needle, vyre_program_release(wrong, ERR));
}

static vyre_backend backend_id(uint64_t id) {
  vyre_backend handle;
  handle.id = id;
  return handle;
}

static vyre_buffer buffer_id(uint64_t id) {
  vyre_buffer handle;
  handle.id = id;
  return handle;
}

static vyre_program program_id(uint64_t id) {
  vyre_program handle;
  handle.id = id;
  return handle;
}

static void null_handles(void) {
  refuse_backend(backend_id(0), "is a null handle");
  refuse_buffer(buffer_id(0), "is a null handle");
  refuse_program(program_id(0), "is a null handle");
}

static void released_handles(void) {
  vyre_backend other = check_acquire(1);
  vyre_buffer buffer = {0};
  vyre_program program = check_load(backend, ADD_ONE);
  OK(vyre_buffer_create(other, 16, &buffer, ERR));
  OK(vyre_backend_release(other, ERR));
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_program_release(program, ERR));
  refuse_backend(other, "was released already");
  refuse_buffer(buffer, "was released already");
  refuse_program(program, "was released already");
}

/* A slot is used again, but an old handle stays wrong. */
static void old_handles_stay_stale(void) {
  enum { MANY = 64 };
  vyre_buffer old[MANY], fresh = {0};
  int i;
  for (i = 0; i < MANY; i++) {
    OK(vyre_buffer_create(backend, 16, &old[i], ERR));
    OK(vyre_buffer_release(old[i], ERR));
  }
  OK(vyre_buffer_create(backend, 16, &fresh, ERR));
  for (i = 0; i < MANY; i++) {
    CHECK(old[i].id != fresh.id);
    FAILS(HANDLE, "buffer", vyre_buffer_release(old[i], ERR));
  }
  OK(vyre_buffer_release(fresh, ERR));
}

static void wrong_kinds(void) {
  vyre_buffer buffer = {0};
  vyre_program program = check_load(backend, ADD_ONE);
  OK(vyre_buffer_create(backend, 16, &buffer, ERR));
  refuse_backend(backend_id(buffer.id), "is a vyre_buffer handle, a vyre_backend was expected");
  refuse_backend(backend_id(program.id), "is a vyre_program handle");
  refuse_buffer(buffer_id(backend.id), "is a vyre_backend handle");
  refuse_buffer(buffer_id(program.id), "is a vyre_program handle");
  refuse_program(program_id(backend.id), "is a vyre_backend handle");
  refuse_program(program_id(buffer.id), "is a vyre_buffer handle, a vyre_program was expected");
  OK(vyre_program_release(program, ERR));
  OK(vyre_buffer_release(buffer, ERR));
}

static void foreign_handles(void) {
  refuse_backend(backend_id(backend.id + 1), "that this library made");
  refuse_backend(backend_id(UINT64_MAX), "that this library made");
  refuse_buffer(buffer_id(1), "that this library made");
  refuse_program(program_id((uint64_t)3 << 56 | 0xFFFFFFu), "that this library made");
}

static void random_handles(void) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  int i;
  vyre_buffer held = {0};
  OK(vyre_buffer_create(backend, 16, &held, ERR));
  for (i = 0; i < 10000; i++) {
    uint64_t id, size;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    /* A third of them have the right kind and a low index: as near to a real one as a guess gets. */
    id = i % 3 == 0 ? (uint64_t)(1 + i % 4) << 56 | (uint64_t)(i % 5) << 32 | (state & 0xFFFFFFFFu) : state;
    if (id == held.id || id == backend.id) {
      continue;
    }
    EQUAL(vyre_buffer_size(buffer_id(id), &size, NULL), HANDLE);
    EQUAL(vyre_buffer_release(buffer_id(id), NULL), HANDLE);
    EQUAL(vyre_backend_release(backend_id(id), NULL), HANDLE);
    EQUAL(vyre_program_release(program_id(id), NULL), HANDLE);
  }
  CHECK(check_buffers_work(backend));
  OK(vyre_buffer_release(held, ERR));
}

/* One thread's share of a backend that is gone already. */
static void *use_and_release(void *argument) {
  vyre_buffer *mine = (vyre_buffer *)argument;
  uint32_t word = 0;
  intptr_t wrong = 0;
  int i;
  for (i = 0; i < 100; i++) {
    wrong += vyre_buffer_fill(*mine, 0, 16, (uint32_t)i, NULL) != VYRE_OK;
    wrong += vyre_buffer_read(*mine, 12, &word, 4, NULL) != VYRE_OK;
    wrong += word != (uint32_t)i;
  }
  wrong += vyre_buffer_release(*mine, NULL) != VYRE_OK;
  wrong += vyre_buffer_release(*mine, NULL) != VYRE_ERROR_INVALID_HANDLE;
  return (void *)wrong;
}

static void children_outlive_their_backend(void) {
  enum { THREADS = 4 };
  vyre_backend parent = check_acquire(2);
  vyre_buffer buffers[THREADS];
  vyre_program program = check_load(parent, ADD_ONE);
  vyre_buffer data = {0};
  vyre_binding bound;
  vyre_dispatch_desc desc;
  pthread_t threads[THREADS];
  uint32_t first = 0;
  int i;
  for (i = 0; i < THREADS; i++) {
    OK(vyre_buffer_create(parent, 16, &buffers[i], ERR));
  }
  OK(vyre_buffer_create(parent, 256, &data, ERR));
  OK(vyre_backend_release(parent, ERR));
  FAILS(HANDLE, "released already", vyre_backend_trim(parent, 0, ERR));
  for (i = 0; i < THREADS; i++) {
    EQUAL(pthread_create(&threads[i], NULL, use_and_release, &buffers[i]), 0);
  }
  bound = check_bind(0, data);
  desc = check_grid(1, &bound, 1);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  for (i = 0; i < THREADS; i++) {
    void *wrong = NULL;
    EQUAL(pthread_join(threads[i], &wrong), 0);
    EQUAL((uintptr_t)wrong, 0);
  }
  OK(vyre_buffer_read(data, 0, &first, 4, ERR));
  EQUAL(first, 1);
  OK(vyre_buffer_release(data, ERR));
  OK(vyre_program_release(program, ERR));
}

static void *release_backend(void *argument) {
  return (void *)(intptr_t)vyre_backend_release(*(vyre_backend *)argument, NULL);
}

/* Four threads release the same backend: one wins, the others are told. */
static void one_release_wins(void) {
  enum { THREADS = 4 };
  vyre_backend parent = check_acquire(1);
  vyre_buffer child = {0};
  pthread_t threads[THREADS];
  int i, won = 0, told = 0;
  OK(vyre_buffer_create(parent, 16, &child, ERR));
  for (i = 0; i < THREADS; i++) {
    EQUAL(pthread_create(&threads[i], NULL, release_backend, &parent), 0);
  }
  for (i = 0; i < THREADS; i++) {
    void *status = NULL;
    EQUAL(pthread_join(threads[i], &status), 0);
    won += (intptr_t)status == VYRE_OK;
    told += (intptr_t)status == VYRE_ERROR_INVALID_HANDLE;
  }
  EQUAL(won, 1);
  EQUAL(told, THREADS - 1);
  OK(vyre_buffer_fill(child, 0, 16, 7, ERR));
  OK(vyre_buffer_release(child, ERR));
}

int main(void) {
  RUN(null_handles);
  RUN(released_handles);
  RUN(old_handles_stay_stale);
  RUN(wrong_kinds);
  RUN(foreign_handles);
  RUN(random_handles);
  RUN(children_outlive_their_backend);
  RUN(one_release_wins);
  return check_finish();
}
