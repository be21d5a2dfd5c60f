#include "fail.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const char *format, va_list arguments) {
  fflush(stdout);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("error: ", stderr);
  say(format, arguments);
  va_end(arguments);
  exit(1);
}

void fail_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("usage error: ", stderr);
  say(format, arguments);
  va_end(arguments);
  fputs("--help lists the options\n", stderr);
  exit(2);
}

void *reallocate(void *old, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) fail("%zu items of %zu bytes are more than memory can hold", count, size);
  /* One byte at least: an allocation of none may be null, and null means failure here. */
  const size_t bytes = count * size > 0 ? count * size : 1;
  void *memory = realloc(old, bytes);
  if (!memory) fail("out of memory: %zu bytes were needed", bytes);
  return memory;
}

void *allocate(size_t count, size_t size) { return reallocate(NULL, count, size); }
