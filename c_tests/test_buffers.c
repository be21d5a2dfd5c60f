/* Buffers: what they hold, and ranges, sizes and backends that don't fit. */
#include <errno.h>
#include <sys/resource.h>

#include "check.h"

#define ARG VYRE_ERROR_INVALID_ARGUMENT
#define RANGE VYRE_ERROR_OUT_OF_RANGE

static void buffers_are_zeroed_and_hold_what_is_written(void) {
  vyre_buffer buffer = {0};
  unsigned char bytes[100], back[100];
  uint64_t size = 0;
  size_t i;
  OK(vyre_buffer_create(backend, sizeof bytes, &buffer, ERR));
  memset(back, 0xA5, sizeof back);
  OK(vyre_buffer_read(buffer, 0, back, sizeof back, ERR));
  for (i = 0; i < sizeof back; i++) {
    EQUAL(back[i], 0);
    bytes[i] = (unsigned char)(i * 7 + 1);
  }
  OK(vyre_buffer_write(buffer, 0, bytes, sizeof bytes, ERR));
  OK(vyre_buffer_write(buffer, 50, bytes, 3, ERR));
  OK(vyre_buffer_read(buffer, 1, back, 99, ERR));
  memcpy(bytes + 50, bytes, 3);
  CHECK(memcmp(back, bytes + 1, 99) == 0);
  OK(vyre_buffer_size(buffer, &size, ERR));
  EQUAL(size, sizeof bytes);
  OK(vyre_buffer_release(buffer, ERR));
}

static void uploads_fills_and_copies(void) {
  vyre_buffer a = {0}, b = {0};
  uint32_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
  static const uint32_t moved[8] = {1, 2, 1, 2, 3, 4, 7, 8};
  OK(vyre_buffer_upload(backend, words, sizeof words, &a, ERR));
  OK(vyre_buffer_create(backend, sizeof words, &b, ERR));
  OK(vyre_buffer_copy(b, 8, a, 4, 8, ERR));
  OK(vyre_buffer_fill(b, 24, 8, 0xDEADBEEFu, ERR));
  OK(vyre_buffer_read(b, 0, back, sizeof back, ERR));
  EQUAL(back[1], 0);
  EQUAL(back[2], 2);
  EQUAL(back[3], 3);
  EQUAL(back[4], 0);
  EQUAL(back[7], 0xDEADBEEFu);
  /* Overlapping ranges of one buffer move as if through a temporary. */
  OK(vyre_buffer_copy(a, 8, a, 0, 16, ERR));
  OK(vyre_buffer_read(a, 0, back, sizeof back, ERR));
  CHECK(memcmp(back, moved, sizeof moved) == 0);
  OK(vyre_buffer_release(a, ERR));
  OK(vyre_buffer_release(b, ERR));
}

static void imports_share_the_callers_memory(void) {
  uint64_t raw[10], start = ((uintptr_t)raw + 15) & ~(uintptr_t)15;
  vyre_buffer owner = {0}, buffer = {0};
  uint64_t pointer = 0;
  uint32_t word = 0;
  if (check_on_cuda()) {
    /* Host memory is not the device's; another buffer's is. */
    FAILS_OUT(ARG, "does not know this address", buffer, vyre_buffer_import(backend, start, 64, &buffer, ERR));
    OK(vyre_buffer_create(backend, 64, &owner, ERR));
    OK(vyre_buffer_native_pointer(owner, &start, ERR));
  }
  OK(vyre_buffer_import(backend, start, 64, &buffer, ERR));
  OK(vyre_buffer_fill(buffer, 0, 64, 0x01020304u, ERR));
  if (check_on_cuda()) {
    OK(vyre_buffer_read(owner, 60, &word, 4, ERR));
  } else {
    memcpy(&word, (char *)(uintptr_t)start + 60, 4);
  }
  EQUAL(word, 0x01020304u);
  OK(vyre_buffer_native_pointer(buffer, &pointer, ERR));
  EQUAL(pointer, start);
  OK(vyre_buffer_release(buffer, ERR));
  FAILS_OUT(ARG, "multiple of 16", buffer, vyre_buffer_import(backend, start + 4, 32, &buffer, ERR));
  FAILS_OUT(ARG, "0 bytes", buffer, vyre_buffer_import(backend, start, 0, &buffer, ERR));
  FAILS_OUT(ARG, "wrap", buffer, vyre_buffer_import(backend, start, UINT64_MAX - 15, &buffer, ERR));
  if (check_on_cuda()) {
    OK(vyre_buffer_release(owner, ERR));
  }
}

/* Memory of the library's for the caller: copies go straight through it, it outlives its backend's handle. */
static void host_memory_is_the_callers(void) {
  enum { SIZE = 20 << 20 }; /* long enough to be copied in pieces from ordinary memory */
  vyre_backend other = check_acquire(1);
  vyre_buffer buffer = {0};
  void *memory = NULL;
  uint32_t *words, *plain = (uint32_t *)malloc(SIZE);
  size_t i, wrong = 0, count = SIZE / 4;
  OK(vyre_host_alloc(other, SIZE, &memory, ERR));
  EQUAL((uintptr_t)memory % 64, 0);
  words = (uint32_t *)memory;
  for (i = 0; i < count; i++) {
    words[i] = (uint32_t)i * 2654435761u;
  }
  OK(vyre_buffer_create(other, SIZE + 64, &buffer, ERR));
  OK(vyre_buffer_write(buffer, 16, words, SIZE, ERR));
  OK(vyre_buffer_read(buffer, 16, plain, SIZE, ERR));
  for (i = 0; i < count; i++) {
    wrong += plain[i] != (uint32_t)i * 2654435761u;
    plain[i] = ~plain[i];
  }
  EQUAL(wrong, 0);
  OK(vyre_buffer_write(buffer, 20, plain, SIZE, ERR));
  OK(vyre_buffer_read(buffer, 20, words, SIZE, ERR));
  CHECK(memcmp(words, plain, SIZE) == 0);
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_backend_release(other, ERR));
  words[count - 1] = 7;
  FAILS(ARG, "did not give", vyre_host_free((char *)memory + 64, ERR));
  OK(vyre_host_free(memory, ERR));
  FAILS(ARG, "freed already", vyre_host_free(memory, ERR));
  FAILS(VYRE_ERROR_OUT_OF_HOST_MEMORY, "bytes", vyre_host_alloc(backend, (uint64_t)1 << 60, &memory, ERR));
  CHECK(memory == NULL);
  free(plain);
}

static void impossible_sizes(void) {
  vyre_buffer out = {0};
  char byte = 0;
  FAILS_OUT(ARG, "size is 0", out, vyre_buffer_create(backend, 0, &out, ERR));
  FAILS_OUT(ARG, "size is 0", out, vyre_buffer_upload(backend, &byte, 0, &out, ERR));
  FAILS_OUT(ARG, "size is 0", out, vyre_buffer_upload(backend, NULL, 0, &out, ERR));
  FAILS_OUT(VYRE_ERROR_OUT_OF_DEVICE_MEMORY, "9223372036854775808 bytes", out,
            vyre_buffer_create(backend, (uint64_t)1 << 63, &out, ERR));
  FAILS_OUT(VYRE_ERROR_OUT_OF_DEVICE_MEMORY, "18446744073709551615 bytes", out,
            vyre_buffer_create(backend, UINT64_MAX, &out, ERR));
  FAILS_OUT(ARG, "size is 9223372036854775808", out,
            vyre_buffer_upload(backend, &byte, (uint64_t)1 << 63, &out, ERR));
}

/* The system has no room: its code comes through, and once there is room, there is a buffer. */
static void memory_that_is_not_there(void) {
  struct rlimit before, tight;
  vyre_buffer out = {77};
  const uint64_t size = (uint64_t)1 << 29;
  if (check_on_cuda()) {
    /* Two of them, each of most of the memory. */
    vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
    vyre_buffer first = {0};
    OK(vyre_backend_info(backend, &info, ERR));
    OK(vyre_buffer_create(backend, info.memory / 16 * 10, &first, ERR));
    FAILS_OUT(VYRE_ERROR_OUT_OF_DEVICE_MEMORY, "are free", out,
              vyre_buffer_create(backend, info.memory / 16 * 10, &out, ERR));
    EQUAL(vyre_buffer_create(backend, info.memory / 16 * 10, &out, &check_error), VYRE_ERROR_OUT_OF_DEVICE_MEMORY);
    EQUAL(vyre_error_native_code(check_error), 2);
    vyre_error_free(check_error);
    check_error = NULL;
    OK(vyre_buffer_release(first, ERR));
    OK(vyre_buffer_create(backend, info.memory / 16 * 10, &out, ERR));
    OK(vyre_buffer_release(out, ERR));
    return;
  }
  if (getenv("VYRE_TEST_SLOW") != NULL) {
    return; /* valgrind's own memory counts too, and it does not survive the limit */
  }
  EQUAL(getrlimit(RLIMIT_AS, &before), 0);
  tight = before;
  tight.rlim_cur = 1 << 20; /* less than is in use: nothing more is given */
  EQUAL(setrlimit(RLIMIT_AS, &tight), 0);
  EQUAL(vyre_buffer_create(backend, size, &out, &check_error), VYRE_ERROR_OUT_OF_DEVICE_MEMORY);
  EQUAL(setrlimit(RLIMIT_AS, &before), 0);
  EQUAL(out.id, 0);
  EQUAL(vyre_error_native_code(check_error), ENOMEM);
  check_failed(vyre_error_status(check_error), VYRE_ERROR_OUT_OF_DEVICE_MEMORY, "536870912 bytes", "a buffer", __FILE__,
               __LINE__);
  OK(vyre_buffer_create(backend, size, &out, ERR));
  OK(vyre_buffer_release(out, ERR));
}

static void ranges_outside(void) {
  static const struct {
    uint64_t offset, size;
  } wrong[] = {{0, 65}, {64, 1}, {65, 0}, {4, UINT64_MAX}, {UINT64_MAX, 4}, {UINT64_MAX - 3, 4},
               {(uint64_t)1 << 63, (uint64_t)1 << 63}, {0, (uint64_t)1 << 63}};
  vyre_buffer buffer = {0}, other = {0};
  char data[64], before[64];
  size_t i;
  memset(data, 3, sizeof data);
  memset(before, 3, sizeof before);
  OK(vyre_buffer_upload(backend, data, 64, &buffer, ERR));
  OK(vyre_buffer_create(backend, 256, &other, ERR));
  for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    uint64_t offset = wrong[i].offset, size = wrong[i].size;
    FAILS(RANGE, "outside the buffer's 64 bytes", vyre_buffer_write(buffer, offset, data, size, ERR));
    FAILS(RANGE, "outside the buffer's 64 bytes", vyre_buffer_read(buffer, offset, data, size, ERR));
    FAILS(RANGE, "outside the buffer's 64 bytes", vyre_buffer_fill(buffer, offset, size, 9, ERR));
    FAILS(RANGE, "destination", vyre_buffer_copy(buffer, offset, other, 0, size, ERR));
    FAILS(RANGE, "outside the buffer", vyre_buffer_copy(other, 0, buffer, offset, size, ERR));
  }
  OK(vyre_buffer_read(buffer, 0, data, 64, ERR));
  CHECK(memcmp(data, before, 64) == 0);
  FAILS(ARG, "multiples of 4", vyre_buffer_fill(buffer, 2, 4, 9, ERR));
  FAILS(ARG, "multiples of 4", vyre_buffer_fill(buffer, 4, 6, 9, ERR));
  OK(vyre_buffer_fill(buffer, 64, 0, 9, ERR));
  OK(vyre_buffer_copy(buffer, 64, other, 256, 0, ERR));
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_buffer_release(other, ERR));
}

static void backends_do_not_mix(void) {
  vyre_backend elsewhere = check_acquire(1);
  vyre_buffer here = {0}, there = {0};
  OK(vyre_buffer_create(backend, 16, &here, ERR));
  OK(vyre_buffer_create(elsewhere, 16, &there, ERR));
  FAILS(VYRE_ERROR_INVALID_HANDLE, "another backend", vyre_buffer_copy(here, 0, there, 0, 16, ERR));
  FAILS(VYRE_ERROR_INVALID_HANDLE, "another backend", vyre_buffer_copy(there, 0, here, 0, 16, ERR));
  OK(vyre_buffer_release(here, ERR));
  OK(vyre_buffer_release(there, ERR));
  OK(vyre_backend_release(elsewhere, ERR));
}

int main(void) {
  RUN(buffers_are_zeroed_and_hold_what_is_written);
  RUN(uploads_fills_and_copies);
  RUN(imports_share_the_callers_memory);
  RUN(host_memory_is_the_callers);
  RUN(impossible_sizes);
  RUN(memory_that_is_not_there);
  RUN(ranges_outside);
  RUN(backends_do_not_mix);
  return check_finish();
}
