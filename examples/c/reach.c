/* reach: how many steps is each vertex of a graph away from one of them?
 *
 * Reads a graph, or makes one, and finds the levels of a breadth-first search in ONE dispatch: the grid
 * meets at a barrier after each level. The result is checked against a plain search in C.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "device.h"
#include "edge_list.h"
#include "fail.h"
#include "graph.h"
#include "kronecker.h"
#include "median.h"
#include "search.h"

static const char HELP[] =
    "reach FILE | reach --kronecker SCALE: breadth-first levels of a graph\n"
    "  FILE              lines of two vertex ids, # before comments; - is the standard input\n"
    "  --kronecker N     make a Graph500 Kronecker graph of 2^N vertices instead\n"
    "  --edge-factor N   its edges per vertex (16)\n"
    "  --seed N          which of those graphs (1)\n"
    "  --source ID       where to start (the vertex with the most neighbours)\n"
    "  --directed        edges lead from the first vertex to the second only\n"
    "  --undirected      edges lead both ways (the default)\n" DEVICE_HELP
    "  --repeat N        search N times, report the median time (1)\n"
    "  --quiet           no progress on stderr, no times\n";

typedef struct settings {
  const char *path;
  bool kronecker, directed, has_source, quiet;
  uint32_t scale;
  uint64_t edge_factor, seed, source, repeat;
  device_choice device;
} settings;

static settings read_options(int argc, char **argv) {
  settings s = {.edge_factor = 16, .seed = 1, .repeat = 1, .device = {.kind = VYRE_BACKEND_AUTO}};
  options o;
  options_start(&o, argc, argv);
  while (options_next(&o)) {
    if (!o.name && !s.path) s.path = o.value;
    else if (option_is(&o, "--kronecker")) s.kronecker = true, s.scale = (uint32_t)option_number(&o, 0, KRONECKER_MAX_SCALE);
    else if (option_is(&o, "--edge-factor")) s.edge_factor = option_number(&o, 1, 1 << 20);
    else if (option_is(&o, "--seed")) s.seed = option_number(&o, 0, UINT64_MAX);
    else if (option_is(&o, "--source")) s.has_source = true, s.source = option_number(&o, 0, UINT64_MAX);
    else if (option_is(&o, "--repeat")) s.repeat = option_number(&o, 1, 100000);
    else if (option_is(&o, "--directed")) option_flag(&o), s.directed = true;
    else if (option_is(&o, "--undirected")) option_flag(&o), s.directed = false;
    else if (option_is(&o, "--quiet")) option_flag(&o), s.quiet = true;
    else if (option_is(&o, "--help")) exit(fputs(HELP, stdout) < 0);
    else if (!device_option(&o, &s.device)) option_unknown(&o);
  }
  if (!s.path == !s.kronecker) fail_usage("name one graph: a file, or --kronecker SCALE");
  return s;
}

/* Prints the size of each level; the number of vertices reached. */
static uint64_t print_levels(const uint32_t *levels, uint32_t vertex_count) {
  uint32_t deepest = 0;
  for (uint32_t v = 0; v < vertex_count; v++)
    if (levels[v] != GRAPH_UNREACHED && levels[v] > deepest) deepest = levels[v];
  uint64_t *sizes = allocate((size_t)deepest + 1, sizeof *sizes);
  memset(sizes, 0, ((size_t)deepest + 1) * sizeof *sizes);
  uint64_t reached = 0;
  for (uint32_t v = 0; v < vertex_count; v++) {
    if (levels[v] == GRAPH_UNREACHED) continue;
    sizes[levels[v]]++;
    reached++;
  }
  printf("  level    vertices\n");
  for (uint32_t level = 0; level <= deepest; level++) {
    /* A road network has thousands of levels: its first and last ones tell the story. */
    if (deepest > 40 && level == 20) {
      printf("    ...\n");
      level = deepest - 19;
    }
    printf("  %5" PRIu32 "  %10" PRIu64 "\n", level, sizes[level]);
  }
  free(sizes);
  return reached;
}

/* Arcs that leave reached vertices: each is looked at exactly once. */
static uint64_t arcs_seen(const graph *g, const uint32_t *levels) {
  uint64_t arcs = 0;
  for (uint32_t v = 0; v < g->vertex_count; v++)
    if (levels[v] != GRAPH_UNREACHED) arcs += graph_degree(g, v);
  return arcs;
}

int main(int argc, char **argv) {
  const settings s = read_options(argc, argv);
  edge_list list;
  if (s.kronecker) kronecker_edge_list(s.scale, s.edge_factor, s.seed, &list, s.quiet);
  else edge_list_read(s.path, &list, s.quiet);

  graph g;
  graph_build(&g, &list, s.directed);
  free(list.edges);
  list.edges = NULL;
  uint32_t source = graph_busiest(&g);
  if (s.has_source && !edge_list_find(&list, s.source, &source))
    fail("--source %" PRIu64 ": the graph has no such vertex", s.source);
  if (s.kronecker) printf("graph: Kronecker, scale %" PRIu32 ", edge factor %" PRIu64 ", seed %" PRIu64 "\n", s.scale, s.edge_factor, s.seed);
  else printf("graph: %s\n", s.path);
  printf("       %" PRIu32 " vertices, %" PRIu64 " edges, %s\n", g.vertex_count, list.edge_count,
         s.directed ? "directed" : "undirected");

  const vyre_backend backend = device_open(&s.device);
  device_print(backend);
  search bfs;
  search_start(&bfs, backend, &g);
  vyre_dispatch_report report;
  double *times = allocate((size_t)s.repeat, sizeof *times);
  for (uint64_t run = 0; run < s.repeat; run++) {
    vyre_dispatch_report_init(&report);
    const double start = clock_seconds();
    search_run(&bfs, source, &report);
    times[run] = clock_seconds() - start;
  }
  uint32_t *levels = allocate(g.vertex_count, sizeof *levels);
  search_levels(&bfs, levels);

  printf("levels from vertex %" PRIu64 ":\n", edge_list_id(&list, source));
  const uint64_t reached = print_levels(levels, g.vertex_count);
  printf("reached %" PRIu64 " of %" PRIu32 " vertices in one dispatch: %" PRIu64 " grid barriers, %" PRIu64 " workgroups\n",
         reached, g.vertex_count, report.barriers, report.workgroups);

  uint32_t *expected = allocate(g.vertex_count, sizeof *expected);
  const double start = clock_seconds();
  graph_search(&g, source, expected);
  const double plain = clock_seconds() - start;
  if (!s.quiet) {
    const double time = median(times, (size_t)s.repeat);
    printf("time: dispatch %.3f ms (%.1f million edges/s), plain C on one thread %.3f ms\n", time * 1e3,
           (double)arcs_seen(&g, levels) / time * 1e-6, plain * 1e3);
  }
  for (uint32_t v = 0; v < g.vertex_count; v++) {
    if (levels[v] != expected[v])
      fail("vertex %" PRIu64 " is on level %" PRIu32 ", but the C search says %" PRIu32, edge_list_id(&list, v),
           levels[v], expected[v]);
  }
  printf("check: all %" PRIu32 " levels equal those of the plain C search\n", g.vertex_count);

  free(expected);
  free(levels);
  free(times);
  search_end(&bfs);
  vyre_backend_release(backend, NULL);
  graph_free(&g);
  edge_list_free(&list);
  return 0;
}
