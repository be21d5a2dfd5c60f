/* The plate that heat.c warms: how it starts, the plain simulation, and its picture. */
#ifndef EXAMPLES_PLATE_H
#define EXAMPLES_PLATE_H

#include <stdint.h>

/* Cold, with a hot disc, a hot ring and a warm bar. Temperatures are 0 to 1. */
void plate_start(float *cells, uint32_t columns, uint32_t rows);
/* One thread, the same arithmetic in the same order as heat.wgsl; `cells` holds two pictures. */
void plate_simulate(float *cells, uint32_t columns, uint32_t rows, uint32_t steps, float rate);
double plate_energy(const float *cells, uint64_t count);
/* `pixels` get one of 256 heat colours each. */
void plate_picture(const float *cells, uint64_t count, uint8_t *pixels, uint8_t colours[256][3]);

#endif
