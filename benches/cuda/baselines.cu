// The rivals: what the .wgsl files beside this do, written as one would for nvcc. Same algorithm, same
// grid, same blocks, same vectors; pointers are restrict where the program's bindings do not overlap.
//
// Each function takes the device pointers of the program's bindings in their order, its parameters and the
// grid, and gives the milliseconds of one launch by the device's clock. It returns a cudaError_t.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "parameters.h"

namespace cg = cooperative_groups;

typedef uint32_t u32;

// --- saxpy ---------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256)
saxpy_kernel(const float4 *__restrict__ x, float4 *__restrict__ y, saxpy_parameters p) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.vectors) {
    float4 a = x[i], b = y[i];
    y[i] = make_float4(p.factor * a.x + b.x, p.factor * a.y + b.y, p.factor * a.z + b.z, p.factor * a.w + b.w);
  }
}

// --- sum -----------------------------------------------------------------------------------------

#define WIDTH 256

__device__ u32 add_up(u32 *shares, u32 local, u32 own) {
  shares[local] = own;
  __syncthreads();
  for (u32 half = WIDTH / 2; half > 0; half /= 2) {
    if (local < half) shares[local] += shares[local + half];
    __syncthreads();
  }
  return shares[0];
}

__global__ void __launch_bounds__(WIDTH)
sum_kernel(const uint4 *__restrict__ numbers, u32 *partial, u32 *total, sum_parameters p) {
  __shared__ u32 shares[WIDTH];
  const u32 local = threadIdx.x;
  u32 sum = 0;
  for (u32 i = blockIdx.x * WIDTH + local; i < p.vectors; i += gridDim.x * WIDTH) {
    uint4 four = numbers[i];
    sum += (four.x + four.y) + (four.z + four.w);
  }
  u32 share = add_up(shares, local, sum);
  if (local == 0) partial[blockIdx.x] = share;
  cg::this_grid().sync();
  if (blockIdx.x == 0) {
    u32 rest = 0;
    for (u32 i = local; i < gridDim.x; i += WIDTH) rest += partial[i];
    u32 all = add_up(shares, local, rest);
    if (local == 0) total[0] = all;
  }
}

// --- stencil -------------------------------------------------------------------------------------

__global__ void __launch_bounds__(256) stencil_kernel(float *plate, stencil_parameters p) {
  const u32 columns = p.columns, rows = p.rows, cells = columns * rows;
  const u32 across = columns / 32, tiles = across * (rows / 8);
  for (u32 step = 0; step < p.steps; step++) {
    const u32 now = (step & 1) * cells, next = cells - now;
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const u32 row = tile / across;
      const u32 x = (tile - row * across) * 32 + threadIdx.x, y = row * 8 + threadIdx.y;
      if (x > 0 && x < columns - 1 && y > 0 && y < rows - 1) {
        const u32 cell = y * columns + x;
        const float here = plate[now + cell];
        const float around = (plate[now + cell - 1] + plate[now + cell + 1]) +
                             (plate[now + cell - columns] + plate[now + cell + columns]);
        plate[next + cell] = here + p.rate * (around - 4.0f * here);
      }
    }
    cg::this_grid().sync();
  }
}

// --- histogram -----------------------------------------------------------------------------------

__device__ void count_bytes(u32 *bins, u32 word) {
  atomicAdd(&bins[word & 255], 1);
  atomicAdd(&bins[(word >> 8) & 255], 1);
  atomicAdd(&bins[(word >> 16) & 255], 1);
  atomicAdd(&bins[word >> 24], 1);
}

__global__ void __launch_bounds__(WIDTH)
histogram_kernel(const uint4 *__restrict__ bytes, u32 *__restrict__ counts, sum_parameters p) {
  __shared__ u32 bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * WIDTH + threadIdx.x; i < p.vectors; i += gridDim.x * WIDTH) {
    uint4 four = bytes[i];
    count_bytes(bins, four.x);
    count_bytes(bins, four.y);
    count_bytes(bins, four.z);
    count_bytes(bins, four.w);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// --- matmul --------------------------------------------------------------------------------------

__device__ void add_row(float4 &row, float a, float4 b) {
  row.x += a * b.x;
  row.y += a * b.y;
  row.z += a * b.z;
  row.w += a * b.w;
}

__global__ void __launch_bounds__(256)
matmul_kernel(const float4 *__restrict__ left, const float4 *__restrict__ right, float4 *__restrict__ product,
              matmul_parameters p) {
  __shared__ float4 left_tile[16 * 16], right_tile[16 * 16];
  const u32 fours = p.size / 4, index = threadIdx.y * 16 + threadIdx.x;
  const u32 left_row = index / 4, left_four = index % 4, right_row = index / 16, right_four = index % 16;
  const u32 left_from = (blockIdx.y * 64 + left_row) * fours + left_four;
  const u32 right_from = right_row * fours + blockIdx.x * 16 + right_four;
  float4 row0 = {}, row1 = {}, row2 = {}, row3 = {};
  for (u32 k = 0; k < p.size; k += 16) {
    const float4 brought = left[left_from + k / 4];
    float *place = (float *)&left_tile[left_four * 4 * 16 + left_row / 4] + left_row % 4;
    place[0] = brought.x;
    place[64] = brought.y;
    place[128] = brought.z;
    place[192] = brought.w;
    right_tile[index] = right[right_from + k * fours];
    __syncthreads();
    for (u32 d = 0; d < 16; d++) {
      const float4 a = left_tile[d * 16 + threadIdx.y], b = right_tile[d * 16 + threadIdx.x];
      add_row(row0, a.x, b);
      add_row(row1, a.y, b);
      add_row(row2, a.z, b);
      add_row(row3, a.w, b);
    }
    __syncthreads();
  }
  const u32 to = (blockIdx.y * 64 + threadIdx.y * 4) * fours + blockIdx.x * 16 + threadIdx.x;
  product[to] = row0;
  product[to + fours] = row1;
  product[to + 2 * fours] = row2;
  product[to + 3 * fours] = row3;
}

// --- scan ----------------------------------------------------------------------------------------

__device__ u32 running_sum(u32 *shares, u32 local, u32 own) {
  u32 sum = own, side = 0;
  shares[local] = own;
  __syncthreads();
  for (u32 reach = 1; reach < WIDTH; reach *= 2) {
    if (local >= reach) sum += shares[side + local - reach];
    side = WIDTH - side;
    shares[side + local] = sum;
    __syncthreads();
  }
  return sum;
}

__global__ void __launch_bounds__(WIDTH)
scan_kernel(const uint4 *__restrict__ numbers, u32 *sums, uint4 *__restrict__ prefixes, sum_parameters p) {
  __shared__ u32 shares[2 * WIDTH];
  const u32 local = threadIdx.x, last = WIDTH - 1;
  const u32 tiles = p.vectors / WIDTH, run = (tiles + gridDim.x - 1) / gridDim.x;
  const u32 first = min(blockIdx.x * run, tiles), end = min(first + run, tiles);
  u32 sum = 0;
  for (u32 tile = first; tile < end; tile++) {
    uint4 four = numbers[tile * WIDTH + local];
    sum += (four.x + four.y) + (four.z + four.w);
  }
  u32 share = running_sum(shares, local, sum);
  if (local == last) sums[blockIdx.x] = share;
  cg::this_grid().sync();

  if (blockIdx.x == 0) {
    u32 before = 0;
    for (u32 i = 0; i < gridDim.x; i += WIDTH) {
      u32 own = i + local < gridDim.x ? sums[i + local] : 0;
      u32 upto = running_sum(shares, local, own);
      if (i + local < gridDim.x) sums[i + local] = before + upto - own;
      before += shares[last];
      __syncthreads();
    }
  }
  cg::this_grid().sync();

  u32 before = sums[blockIdx.x];
  for (u32 tile = first; tile < end; tile++) {
    u32 i = tile * WIDTH + local;
    uint4 four = numbers[i];
    u32 own = (four.x + four.y) + (four.z + four.w);
    u32 start = before + running_sum(shares, local, own) - own;
    prefixes[i] = make_uint4(start, start + four.x, start + four.x + four.y, start + four.x + four.y + four.z);
    before += shares[last];
    __syncthreads();
  }
}

// --- bfs -----------------------------------------------------------------------------------------

#define UNREACHED 0xffffffffu

// What WGSL's atomicLoad is; through a volatile pointer it would be of the whole system.
__device__ u32 atomic_load(const u32 *from) {
  u32 value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from));
  return value;
}

__global__ void __launch_bounds__(WIDTH)
bfs_kernel(const u32 *__restrict__ offsets, const u32 *__restrict__ neighbours, u32 *levels, u32 *queue, u32 *found,
           bfs_parameters p) {
  const u32 id = blockIdx.x * WIDTH + threadIdx.x, stride = gridDim.x * WIDTH;
  for (u32 v = id; v < p.vertices; v += stride) levels[v] = v == p.source ? 0 : UNREACHED;
  for (u32 n = id; n < p.most_levels; n += stride) found[n] = 0;
  if (id == 0) queue[0] = p.source;
  cg::this_grid().sync();

  u32 first = 0, last = 1;
  for (u32 level = 0; level < p.most_levels; level++) {
    for (u32 i = first + id; i < last; i += stride) {
      const u32 u = queue[i], end = offsets[u + 1];
      for (u32 arc = offsets[u]; arc < end; arc++) {
        const u32 v = neighbours[arc];
        if (atomic_load(&levels[v]) == UNREACHED) {
          if (atomicExch(&levels[v], level + 1) == UNREACHED) queue[last + atomicAdd(&found[level], 1)] = v;
        }
      }
    }
    cg::this_grid().sync();
    const u32 next = atomic_load(&found[level]);
    if (next == 0) break;
    first = last;
    last += next;
  }
}

// --- nbody ---------------------------------------------------------------------------------------

__global__ void __launch_bounds__(WIDTH)
nbody_kernel(const float4 *__restrict__ places, const float4 *__restrict__ speeds, float4 *__restrict__ new_places,
             float4 *__restrict__ new_speeds, nbody_parameters p) {
  __shared__ float4 others[WIDTH];
  const u32 id = blockIdx.x * WIDTH + threadIdx.x;
  const float4 own = places[id];
  float x = 0, y = 0, z = 0;
  for (u32 tile = 0; tile < p.bodies; tile += WIDTH) {
    others[threadIdx.x] = places[tile + threadIdx.x];
    __syncthreads();
    for (u32 i = 0; i < WIDTH; i++) {
      const float4 other = others[i];
      const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + p.softening);
      const float pull = other.w * inverse * inverse * inverse;
      x += pull * dx;
      y += pull * dy;
      z += pull * dz;
    }
    __syncthreads();
  }
  const float4 old = speeds[id];
  const float4 speed = make_float4(old.x + p.step * x, old.y + p.step * y, old.z + p.step * z, old.w);
  new_speeds[id] = speed;
  new_places[id] = make_float4(own.x + p.step * speed.x, own.y + p.step * speed.y, own.z + p.step * speed.z, own.w);
}

// --- launching -----------------------------------------------------------------------------------

// As vyre takes its time: events around the one launch.
static int launch(const void *kernel, bool cooperative, const u32 grid[3], dim3 block, void **arguments, float *ms) {
  const dim3 blocks(grid[0], grid[1], grid[2]);
  cudaEvent_t before, after;
  cudaError_t error = cudaEventCreate(&before);
  if (error != cudaSuccess) return error;
  error = cudaEventCreate(&after);
  if (error != cudaSuccess) {
    cudaEventDestroy(before);
    return error;
  }
  error = cudaEventRecord(before);
  if (error == cudaSuccess) {
    error = cooperative ? cudaLaunchCooperativeKernel(kernel, blocks, block, arguments, 0, 0)
                        : cudaLaunchKernel(kernel, blocks, block, arguments, 0, 0);
  }
  if (error == cudaSuccess) error = cudaEventRecord(after);
  if (error == cudaSuccess) error = cudaEventSynchronize(after);
  if (error == cudaSuccess) error = cudaEventElapsedTime(ms, before, after);
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  return error;
}

#define BASELINE(name, cooperative, block, type, ...)                                                     \
  extern "C" int name(void *const *buffers, const void *parameters, const u32 *grid, float *ms) {         \
    void *const *b = buffers;                                                                             \
    type p = *(const type *)parameters;                                                                   \
    void *arguments[] = {__VA_ARGS__, &p};                                                                \
    return launch((const void *)name##_kernel, cooperative, grid, block, arguments, ms);                  \
  }
#define B(i) (void *)&b[i]

BASELINE(saxpy, false, dim3(256), saxpy_parameters, B(0), B(1))
BASELINE(sum, true, dim3(WIDTH), sum_parameters, B(0), B(1), B(2))
BASELINE(stencil, true, dim3(32, 8), stencil_parameters, B(0))
BASELINE(histogram, false, dim3(WIDTH), sum_parameters, B(0), B(1))
BASELINE(matmul, false, dim3(16, 16), matmul_parameters, B(0), B(1), B(2))
BASELINE(scan, true, dim3(WIDTH), sum_parameters, B(0), B(1), B(2))
BASELINE(bfs, true, dim3(WIDTH), bfs_parameters, B(0), B(1), B(2), B(3), B(4))
BASELINE(nbody, false, dim3(WIDTH), nbody_parameters, B(0), B(1), B(2), B(3))

extern "C" const char *baseline_error(int code) { return cudaGetErrorString((cudaError_t)code); }
