/* A line on stderr that says how far a long job is, rewritten in place on a terminal.
 * Jobs shorter than half a second, and output that is not a terminal, stay silent. */
#ifndef EXAMPLES_PROGRESS_H
#define EXAMPLES_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char *what;
  bool enabled, shown;
  double next; /* when the line may be written again */
} progress;

void progress_start(progress *p, const char *what, bool quiet);
/* `total` 0: not known. Cheap enough to call every few thousand steps. */
void progress_step(progress *p, uint64_t done, uint64_t total, const char *unit);
/* Wipes the line. */
void progress_end(progress *p);

#endif
