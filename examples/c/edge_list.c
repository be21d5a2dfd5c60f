#include "edge_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compact.h"
#include "fail.h"
#include "progress.h"

/* A file read in blocks, one byte at a time. */
typedef struct reader {
  FILE *file;
  const char *path;
  uint64_t line;
  uint64_t consumed; /* bytes of the blocks before this one */
  size_t next, filled;
  unsigned char block[1 << 16];
} reader;

#define END_OF_FILE (-1)

static int refill(reader *r) {
  r->consumed += r->filled;
  r->next = 0;
  r->filled = fread(r->block, 1, sizeof r->block, r->file);
  if (r->filled == 0 && ferror(r->file)) fail("%s: %s", r->path, strerror(errno));
  return r->filled > 0;
}

/* The next byte, not taken yet. */
static inline int peek(reader *r) {
  if (r->next == r->filled && !refill(r)) return END_OF_FILE;
  return r->block[r->next];
}

static inline int skip_blanks(reader *r) {
  int byte;
  while ((byte = peek(r)) == ' ' || byte == '\t' || byte == '\r') r->next++;
  return byte;
}

static void skip_line(reader *r) {
  for (int byte; (byte = peek(r)) != END_OF_FILE && byte != '\n';) r->next++;
}

/* How an unexpected byte is shown. */
static const char *show(int byte, char text[8]) {
  if (byte == END_OF_FILE) return "the end of the file";
  if (byte == '\n') return "the end of the line";
  snprintf(text, 8, byte > ' ' && byte < 127 ? "'%c'" : "\\x%02x", (unsigned)byte);
  return text;
}

static uint64_t read_id(reader *r, const char *which) {
  char text[8];
  int byte = skip_blanks(r);
  if (byte < '0' || byte > '9')
    fail("%s:%" PRIu64 ": expected the %s vertex id, a number; found %s", r->path, r->line, which, show(byte, text));
  uint64_t id = 0;
  for (; byte >= '0' && byte <= '9'; r->next++, byte = peek(r)) {
    const uint64_t digit = (uint64_t)(byte - '0');
    if (id > (UINT64_MAX - digit) / 10)
      fail("%s:%" PRIu64 ": the %s vertex id does not fit 64 bits", r->path, r->line, which);
    id = id * 10 + digit;
  }
  if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n' && byte != END_OF_FILE)
    fail("%s:%" PRIu64 ": %s stands right behind the %s vertex id; blanks or tabs part the columns", r->path, r->line,
         show(byte, text), which);
  return id;
}

/* The pairs of ids in file order, as one array. */
static uint64_t *read_pairs(reader *r, uint64_t file_size, uint64_t *count, bool quiet) {
  uint64_t *pairs = NULL;
  size_t used = 0, room = 0;
  progress bar;
  progress_start(&bar, r->path, quiet);
  for (r->line = 1;; r->line++) {
    const int byte = skip_blanks(r);
    if (byte == END_OF_FILE) break;
    if (byte == '#') {
      skip_line(r);
    } else if (byte != '\n') {
      if (used + 2 > room) pairs = reallocate(pairs, room = room ? room * 2 : 4096, sizeof *pairs);
      pairs[used++] = read_id(r, "first");
      pairs[used++] = read_id(r, "second");
      char text[8];
      const int after = skip_blanks(r);
      if (after != '\n' && after != END_OF_FILE)
        fail("%s:%" PRIu64 ": expected the end of the line after two vertex ids; found %s", r->path, r->line,
             show(after, text));
    }
    if (peek(r) == '\n') r->next++;
    if (r->line % 65536 == 0) progress_step(&bar, (r->consumed + r->next) >> 20, file_size >> 20, " MiB");
  }
  progress_end(&bar);
  *count = used / 2;
  return pairs;
}

void edge_list_read(const char *path, edge_list *out, bool quiet) {
  reader *r = allocate(1, sizeof *r);
  memset(r, 0, sizeof *r);
  const bool standard = strcmp(path, "-") == 0;
  r->path = standard ? "standard input" : path;
  r->file = standard ? stdin : fopen(path, "rb");
  if (!r->file) fail("%s: %s", path, strerror(errno));
  struct stat status;
  const uint64_t file_size =
      fstat(fileno(r->file), &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;

  uint64_t *pairs = read_pairs(r, file_size, &out->edge_count, quiet);
  if (!standard) fclose(r->file);
  if (out->edge_count == 0) fail("%s: the file holds no edges", r->path);
  free(r);

  out->ids = compact_ids(pairs, out->edge_count * 2, &out->vertex_count);
  out->edges = allocate(out->edge_count, sizeof *out->edges);
  for (uint64_t i = 0; i < out->edge_count; i++)
    out->edges[i] = (edge){(uint32_t)pairs[2 * i], (uint32_t)pairs[2 * i + 1]};
  free(pairs);
}

void edge_list_free(edge_list *list) {
  free(list->edges);
  free(list->ids);
  memset(list, 0, sizeof *list);
}

bool edge_list_find(const edge_list *list, uint64_t id, uint32_t *index) {
  if (!list->ids) {
    *index = (uint32_t)id;
    return id < list->vertex_count;
  }
  return compact_find(list->ids, list->vertex_count, id, index);
}

uint64_t edge_list_id(const edge_list *list, uint32_t index) { return list->ids ? list->ids[index] : index; }
