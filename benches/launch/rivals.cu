// What `launch` is held against, written by hand as one would without this library: cooperative_groups
// barriers, cooperative launches that nobody audits, and plain copies. Functions give 0 or a CUresult.
#include <algorithm>
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

namespace cg = cooperative_groups;

__global__ void barriers(int count) {
  cg::grid_group grid = cg::this_grid();
  for (int i = 0; i < count; i++) grid.sync();
}

static int code(cudaError_t error) { return (int)error; }

static double run_barriers(int blocks, int threads, int count) {
  static cudaEvent_t before, after;
  if (!before) {
    cudaEventCreate(&before);
    cudaEventCreate(&after);
  }
  void *arguments[] = {&count};
  cudaEventRecord(before);
  cudaError_t error = cudaLaunchCooperativeKernel((void *)barriers, blocks, threads, arguments);
  cudaEventRecord(after);
  float milliseconds = 0;
  if (error || cudaEventSynchronize(after) || cudaEventElapsedTime(&milliseconds, before, after)) return -1;
  return milliseconds * 1e6;
}

// Nanoseconds of the device's for one launch that passes `count` barriers; negative if it failed.
extern "C" double rival_barriers_ns(int blocks, int threads, int count) { return run_barriers(blocks, threads, count); }

static CUfunction one_barrier;
static CUstream stream;
static int one = 1;

extern "C" int rival_prepare(void) {
  cudaFunction_t function;
  if (int error = code(cudaGetFuncBySymbol(&function, (const void *)barriers))) return error;
  one_barrier = (CUfunction)function;
  cudaStream_t made;
  if (int error = code(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking))) return error;
  stream = (CUstream)made;
  return 0;
}

static int launch(int blocks) {
  void *arguments[] = {&one};
  return cuLaunchCooperativeKernel(one_barrier, blocks, 1, 1, 256, 1, 1, 0, stream, arguments);
}

// `count` launches of a grid that passes one barrier, and one wait.
extern "C" int rival_launches(int blocks, int count) {
  for (int i = 0; i < count; i++) {
    if (int error = launch(blocks)) return error;
  }
  return cuStreamSynchronize(stream);
}

extern "C" int rival_pinned(void **host, size_t size) { return code(cudaHostAlloc(host, size, cudaHostAllocDefault)); }

extern "C" int rival_copy_async(unsigned long long device, void *host, size_t size, int up) {
  CUresult error = up ? cuMemcpyHtoDAsync(device, host, size, stream) : cuMemcpyDtoHAsync(host, device, size, stream);
  return error ? (int)error : (int)cuStreamSynchronize(stream);
}

extern "C" int rival_copy(unsigned long long device, void *host, size_t size, int up) {
  return up ? cuMemcpyHtoD(device, host, size) : cuMemcpyDtoH(host, device, size);
}
