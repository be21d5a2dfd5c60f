/* Writes pictures of up to 256 colours as PNG files, without compression and so without a library. */
#ifndef EXAMPLES_PNG_H
#define EXAMPLES_PNG_H

#include <stdbool.h>
#include <stdint.h>

/* `pixels` are columns * rows indices into `colours`. False, with errno set, if the file can't be written. */
bool png_write(const char *path, const uint8_t *pixels, uint32_t columns, uint32_t rows, const uint8_t colours[256][3]);

#endif
