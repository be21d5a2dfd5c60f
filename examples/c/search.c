#include "search.h"

#include "reach_wgsl.h"

void search_start(search *s, vyre_backend backend, const graph *g) {
  const uint64_t vertices = (uint64_t)g->vertex_count * sizeof(uint32_t);
  /* Buffers hold at least one byte; a graph of loose vertices has no neighbours. */
  const uint32_t none = 0;
  s->backend = backend;
  s->program = device_load(backend, reach_wgsl, "reach.wgsl");
  s->workgroups = device_workgroups(backend);
  s->vertex_count = g->vertex_count;
  s->offsets = device_upload(backend, g->offsets, vertices + sizeof(uint32_t));
  s->neighbours = g->arc_count > 0
                      ? device_upload(backend, g->neighbours, (uint64_t)g->arc_count * sizeof(uint32_t))
                      : device_upload(backend, &none, sizeof none);
  s->levels = device_buffer(backend, vertices);
  s->queue = device_buffer(backend, vertices);
  s->found_even = device_buffer(backend, sizeof(uint32_t));
  s->found_odd = device_buffer(backend, sizeof(uint32_t));
}

void search_run(search *s, uint32_t source, vyre_dispatch_report *report) {
  const vyre_binding bindings[] = {
      {.binding = 0, .buffer = s->offsets}, {.binding = 1, .buffer = s->neighbours},
      {.binding = 2, .buffer = s->levels},  {.binding = 3, .buffer = s->queue},
      {.binding = 4, .buffer = s->found_even}, {.binding = 5, .buffer = s->found_odd},
  };
  vyre_dispatch_desc desc;
  vyre_dispatch_desc_init(&desc);
  desc.workgroups[0] = s->workgroups;
  desc.workgroups[1] = desc.workgroups[2] = s->workgroups > 0;
  desc.bindings = bindings;
  desc.binding_count = sizeof bindings / sizeof *bindings;
  desc.immediates = &source;
  desc.immediates_size = sizeof source;
  vyre_error *error;
  const vyre_status status = vyre_dispatch(s->program, &desc, report, &error);
  device_check(status, error, "searching");
}

void search_levels(search *s, uint32_t *levels) {
  vyre_error *error;
  const vyre_status status =
      vyre_buffer_read(s->levels, 0, levels, s->vertex_count * sizeof(uint32_t), &error);
  device_check(status, error, "reading the levels");
}

void search_end(search *s) {
  const vyre_buffer buffers[] = {s->offsets, s->neighbours, s->levels, s->queue, s->found_even, s->found_odd};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) vyre_buffer_release(buffers[i], NULL);
  vyre_program_release(s->program, NULL);
}
