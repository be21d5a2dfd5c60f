/* kronecker: writes a Graph500 Kronecker graph as a SNAP edge list.
 *
 *   kronecker --scale 16 --output graph.txt
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "kronecker.h"
#include "options.h"
#include "progress.h"

static const char HELP[] =
    "kronecker: writes a Graph500 Kronecker graph as lines of two vertex ids\n"
    "  --scale N         2^N vertices, 0 to 31 (16)\n"
    "  --edge-factor N   edges per vertex (16)\n"
    "  --seed N          which of the graphs (1)\n"
    "  --output FILE     where to write (the standard output)\n"
    "  --quiet           no progress on stderr\n";

/* The line "FROM\tTO\n"; its length. printf is several times slower, and graphs are long. */
static size_t format_edge(char *text, edge e) {
  char digits[10];
  size_t length = 0;
  const uint32_t ids[2] = {e.from, e.to};
  for (int i = 0; i < 2; i++) {
    size_t count = 0;
    uint32_t id = ids[i];
    do digits[count++] = (char)('0' + id % 10);
    while ((id /= 10) > 0);
    while (count > 0) text[length++] = digits[--count];
    text[length++] = i == 0 ? '\t' : '\n';
  }
  return length;
}

int main(int argc, char **argv) {
  uint32_t scale = 16;
  uint64_t edge_factor = 16, seed = 1;
  const char *path = NULL;
  bool quiet = false;
  options o;
  options_start(&o, argc, argv);
  while (options_next(&o)) {
    if (option_is(&o, "--scale")) scale = (uint32_t)option_number(&o, 0, KRONECKER_MAX_SCALE);
    else if (option_is(&o, "--edge-factor")) edge_factor = option_number(&o, 1, 1 << 20);
    else if (option_is(&o, "--seed")) seed = option_number(&o, 0, UINT64_MAX);
    else if (option_is(&o, "--output")) path = option_text(&o);
    else if (option_is(&o, "--quiet")) option_flag(&o), quiet = true;
    else if (option_is(&o, "--help")) return fputs(HELP, stdout) < 0;
    else option_unknown(&o);
  }

  FILE *file = path ? fopen(path, "w") : stdout;
  if (!file) fail("%s: %s", path, strerror(errno));
  kronecker k;
  kronecker_start(&k, scale, edge_factor, seed);
  fprintf(file, "# Undirected graph: Graph500 Kronecker, scale %" PRIu32 ", edge factor %" PRIu64 ", seed %" PRIu64 "\n",
          scale, edge_factor, seed);
  fprintf(file, "# Nodes: %" PRIu64 " Edges: %" PRIu64 "\n# FromNodeId\tToNodeId\n", UINT64_C(1) << scale, k.edge_count);
  progress bar;
  progress_start(&bar, path ? path : "edges", quiet);
  for (uint64_t i = 0; i < k.edge_count; i++) {
    char text[24];
    const size_t length = format_edge(text, kronecker_edge(&k, i));
    if (fwrite(text, 1, length, file) != length) break;
    if (i % 65536 == 0) progress_step(&bar, i, k.edge_count, " edges");
  }
  progress_end(&bar);
  kronecker_free(&k);
  /* A full disk may show only when the last block is written. */
  if (ferror(file) || fflush(file) != 0 || (path && fclose(file) != 0))
    fail("%s: %s", path ? path : "standard output", strerror(errno));
  return 0;
}
