/* What barriers, launches, copies and a cold start cost, against the same by hand in the same process.
 *
 *   launch RIVALS.so                  the table
 *   launch cold REACH.wgsl            microseconds from here to the first result, by libvyre
 *   launch bare CUBIN KERNEL          the same by the driver alone
 *   launch ptx REACH.wgsl             the text that the cubin is assembled from
 *
 * Ratios above what is allowed are marked and make the exit status 1. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vyre/vyre.h"

enum { BARRIERS_FEW = 500, BARRIERS_MANY = 5500, RUNS = 7, LAUNCHES = 3000 };

static vyre_backend backend;
static int failures, passes;

static void check(vyre_status status, vyre_error *error, const char *what) {
  if (status != VYRE_OK) {
    fprintf(stderr, "%s: %s: %s\n", what, vyre_status_name(status), vyre_error_message(error));
    exit(2);
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

/* One line of the table; a ratio of `ours` to `theirs`. */
static void line(const char *what, double ours, double theirs, double most, const char *unit) {
  double ratio = ours / theirs;
  int held = ratio <= most;
  printf("%-44s %12.2f %12.2f %-5s %6.3f  at most %.2f  %s\n", what, ours, theirs, unit, ratio, most, held ? "ok" : "MISSED");
  held ? passes++ : failures++;
  fflush(stdout);
}

static vyre_program load(const char *source, uint64_t flags) {
  vyre_program program = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  vyre_error *error = NULL;
  desc.code = source;
  desc.code_size = strlen(source);
  desc.flags = flags;
  check(vyre_program_load(backend, &desc, &program, &error), error, "load");
  return program;
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *text;
  long length;
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  length = ftell(file);
  rewind(file);
  text = (char *)calloc((size_t)length + 1, 1);
  if (fread(text, 1, (size_t)length, file) != (size_t)length) {
    perror(path);
    exit(2);
  }
  fclose(file);
  if (size != NULL) {
    *size = (size_t)length;
  }
  return text;
}

/* ---- barriers ------------------------------------------------------------------------------------ */

static const char barrier_source[] =
    "override threads: u32 = 256u;\n"
    "struct P { count: u32 }\nvar<immediate> p: P;\n"
    "@compute @workgroup_size(threads) fn main() {\n"
    "  for (var i = 0u; i < p.count; i++) { gridBarrier(); }\n}\n";

static double barriers_ns(vyre_program program, uint32_t blocks, uint32_t count) {
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  vyre_error *error = NULL;
  desc.workgroups[0] = blocks;
  desc.workgroups[1] = desc.workgroups[2] = 1;
  desc.immediates = &count;
  desc.immediates_size = 4;
  check(vyre_dispatch(program, &desc, &report, &error), error, "barriers");
  if (report.barriers != count || !report.audited) {
    fprintf(stderr, "not audited\n");
    exit(2);
  }
  return (double)report.device_time_ns;
}

static void warm_up(vyre_program program, uint32_t blocks) {
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  vyre_error *error = NULL;
  uint32_t count = 1;
  desc.workgroups[0] = blocks;
  desc.workgroups[1] = desc.workgroups[2] = 1;
  desc.immediates = &count;
  desc.immediates_size = 4;
  check(vyre_program_warm_up(program, &desc, &error), error, "warm up");
}

static void measure_barriers(void *rivals) {
  static const struct {
    uint32_t blocks, threads;
    double most;
  } grids[] = {{8, 256, 0.75},   {64, 256, 0.92},  {132, 256, 0.92},  {264, 256, 0.92}, {528, 256, 0.92},
               {1056, 256, 0.97}, {1584, 128, 0.9}, {2112, 128, 0.75}, {132, 1024, 0.97}};
  double (*theirs)(int, int, int);
  size_t g;
  *(void **)&theirs = dlsym(rivals, "rival_barriers_ns");
  for (g = 0; g < sizeof grids / sizeof *grids; g++) {
    vyre_override threads = {"threads", grids[g].threads};
    vyre_program program = {0};
    vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
    vyre_error *error = NULL;
    double ours_few[RUNS], ours_many[RUNS], few[RUNS], many[RUNS];
    char what[64];
    int run, n = (int)grids[g].blocks, t = (int)grids[g].threads;
    desc.code = barrier_source;
    desc.code_size = strlen(barrier_source);
    desc.overrides = &threads;
    desc.override_count = 1;
    check(vyre_program_load(backend, &desc, &program, &error), error, "load");
    warm_up(program, grids[g].blocks);
    for (run = 0; run < RUNS; run++) {
      ours_few[run] = barriers_ns(program, grids[g].blocks, BARRIERS_FEW);
      few[run] = theirs(n, t, BARRIERS_FEW);
      ours_many[run] = barriers_ns(program, grids[g].blocks, BARRIERS_MANY);
      many[run] = theirs(n, t, BARRIERS_MANY);
    }
    snprintf(what, sizeof what, "barrier, %d blocks of %d", n, t);
    line(what, (median(ours_many, RUNS) - median(ours_few, RUNS)) / (BARRIERS_MANY - BARRIERS_FEW),
         (median(many, RUNS) - median(few, RUNS)) / (BARRIERS_MANY - BARRIERS_FEW), grids[g].most, "ns");
    vyre_program_release(program, NULL);
  }
}

/* ---- launches ------------------------------------------------------------------------------------ */

static const char once_source[] = "@compute @workgroup_size(256) fn main() { gridBarrier(); }\n";

static void measure_launches(void *rivals) {
  static const uint32_t grids[] = {1, 132, 1056};
  static double ours[LAUNCHES], theirs[LAUNCHES];
  vyre_program program = load(once_source, 0);
  vyre_dispatch_desc desc[100];
  vyre_error *error = NULL;
  int (*launches)(int, int), i;
  size_t g;
  *(void **)&launches = dlsym(rivals, "rival_launches");
  for (g = 0; g < 3; g++) {
    char what[64];
    for (i = 0; i < 100; i++) {
      vyre_dispatch_desc_init(&desc[i]);
      desc[i].workgroups[0] = grids[g];
      desc[i].workgroups[1] = desc[i].workgroups[2] = 1;
    }
    for (i = -200; i < LAUNCHES; i++) {
      double start = now(), middle, end;
      check(vyre_dispatch(program, desc, NULL, &error), error, "dispatch");
      middle = now();
      if (launches((int)grids[g], 1) != 0) exit(2);
      end = now();
      if (i >= 0) {
        ours[i] = middle - start;
        theirs[i] = end - middle;
      }
    }
    snprintf(what, sizeof what, "dispatch with a barrier, %u blocks of 256", grids[g]);
    line(what, median(ours, LAUNCHES), median(theirs, LAUNCHES), 1.0, "us");
    for (i = -5; i < 100; i++) {
      double start = now(), middle, end;
      check(vyre_dispatch_batch(program, desc, 100, NULL, NULL, &error), error, "batch");
      middle = now();
      if (launches((int)grids[g], 100) != 0) exit(2);
      end = now();
      if (i >= 0) {
        ours[i] = middle - start;
        theirs[i] = end - middle;
      }
    }
    snprintf(what, sizeof what, "batch of 100, %u blocks of 256", grids[g]);
    line(what, median(ours, 100), median(theirs, 100), 1.05, "us");
  }
  vyre_program_release(program, NULL);
}

/* Two threads, each with grids that fill half of the device. */
static const char busy_source[] =
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
    "@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
    "  var x = id.x;\n  for (var i = 0u; i < 20000u; i++) { x = x * 1664525u + 1013904223u; }\n"
    "  o[id.x] = x;\n  gridBarrier();\n  o[id.x] += o[(id.x + 1u) % (66u * 256u)];\n}\n";

enum { EACH = 200 };
static vyre_program busy;

static void *work(void *unused) {
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  vyre_binding bound = {0};
  vyre_error *error = NULL;
  int i;
  (void)unused;
  check(vyre_buffer_create(backend, 66 * 256 * 4, &bound.buffer, &error), error, "buffer");
  desc.workgroups[0] = 66;
  desc.workgroups[1] = desc.workgroups[2] = 1;
  desc.bindings = &bound;
  desc.binding_count = 1;
  for (i = 0; i < EACH; i++) {
    check(vyre_dispatch(busy, &desc, NULL, &error), error, "busy");
  }
  vyre_buffer_release(bound.buffer, NULL);
  return NULL;
}

static void measure_overlap(void) {
  pthread_t threads[2];
  double start, alone, both;
  busy = load(busy_source, 0);
  work(NULL);
  start = now();
  work(NULL);
  alone = now() - start;
  start = now();
  pthread_create(&threads[0], NULL, work, NULL);
  pthread_create(&threads[1], NULL, work, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  both = now() - start;
  /* Twice the work; 1.7 times the throughput is 2 / 1.7 the time. */
  line("two threads of 66 blocks, against one", both, alone, 2 / 1.7, "us");
  vyre_program_release(busy, NULL);
}

/* ---- copies -------------------------------------------------------------------------------------- */

enum { GIB = 1 << 30, COPIES = 5 };

static void measure_copies(void *rivals) {
  int (*pinned)(void **, size_t), (*copy_async)(unsigned long long, void *, size_t, int),
      (*copy)(unsigned long long, void *, size_t, int);
  vyre_buffer buffer = {0};
  vyre_error *error = NULL;
  uint64_t address = 0;
  void *host = NULL, *theirs = NULL, *plain = malloc(GIB);
  double ours_time[COPIES], theirs_time[COPIES];
  int up, run;
  *(void **)&pinned = dlsym(rivals, "rival_pinned");
  *(void **)&copy_async = dlsym(rivals, "rival_copy_async");
  *(void **)&copy = dlsym(rivals, "rival_copy");
  check(vyre_host_alloc(backend, GIB, &host, &error), error, "host memory");
  check(vyre_buffer_create(backend, GIB, &buffer, &error), error, "buffer");
  check(vyre_buffer_native_pointer(buffer, &address, &error), error, "pointer");
  if (pinned(&theirs, GIB) != 0) exit(2);
  memset(host, 1, GIB);
  memset(theirs, 2, GIB);
  memset(plain, 3, GIB);
  for (up = 1; up >= 0; up--) {
    for (run = -1; run < COPIES; run++) {
      double start = now(), middle, end;
      check(up ? vyre_buffer_write(buffer, 0, host, GIB, &error) : vyre_buffer_read(buffer, 0, host, GIB, &error), error,
            "copy");
      middle = now();
      if (copy_async(address, theirs, GIB, up) != 0) exit(2);
      end = now();
      if (run >= 0) {
        ours_time[run] = middle - start;
        theirs_time[run] = end - middle;
      }
    }
    line(up ? "upload of 1 GiB, page-locked" : "read-back of 1 GiB, page-locked", median(ours_time, COPIES),
         median(theirs_time, COPIES), 1 / 0.95, "us");
    for (run = -1; run < COPIES; run++) {
      double start = now(), middle, end;
      check(up ? vyre_buffer_write(buffer, 0, plain, GIB, &error) : vyre_buffer_read(buffer, 0, plain, GIB, &error),
            error, "copy");
      middle = now();
      if (copy(address, plain, GIB, up) != 0) exit(2);
      end = now();
      if (run >= 0) {
        ours_time[run] = middle - start;
        theirs_time[run] = end - middle;
      }
    }
    line(up ? "upload of 1 GiB, malloc" : "read-back of 1 GiB, malloc", median(ours_time, COPIES),
         median(theirs_time, COPIES), 0.5, "us");
  }
  vyre_buffer_release(buffer, NULL);
  vyre_host_free(host, NULL);
  free(plain);
}

/* ---- cold start ---------------------------------------------------------------------------------- */

static void acquire(void) {
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  vyre_error *error = NULL;
  desc.kind = VYRE_BACKEND_CUDA;
  check(vyre_backend_acquire(&desc, &backend, &error), error, "acquire");
}

/* Acquire, load, and the first dispatch, of whatever bindings the program has. */
static double cold(const char *source) {
  double start = now();
  vyre_program program;
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  vyre_binding bound[16] = {{0}};
  vyre_error *error = NULL;
  uint32_t i;
  char zeros[256] = {0};
  acquire();
  program = load(source, 0);
  check(vyre_program_info(program, &info, &error), error, "info");
  for (i = 0; i < info.binding_count && i < 16; i++) {
    vyre_binding_properties binding = VYRE_BINDING_PROPERTIES_INIT;
    check(vyre_program_binding(program, i, &binding, &error), error, "binding");
    bound[i].group = binding.group;
    bound[i].binding = binding.binding;
    check(vyre_buffer_create(backend, 4096, &bound[i].buffer, &error), error, "buffer");
  }
  desc.workgroups[0] = 132;
  desc.workgroups[1] = desc.workgroups[2] = 1;
  desc.bindings = bound;
  desc.binding_count = info.binding_count;
  desc.immediates = zeros;
  desc.immediates_size = info.immediates_size;
  check(vyre_dispatch(program, &desc, NULL, &error), error, "dispatch");
  return now() - start;
}

/* Creates the context, loads the cubin, launches it with a block of zeros that ends at once. */
static double bare(const char *cubin, const char *kernel) {
  double start = now();
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  void *context, *module, *function;
  char *image = read_file(cubin, NULL);
  int device;
  unsigned long long memory;
#define CALL(name, type, ...)                         \
  do {                                                \
    int(*f) type;                                     \
    int error;                                        \
    *(void **)&f = dlsym(driver, name);               \
    error = f(__VA_ARGS__);                           \
    if (error != 0) {                                 \
      fprintf(stderr, "%s: %d\n", name, error);       \
      exit(2);                                        \
    }                                                 \
  } while (0)
  CALL("cuInit", (unsigned), 0);
  CALL("cuDeviceGet", (int *, int), &device, 0);
  CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, device);
  CALL("cuCtxSetCurrent", (void *), context);
  CALL("cuModuleLoadData", (void **, const void *), &module, image);
  CALL("cuModuleGetFunction", (void **, void *, const char *), &function, module, kernel);
  CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &memory, 1 << 20);
  CALL("cuMemsetD8_v2", (unsigned long long, unsigned char, size_t), memory, 0, 1 << 20);
  CALL("cuCtxSynchronize", (void));
  return now() - start;
}

int main(int argc, char **argv) {
  void *rivals;
  int (*prepare)(void);
  if (argc == 3 && strcmp(argv[1], "cold") == 0) {
    printf("%.0f\n", cold(read_file(argv[2], NULL)));
    return 0;
  }
  if (argc == 4 && strcmp(argv[1], "bare") == 0) {
    printf("%.0f\n", bare(argv[2], argv[3]));
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "ptx") == 0) {
    vyre_error *error = NULL;
    size_t size = 0;
    char *text;
    vyre_program program;
    acquire();
    program = load(read_file(argv[2], NULL), 0);
    check(vyre_program_ptx(program, VYRE_PTX_AS_DISPATCHED, NULL, 0, &size, &error), error, "ptx");
    text = (char *)malloc(size);
    check(vyre_program_ptx(program, VYRE_PTX_AS_DISPATCHED, text, size, NULL, &error), error, "ptx");
    fputs(text, stdout);
    return 0;
  }
  if (argc != 2) {
    fprintf(stderr, "usage: launch RIVALS.so | launch cold|ptx PROGRAM.wgsl | launch bare CUBIN KERNEL\n");
    return 2;
  }
  rivals = dlopen(argv[1], RTLD_NOW);
  if (rivals == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  acquire();
  *(void **)&prepare = dlsym(rivals, "rival_prepare");
  if (prepare() != 0) return 2;
  printf("%-44s %12s %12s %-5s %6s\n", "", "vyre", "by hand", "", "ratio");
  measure_barriers(rivals);
  measure_launches(rivals);
  measure_overlap();
  measure_copies(rivals);
  printf("%d passed, %d failed\n", passes, failures);
  return failures != 0;
}
