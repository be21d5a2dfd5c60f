#include "png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A PNG file is a signature and chunks; a chunk is its length, its name, its bytes, and a CRC over
 * name and bytes. IDAT's bytes are a zlib stream, here of "stored" blocks, over the rows of the
 * picture, each with a filter number before it. */

typedef struct writer {
  FILE *file;
  uint32_t crc;
  uint32_t adler_low, adler_high; /* zlib's own checksum */
  uint32_t crc_table[256];
} writer;

static void crc_prepare(writer *w) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? UINT32_C(0xedb88320) ^ value >> 1 : value >> 1;
    w->crc_table[byte] = value;
  }
}

static void put(writer *w, const void *data, size_t size) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < size; i++) w->crc = w->crc_table[(w->crc ^ bytes[i]) & 255] ^ w->crc >> 8;
  fwrite(data, 1, size, w->file);
}

static void put_u32(writer *w, uint32_t value) {
  const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
  put(w, bytes, sizeof bytes);
}

static void chunk_start(writer *w, const char *name, uint32_t size) {
  put_u32(w, size);
  w->crc = UINT32_MAX; /* the length is not part of it */
  put(w, name, 4);
}

static void chunk_end(writer *w) { put_u32(w, ~w->crc); }

static void adler_add(writer *w, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    w->adler_low = (w->adler_low + bytes[i]) % 65521;
    w->adler_high = (w->adler_high + w->adler_low) % 65521;
  }
}

/* One row of the picture as a stored block. */
static void put_row(writer *w, const uint8_t *row, uint32_t columns, bool last) {
  const uint32_t size = columns + 1;
  const uint8_t header[6] = {last, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size, (uint8_t)(~size >> 8), 0};
  put(w, header, sizeof header);
  put(w, row, columns);
  adler_add(w, header + 5, 1); /* the filter number: none */
  adler_add(w, row, columns);
}

bool png_write(const char *path, const uint8_t *pixels, uint32_t columns, uint32_t rows, const uint8_t colours[256][3]) {
  writer *w = calloc(1, sizeof *w);
  if (!w) return false;
  w->file = fopen(path, "wb");
  if (!w->file) {
    free(w);
    return false;
  }
  crc_prepare(w);
  w->adler_low = 1;
  put(w, "\x89PNG\r\n\x1a\n", 8);
  chunk_start(w, "IHDR", 13);
  put_u32(w, columns);
  put_u32(w, rows);
  put(w, "\x08\x03\0\0\0", 5); /* eight bits, by palette, no interlacing */
  chunk_end(w);
  chunk_start(w, "PLTE", 256 * 3);
  put(w, colours, 256 * 3);
  chunk_end(w);
  chunk_start(w, "IDAT", 2 + rows * (columns + 6) + 4);
  put(w, "\x78\x01", 2);
  for (uint32_t y = 0; y < rows; y++) put_row(w, pixels + (size_t)y * columns, columns, y + 1 == rows);
  put_u32(w, w->adler_high << 16 | w->adler_low);
  chunk_end(w);
  chunk_start(w, "IEND", 0);
  chunk_end(w);
  const bool failed = ferror(w->file) != 0;
  const bool closed = fclose(w->file) == 0;
  free(w);
  return closed && !failed;
}
