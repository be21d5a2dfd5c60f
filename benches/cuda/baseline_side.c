#include "baseline_side.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*baseline)(void *const *buffers, const void *parameters, const uint32_t *grid, float *ms);
typedef const char *(*name_of_error)(int code);

/* ISO C has no conversion from an object's address to a function's. */
static bool find(const baseline_side *side, const char *name, void *function, size_t size) {
  void *address = dlsym(side->library, name);
  if (!address) {
    fprintf(stderr, "no baseline: %s\n", dlerror());
    return false;
  }
  memcpy(function, &address, size);
  return true;
}

bool baseline_side_open(baseline_side *side, const char *folder, const char *file) {
  char path[1024];
  side->library = NULL;
  if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
    fprintf(stderr, "%s: this path is too long\n", folder);
    return false;
  }
  side->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!side->library) fprintf(stderr, "no baselines: %s\n", dlerror());
  return side->library != NULL;
}

void baseline_side_close(baseline_side *side) {
  if (side->library) dlclose(side->library);
}

bool baseline_side_run(const baseline_side *side, const vyre_side *on, double *us) {
  baseline run;
  name_of_error text;
  if (!find(side, on->what->name, &run, sizeof run) || !find(side, "baseline_error", &text, sizeof text)) return false;
  float ms = 0;
  const int code = run(on->pointers, on->data->parameters, on->workgroups, &ms);
  *us = (double)ms * 1e3;
  if (code != 0) fprintf(stderr, "running the baseline of %s: %d: %s\n", on->what->name, code, text(code));
  return code == 0;
}
