/* A job on vyre: its buffers on the device and its program in four versions. */
#ifndef BENCH_VYRE_SIDE_H
#define BENCH_VYRE_SIDE_H

#include <vyre/vyre.h>

#include "job.h"

/* Sums of VERSION_UNCHECKED and VERSION_FAST; the numbers of the versions. */
#define VERSION_UNCHECKED 1
#define VERSION_FAST 2
#define VERSIONS 4

typedef struct vyre_side {
  const job *what;
  const instance *data;
  uint32_t workgroups[3];
  vyre_buffer buffers[MOST_BUFFERS];
  /* Where the buffers are, for the baselines. */
  void *pointers[MOST_BUFFERS];
  vyre_program programs[VERSIONS];
} vyre_side;

/* These say on standard error what failed and give false. */

bool vyre_side_acquire(bool cpu, vyre_backend *backend);
/* `folder` holds the WGSL file. Close it also if this fails. */
bool vyre_side_open(vyre_side *side, vyre_backend backend, const char *folder, const job *what, const instance *data);
void vyre_side_close(vyre_side *side);
/* Makes the buffers hold what they start with. */
bool vyre_side_restore(vyre_side *side);
/* Runs once; `us` receives the microseconds by the device's clock. */
bool vyre_side_run(vyre_side *side, int version, double *us);
bool vyre_side_read(vyre_side *side, int buffer, void *to);

#endif
