/* heat: heat spreads over an insulated plate, thousands of time steps in ONE dispatch.
 *
 * The grid meets at a barrier after each step. The result must equal the plain C simulation bit for bit:
 * WGSL's + - * round as C's do, and nothing is fused behind the program's back.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "device.h"
#include "fail.h"
#include "heat_wgsl.h"
#include "plate.h"
#include "png.h"

static const char HELP[] =
    "heat: heat spreading over a plate, as a picture\n"
    "  --columns N       width of the plate in cells (384)\n"
    "  --rows N          height (384)\n"
    "  --steps N         time steps (2000)\n"
    "  --output FILE     the picture (heat.png)\n" DEVICE_HELP
    "  --quiet           no times\n";

/* As in heat.wgsl. */
typedef struct parameters {
  uint32_t columns, rows, steps;
  float rate;
} parameters;

typedef struct settings {
  parameters parameters;
  const char *path;
  bool quiet;
  device_choice device;
} settings;

static settings read_options(int argc, char **argv) {
  settings s = {{384, 384, 2000, 0.2f}, "heat.png", false, {VYRE_BACKEND_AUTO, 0}};
  options o;
  options_start(&o, argc, argv);
  while (options_next(&o)) {
    /* A row of the picture is one stored block, which is at most 65535 bytes. */
    if (option_is(&o, "--columns")) s.parameters.columns = (uint32_t)option_number(&o, 1, 16384);
    else if (option_is(&o, "--rows")) s.parameters.rows = (uint32_t)option_number(&o, 1, 16384);
    else if (option_is(&o, "--steps")) s.parameters.steps = (uint32_t)option_number(&o, 0, UINT32_MAX);
    else if (option_is(&o, "--output")) s.path = option_text(&o);
    else if (option_is(&o, "--quiet")) option_flag(&o), s.quiet = true;
    else if (option_is(&o, "--help")) exit(fputs(HELP, stdout) < 0);
    else if (!device_option(&o, &s.device)) option_unknown(&o);
  }
  return s;
}

/* Runs the steps on the device, `cells` in and out; seconds of the dispatch. */
static double simulate(vyre_backend backend, const parameters *p, float *cells, uint64_t bytes, vyre_dispatch_report *report) {
  const vyre_program program = device_load(backend, heat_wgsl, "heat.wgsl");
  const vyre_buffer plate = device_upload(backend, cells, bytes);
  const vyre_binding binding = {.buffer = plate};
  const uint32_t workgroups = device_workgroups(backend);
  vyre_dispatch_desc desc;
  vyre_dispatch_desc_init(&desc);
  desc.workgroups[0] = workgroups;
  desc.workgroups[1] = desc.workgroups[2] = workgroups > 0;
  desc.bindings = &binding;
  desc.binding_count = 1;
  desc.immediates = p;
  desc.immediates_size = sizeof *p;
  vyre_error *error;
  const double start = clock_seconds();
  vyre_status status = vyre_dispatch(program, &desc, report, &error);
  device_check(status, error, "simulating");
  const double time = clock_seconds() - start;
  status = vyre_buffer_read(plate, 0, cells, bytes, &error);
  device_check(status, error, "reading the plate");
  vyre_buffer_release(plate, NULL);
  vyre_program_release(program, NULL);
  return time;
}

int main(int argc, char **argv) {
  const settings s = read_options(argc, argv);
  const parameters *p = &s.parameters;
  const size_t count = (size_t)p->columns * p->rows;
  float *cells = allocate(count * 2, sizeof *cells), *expected = allocate(count * 2, sizeof *expected);
  memset(cells, 0, count * 2 * sizeof *cells);
  plate_start(cells, p->columns, p->rows);
  memcpy(expected, cells, count * 2 * sizeof *cells);
  const double before = plate_energy(cells, count);

  printf("plate: %" PRIu32 " x %" PRIu32 " cells, %" PRIu32 " steps\n", p->columns, p->rows, p->steps);
  const vyre_backend backend = device_open(&s.device);
  device_print(backend);
  vyre_dispatch_report report;
  vyre_dispatch_report_init(&report);
  const double time = simulate(backend, p, cells, count * 2 * sizeof *cells, &report);
  vyre_backend_release(backend, NULL);
  printf("one dispatch: %" PRIu64 " grid barriers, %" PRIu64 " workgroups\n", report.barriers, report.workgroups);

  const double start = clock_seconds();
  plate_simulate(expected, p->columns, p->rows, p->steps, p->rate);
  if (!s.quiet)
    printf("time: dispatch %.1f ms, plain C on one thread %.1f ms\n", time * 1e3, (clock_seconds() - start) * 1e3);

  /* The picture after the last step. */
  const float *plate = cells + (p->steps % 2) * count;
  for (size_t i = 0; i < count * 2; i++) {
    if (memcmp(&cells[i], &expected[i], sizeof *cells) != 0)
      fail("cell %zu is %.9g, but the C simulation says %.9g", i % count, (double)cells[i], (double)expected[i]);
  }
  const double after = plate_energy(plate, count);
  const double drift = before > 0 ? fabs(after - before) / before : 0;
  if (drift > 1e-3) fail("the plate's energy changed from %.6f to %.6f, though it is insulated", before, after);
  printf("check: all %zu cells equal the plain C simulation bit for bit; energy kept to %.1e\n", count, drift);

  uint8_t *pixels = allocate(count, 1);
  uint8_t colours[256][3];
  plate_picture(plate, count, pixels, colours);
  if (!png_write(s.path, pixels, p->columns, p->rows, (const uint8_t(*)[3])colours)) fail("%s: %s", s.path, strerror(errno));
  printf("picture: %s\n", s.path);
  free(pixels);
  free(cells);
  free(expected);
  return 0;
}
