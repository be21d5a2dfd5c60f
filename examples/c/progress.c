#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

void progress_start(progress *p, const char *what, bool quiet) {
  p->what = what;
  p->enabled = !quiet && isatty(STDERR_FILENO) == 1;
  p->shown = false;
  p->next = p->enabled ? clock_seconds() + 0.5 : 0;
}

void progress_step(progress *p, uint64_t done, uint64_t total, const char *unit) {
  if (!p->enabled) return;
  const double now = clock_seconds();
  if (now < p->next) return;
  p->next = now + 0.1;
  p->shown = true;
  fprintf(stderr, "\r%s: %" PRIu64 "%s", p->what, done, unit);
  if (total > 0) fprintf(stderr, " of %" PRIu64 "%s (%.0f%%)", total, unit, 100.0 * (double)done / (double)total);
  fprintf(stderr, "\033[K");
  fflush(stderr);
}

void progress_end(progress *p) {
  if (p->shown) fprintf(stderr, "\r\033[K");
  p->shown = false;
}
