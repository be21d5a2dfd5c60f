/* How the examples end when something is wrong: one line on stderr that says what. */
#ifndef EXAMPLES_FAIL_H
#define EXAMPLES_FAIL_H

#include <stddef.h>

#if defined(__GNUC__)
#define FAIL_PRINTF(text, first) __attribute__((format(printf, text, first), noreturn))
#else
#define FAIL_PRINTF(text, first)
#endif

/* Exit status 1: the job failed. */
FAIL_PRINTF(1, 2) void fail(const char *format, ...);
/* Exit status 2: the command line is wrong. */
FAIL_PRINTF(1, 2) void fail_usage(const char *format, ...);
/* malloc and realloc that fail by `fail`; `count * size` may not overflow. */
void *allocate(size_t count, size_t size);
void *reallocate(void *old, size_t count, size_t size);

#endif
