/** @file vyre/vyre_device.cuh
 * A grid barrier for kernels written in CUDA C++ and compiled to PTX by nvcc or NVRTC, audited by libvyre.
 *
 * Compile with `nvcc -ptx -arch=compute_70` (or newer), load the text as a VYRE_PROGRAM_PTX, and dispatch it: the
 * counter is zeroed before each launch, launches of the module take turns, and after each it is held against what
 * the barriers in the text allow.
 *
 * @code
 * #include <vyre/vyre_device.cuh>
 * extern "C" __global__ void step(float *a, float *b) {
 *   ...
 *   vyre_grid_barrier(0);
 *   ...
 *   vyre_grid_barrier(1);
 * }
 * @endcode
 *
 * Rules:
 * - The calls that a launch passes have the indices 0, 1, 2, ... in order; all threads of the grid pass the same ones.
 * - A call inside a loop must be unrolled (`#pragma unroll` with a constant count), so that the text has each once.
 *   Where it is not, the counter goes past what the text allows and the dispatch is refused.
 * - Include this file in one source file of a module, and only in modules that call the barrier.
 */
#ifndef VYRE_DEVICE_CUH
#define VYRE_DEVICE_CUH

extern "C" {
/** Arrivals of all blocks at all barriers. libvyre zeroes it before each launch. */
__device__ __align__(128) unsigned int _vyre_grid_barrier;
/** Not zero: whoever waits is to leave. libvyre sets it when the dispatch's time is over. */
__device__ __align__(128) unsigned int _vyre_grid_abort;
}

/**
 * Waits until all blocks of the grid are here; what they wrote before, every thread sees afterwards.
 *
 * @param index 0 for the first barrier that the launch passes, 1 for the second, and so on
 *
 * When the dispatch's time is over, the threads that wait end.
 */
static __device__ __forceinline__ void vyre_grid_barrier(unsigned int index) {
  int leave = 0;
  /* Each mark in the text allows one arrival of each block. */
  asm volatile("// grid.sync barrier #%0" ::"r"(index) : "memory");
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    const unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
    const unsigned int target = (index + 1) * blocks;
    unsigned int seen, polls = 0;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(seen) : "l"(&_vyre_grid_barrier) : "memory");
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(&_vyre_grid_barrier) : "memory");
      if ((++polls & 255) == 0) {
        unsigned int abort;
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(abort) : "l"(&_vyre_grid_abort) : "memory");
        if (abort != 0) {
          leave = 1;
          break;
        }
      }
    } while (seen < target);
  }
  if (__syncthreads_or(leave)) {
    asm volatile("exit;");
  }
}

#endif /* VYRE_DEVICE_CUH */
