#include "plate.h"

#include <stddef.h>

void plate_start(float *cells, uint32_t columns, uint32_t rows) {
  const double unit = columns < rows ? columns : rows;
  for (uint32_t y = 0; y < rows; y++) {
    for (uint32_t x = 0; x < columns; x++) {
      const double disc_x = x - 0.30 * columns, disc_y = y - 0.35 * rows;
      const double ring_x = x - 0.65 * columns, ring_y = y - 0.60 * rows;
      const double disc = (disc_x * disc_x + disc_y * disc_y) / (unit * unit);
      const double ring = (ring_x * ring_x + ring_y * ring_y) / (unit * unit);
      const int in_bar = y > 0.85 * rows && y < 0.90 * rows && x > 0.10 * columns && x < 0.40 * columns;
      cells[(size_t)y * columns + x] =
          disc < 0.12 * 0.12 || (ring > 0.18 * 0.18 && ring < 0.22 * 0.22) ? 1.0f : in_bar ? 0.6f : 0.0f;
    }
  }
}

void plate_simulate(float *cells, uint32_t columns, uint32_t rows, uint32_t steps, float rate) {
  const size_t count = (size_t)columns * rows;
  for (uint32_t step = 0; step < steps; step++) {
    const float *now = cells + (step % 2) * count;
    float *next = cells + (step + 1) % 2 * count;
    for (uint32_t y = 0; y < rows; y++) {
      for (uint32_t x = 0; x < columns; x++) {
        const size_t cell = (size_t)y * columns + x;
        const float west = now[x == 0 ? cell : cell - 1], east = now[x + 1 == columns ? cell : cell + 1];
        const float north = now[y == 0 ? cell : cell - columns], south = now[y + 1 == rows ? cell : cell + columns];
        const float around = (west + east) + (north + south);
        next[cell] = now[cell] + rate * (around - 4.0f * now[cell]);
      }
    }
  }
}

double plate_energy(const float *cells, uint64_t count) {
  double energy = 0;
  for (uint64_t i = 0; i < count; i++) energy += (double)cells[i];
  return energy;
}

void plate_picture(const float *cells, uint64_t count, uint8_t *pixels, uint8_t colours[256][3]) {
  /* Black, red, yellow, white: each colour channel rises in its own third. */
  for (int i = 0; i < 256; i++) {
    for (int channel = 0; channel < 3; channel++) {
      const int value = i * 3 - channel * 255;
      colours[i][channel] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
  }
  for (uint64_t i = 0; i < count; i++) {
    const float level = cells[i] * 255.0f + 0.5f;
    pixels[i] = (uint8_t)(level < 0.0f ? 0.0f : level > 255.0f ? 255.0f : level);
  }
}
