/* Jobs that compute with floats: stencil, matmul, nbody. */
#include <math.h>
#include <string.h>

#include "job.h"
#include "parameters.h"

void stencil_make(instance *made, bool small) {
  const stencil_parameters parameters = {
      .columns = small ? 96 : 4096, .rows = small ? 40 : 4096, .steps = small ? 6 : 50, .rate = 0.2f};
  job_set_parameters(made, &parameters, sizeof parameters);
  const size_t cells = (size_t)parameters.columns * parameters.rows;
  /* The second picture needs the edge, which no step writes. */
  float *plate = job_random_floats(2 * cells);
  memcpy(plate + cells, plate, cells * sizeof *plate);
  job_add(made, 2 * cells * sizeof *plate, plate, true);
}

void stencil_reference(instance *of) {
  stencil_parameters p;
  memcpy(&p, of->parameters, sizeof p);
  const size_t cells = (size_t)p.columns * p.rows, columns = p.columns;
  float *plate = of->buffers[0].expected;
  memcpy(plate, of->buffers[0].initial, 2 * cells * sizeof *plate);
  for (uint32_t step = 0; step < p.steps; step++) {
    const float *now = plate + (step % 2 ? cells : 0);
    float *next = plate + (step % 2 ? 0 : cells);
    for (size_t y = 1; y + 1 < p.rows; y++) {
      for (size_t x = 1; x + 1 < columns; x++) {
        const size_t cell = y * columns + x;
        const float around = (now[cell - 1] + now[cell + 1]) + (now[cell - columns] + now[cell + columns]);
        next[cell] = now[cell] + p.rate * (around - 4.0f * now[cell]);
      }
    }
  }
}

void matmul_make(instance *made, bool small) {
  const matmul_parameters parameters = {.size = small ? 128 : 2048};
  job_set_parameters(made, &parameters, sizeof parameters);
  const size_t count = (size_t)parameters.size * parameters.size;
  float *left = job_random_floats(count), *right = job_allocate(count * sizeof *right);
  for (size_t i = 0; i < count; i++) right[i] = left[count - 1 - i];
  job_add(made, count * sizeof *left, left, false);
  job_add(made, count * sizeof *right, right, false);
  job_add(made, count * sizeof(float), NULL, true);
  made->workgroups[0] = made->workgroups[1] = parameters.size / 64;
  made->workgroups[2] = 1;
}

void matmul_reference(instance *of) {
  matmul_parameters p;
  memcpy(&p, of->parameters, sizeof p);
  const size_t n = p.size;
  const float *left = of->buffers[0].initial, *right = of->buffers[1].initial;
  float *product = of->buffers[2].expected;
  memset(product, 0, n * n * sizeof *product);
  for (size_t row = 0; row < n; row++) {
    for (size_t k = 0; k < n; k++) {
      for (size_t column = 0; column < n; column++)
        product[row * n + column] += left[row * n + k] * right[k * n + column];
    }
  }
}

void nbody_make(instance *made, bool small) {
  const nbody_parameters parameters = {.bodies = small ? 768 : 32768, .step = 0.01f, .softening = 0.01f};
  job_set_parameters(made, &parameters, sizeof parameters);
  const size_t count = (size_t)parameters.bodies * 4;
  float *places = job_random_floats(count), *speeds = job_allocate(count * sizeof *speeds);
  for (size_t i = 0; i < count; i++) speeds[i] = places[count - 1 - i];
  /* No mass is negative. */
  for (size_t i = 3; i < count; i += 4) places[i] = fabsf(places[i]);
  job_add(made, count * sizeof *places, places, false);
  job_add(made, count * sizeof *speeds, speeds, false);
  job_add(made, count * sizeof(float), NULL, true);
  job_add(made, count * sizeof(float), NULL, true);
  made->workgroups[0] = parameters.bodies / 256;
  made->workgroups[1] = made->workgroups[2] = 1;
}

void nbody_reference(instance *of) {
  nbody_parameters p;
  memcpy(&p, of->parameters, sizeof p);
  const float *places = of->buffers[0].initial, *speeds = of->buffers[1].initial;
  float *new_places = of->buffers[2].expected, *new_speeds = of->buffers[3].expected;
  for (size_t i = 0; i < p.bodies; i++) {
    const float *own = places + 4 * i;
    float pulled[3] = {0, 0, 0};
    for (size_t k = 0; k < p.bodies; k++) {
      const float *other = places + 4 * k;
      const float dx = other[0] - own[0], dy = other[1] - own[1], dz = other[2] - own[2];
      const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + p.softening);
      const float pull = other[3] * inverse * inverse * inverse;
      pulled[0] += pull * dx;
      pulled[1] += pull * dy;
      pulled[2] += pull * dz;
    }
    for (size_t axis = 0; axis < 3; axis++) {
      new_speeds[4 * i + axis] = speeds[4 * i + axis] + p.step * pulled[axis];
      new_places[4 * i + axis] = own[axis] + p.step * new_speeds[4 * i + axis];
    }
    new_speeds[4 * i + 3] = speeds[4 * i + 3];
    new_places[4 * i + 3] = own[3];
  }
}
