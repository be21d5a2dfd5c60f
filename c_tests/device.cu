// What test_ptx.c loads when VYRE_TEST_NVCC_PTX names the PTX that nvcc makes of this.
#include "vyre/vyre_device.cuh"

extern "C" __global__ void waves(unsigned int *a, unsigned long long bytes, unsigned int *b) {
  const unsigned int all = (unsigned int)(bytes / 4), i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (unsigned int wave = 0; wave < 4; wave++) {
    a[i] = b[all - 1 - i] + 1;
    vyre_grid_barrier(2 * wave);
    b[i] = a[all - 1 - i] + 1;
    vyre_grid_barrier(2 * wave + 1);
  }
}

// Marked once, passed four times.
extern "C" __global__ void rolled(unsigned int *a, unsigned long long bytes, unsigned int *b) {
#pragma unroll 1
  for (unsigned int wave = 0; wave < (unsigned int)(bytes / bytes) * 40; wave++) {
    vyre_grid_barrier(wave);
  }
  b[blockIdx.x] = a[0];
}
