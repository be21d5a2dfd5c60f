/* What both examples need of vyre: the backend named on the command line, and errors in full. */
#ifndef EXAMPLES_DEVICE_H
#define EXAMPLES_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <vyre/vyre.h>

#include "options.h"

typedef struct device_choice {
  uint32_t kind; /* VYRE_BACKEND_* */
  uint32_t threads; /* of the CPU backend; 0: all */
} device_choice;

/* Takes --backend and --threads; false if the option is neither. */
bool device_option(options *o, device_choice *choice);
#define DEVICE_HELP                                  \
  "  --backend NAME    auto, cpu or cuda (auto)\n"   \
  "  --threads N       threads of the CPU backend (all)\n"

/* Ends the program with all that the error says, if there is one. */
void device_check(vyre_status status, vyre_error *error, const char *doing);

vyre_backend device_open(const device_choice *choice);
/* "cpu: NAME, 2 threads". */
void device_print(vyre_backend backend);
/* Workgroups for programs whose invocations share the work out among themselves. */
uint32_t device_workgroups(vyre_backend backend);
/* The program in `source`, under its file name for messages. */
vyre_program device_load(vyre_backend backend, const char *source, const char *label);
vyre_buffer device_buffer(vyre_backend backend, uint64_t size);
vyre_buffer device_upload(vyre_backend backend, const void *data, uint64_t size);

#endif
