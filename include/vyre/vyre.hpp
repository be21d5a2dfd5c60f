#ifndef VYRE_VYRE_HPP
#define VYRE_VYRE_HPP

/** @file vyre/vyre.hpp
 * vyre for C++17: owners that release what they hold, typed copies, errors as exceptions or as values.
 *
 * Header-only, over vyre/vyre.h, whose conventions hold here too. Every call that can fail comes twice: try_x() returns a
 * vyre::result, and x() throws a vyre::error; both fail as the function of vyre/vyre.h does that they call. Without exceptions
 * (-fno-exceptions) there are only the former. Nothing here needs run-time type information.
 *
 * Owners (backend, buffer, program, host_array) are moved, not copied. A default-constructed or moved-from one holds nothing;
 * calls on it fail with VYRE_ERROR_INVALID_HANDLE. Different threads may use one owner at once, as long as none moves it.
 */

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "result.hpp"

namespace vyre {
inline namespace VYRE_CXX_NAMESPACE {
namespace detail {

template <class C>
using element = std::remove_reference_t<decltype(*std::data(std::declval<C &>()))>;

template <class C>
using if_contiguous =
    std::enable_if_t<std::is_trivially_copyable_v<element<C>> && std::is_convertible_v<decltype(std::size(std::declval<C &>())), std::size_t>>;

/** Releases a handle when it goes. */
template <class Handle, vyre_status (*Release)(Handle, vyre_error **)>
class owner {
 public:
  owner() = default;
  owner(owner &&other) noexcept : handle_(other.release()) {}
  owner &operator=(owner &&other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  owner(const owner &) = delete;
  owner &operator=(const owner &) = delete;
  ~owner() { reset(Handle{}); }

  explicit operator bool() const noexcept { return handle_.id != 0; }
  /** The C handle, which stays owned. */
  Handle get() const noexcept { return handle_; }
  /** Gives the C handle away: the caller releases it. */
  Handle release() noexcept { return std::exchange(handle_, Handle{}); }

 protected:
  explicit owner(Handle handle) noexcept : handle_(handle) {}

 private:
  void reset(Handle next) noexcept {
    if (handle_.id != 0) Release(handle_, nullptr);
    handle_ = next;
  }

  Handle handle_{};
};

}  // namespace detail

/* ---- views --------------------------------------------------------------------------------------- */

/** Bytes to read: made of any contiguous container of plain elements; they must outlive the call. */
class bytes {
 public:
  bytes(const void *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class C, class = detail::if_contiguous<const C>>
  bytes(const C &container) : data_(std::data(container)), size_(std::size(container) * sizeof(*std::data(container))) {}
  template <class T, class = std::enable_if_t<std::is_trivially_copyable_v<T>>>
  bytes(std::initializer_list<T> list) noexcept : data_(list.begin()), size_(list.size() * sizeof(T)) {}

  const void *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  const void *data_;
  std::size_t size_;
};

/** Bytes to write: made of any contiguous container of plain elements that may be changed. */
class mutable_bytes {
 public:
  mutable_bytes(void *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class C, class = detail::if_contiguous<C>, class = std::enable_if_t<!std::is_const_v<detail::element<C>>>>
  mutable_bytes(C &container) : data_(std::data(container)), size_(std::size(container) * sizeof(*std::data(container))) {}

  void *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  void *data_;
  std::size_t size_;
};

/* ---- buffers ------------------------------------------------------------------------------------- */

/** Bytes that stay with the backend. Offsets and sizes are bytes. */
class buffer : public detail::owner<vyre_buffer, vyre_buffer_release> {
 private:
  auto writing(bytes data, std::uint64_t offset) const {
    return [this, data, offset](vyre_error **why) { return vyre_buffer_write(get(), offset, data.data(), data.size(), why); };
  }
  auto reading(mutable_bytes out, std::uint64_t offset) const {
    return [this, out, offset](vyre_error **why) { return vyre_buffer_read(get(), offset, out.data(), out.size(), why); };
  }

 public:
  buffer() = default;
  /** Takes over a C handle. */
  explicit buffer(vyre_buffer handle) noexcept : owner(handle) {}

  /** Copies `data` into the buffer. */
  result<void> try_write(bytes data, std::uint64_t offset = 0) { return detail::call(writing(data, offset)); }
  /** Copies from the buffer until `out` is full. */
  result<void> try_read_into(mutable_bytes out, std::uint64_t offset = 0) const { return detail::call(reading(out, offset)); }
  /** `count` elements from `offset` on; without a count as many as there are to the end. */
  template <class T>
  result<std::vector<T>> try_read(std::optional<std::size_t> count = std::nullopt, std::uint64_t offset = 0) const {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, "bytes must make a T");
    const auto size = try_size();
    if (!size) return size.failure();
    const std::uint64_t all = size.value();
    const std::uint64_t rest = offset < all ? (all - offset) / sizeof(T) : 0;
    const std::uint64_t wanted = count ? *count : rest;
    std::vector<T> values(static_cast<std::size_t>(wanted <= rest ? wanted : 0));
    unsigned char none = 0;
    const auto done = detail::call([&](vyre_error **why) {
      if (wanted <= rest) return vyre_buffer_read(get(), offset, values.data(), wanted * sizeof(T), why);
      /* Past the end: nothing is read, and the call says so. */
      return vyre_buffer_read(get(), offset, &none, wanted > UINT64_MAX / sizeof(T) ? UINT64_MAX : wanted * sizeof(T), why);
    });
    if (!done) return done.failure();
    return values;
  }
  /** Repeats `pattern` over `size` bytes from `offset` on, both multiples of 4. */
  result<void> try_fill(std::uint32_t pattern, std::uint64_t size, std::uint64_t offset = 0) {
    return detail::call([&](vyre_error **why) { return vyre_buffer_fill(get(), offset, size, pattern, why); });
  }
  /** Copies `size` bytes of `source`, a buffer of the same backend. */
  result<void> try_copy_from(const buffer &source, std::uint64_t size, std::uint64_t offset = 0, std::uint64_t source_offset = 0) {
    return detail::call(
        [&](vyre_error **why) { return vyre_buffer_copy(get(), offset, source.get(), source_offset, size, why); });
  }
  result<std::uint64_t> try_size() const {
    return detail::fill(std::uint64_t{}, [&](std::uint64_t *to, vyre_error **why) { return vyre_buffer_size(get(), to, why); });
  }
  /** CUdeviceptr or host address of the first byte. */
  result<std::uint64_t> try_native_pointer() const {
    return detail::fill(std::uint64_t{},
                        [&](std::uint64_t *to, vyre_error **why) { return vyre_buffer_native_pointer(get(), to, why); });
  }

#if VYRE_CXX_EXCEPTIONS
  void write(bytes data, std::uint64_t offset = 0) { detail::must(writing(data, offset)); }
  void read_into(mutable_bytes out, std::uint64_t offset = 0) const { detail::must(reading(out, offset)); }
  template <class T>
  std::vector<T> read(std::optional<std::size_t> count = std::nullopt, std::uint64_t offset = 0) const {
    return try_read<T>(count, offset).value();
  }
  void fill(std::uint32_t pattern, std::uint64_t size, std::uint64_t offset = 0) { try_fill(pattern, size, offset).value(); }
  void copy_from(const buffer &source, std::uint64_t size, std::uint64_t offset = 0, std::uint64_t source_offset = 0) {
    try_copy_from(source, size, offset, source_offset).value();
  }
  std::uint64_t size() const { return try_size().value(); }
  std::uint64_t native_pointer() const { return try_native_pointer().value(); }
#endif
};

/* ---- dispatches ---------------------------------------------------------------------------------- */

/** What to run: built by calls in a row, and run as often as wanted, by any thread while none changes it. It refers to buffers and
 * lent memory, and owns neither: a buffer that is gone when it runs is VYRE_ERROR_INVALID_HANDLE. */
class dispatch {
 public:
  /** So many workgroups; none given: as many as the backend runs at once. */
  dispatch() noexcept { vyre_dispatch_desc_init(&desc_); }
  explicit dispatch(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) noexcept : dispatch() { workgroups(x, y, z); }

  dispatch &workgroups(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) noexcept {
    desc_.workgroups[0] = x, desc_.workgroups[1] = y, desc_.workgroups[2] = z;
    return *this;
  }
  /** A buffer, or `size` bytes of it from `offset` on; size 0: to its end. Binding the same place again replaces it. */
  dispatch &bind(std::uint32_t group, std::uint32_t binding, const buffer &to, std::uint64_t offset = 0, std::uint64_t size = 0) {
    return put({group, binding, to.get(), offset, size, nullptr, nullptr});
  }
  /** A buffer at this binding of group 0. */
  dispatch &bind(std::uint32_t binding, const buffer &to) { return bind(0, binding, to); }
  /** Memory of the caller's for a read-only or uniform binding; it must live until the dispatch has run for the last time. */
  dispatch &lend_in(std::uint32_t group, std::uint32_t binding, bytes in) {
    return put({group, binding, vyre_buffer{}, 0, in.size(), in.data(), nullptr});
  }
  /** A temporary would be gone by then. */
  template <class C, class = detail::if_contiguous<const C>, class = std::enable_if_t<!std::is_lvalue_reference_v<C>>>
  dispatch &lend_in(std::uint32_t group, std::uint32_t binding, C &&temporary) = delete;
  template <class T>
  dispatch &lend_in(std::uint32_t group, std::uint32_t binding, std::initializer_list<T> temporary) = delete;
  /** Memory of the caller's for a read-write binding that starts as zeros. */
  dispatch &lend_out(std::uint32_t group, std::uint32_t binding, mutable_bytes out) {
    return put({group, binding, vyre_buffer{}, 0, out.size(), nullptr, out.data()});
  }
  /** Memory of the caller's for a read-write binding that finds what is there. */
  dispatch &lend(std::uint32_t group, std::uint32_t binding, mutable_bytes both) {
    return put({group, binding, vyre_buffer{}, 0, both.size(), both.data(), both.data()});
  }
  /** The program's immediates, which are copied. */
  template <class T>
  dispatch &immediates(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>, "immediates are passed as bytes");
    const auto *first = reinterpret_cast<const unsigned char *>(std::addressof(value));
    immediates_.assign(first, first + sizeof value);
    return *this;
  }
  /** For all repeats together; zero: the backend's default; less: it has passed already. */
  dispatch &timeout(std::chrono::nanoseconds limit) noexcept {
    desc_.timeout_ns = limit.count() < 0 ? 1 : static_cast<std::uint64_t>(limit.count());
    return *this;
  }
  dispatch &without_timeout() noexcept {
    desc_.timeout_ns = VYRE_TIMEOUT_UNBOUNDED;
    return *this;
  }
  /** How often to run, each run seeing what the one before wrote. */
  dispatch &repeat(std::uint32_t times) noexcept {
    desc_.repeat = times;
    return *this;
  }
  /** Launch cooperatively also without a grid barrier. */
  dispatch &cooperative(bool yes = true) noexcept {
    desc_.flags = yes ? VYRE_DISPATCH_COOPERATIVE : 0;
    return *this;
  }

  /** As the C calls take it; it lives until this is changed or gone. */
  vyre_dispatch_desc get() const noexcept {
    vyre_dispatch_desc desc = desc_;
    desc.bindings = bindings_.data(), desc.binding_count = bindings_.size();
    desc.immediates = immediates_.data(), desc.immediates_size = immediates_.size();
    return desc;
  }

 private:
  dispatch &put(const vyre_binding &bound) {
    for (vyre_binding &other : bindings_) {
      if (other.group == bound.group && other.binding == bound.binding) return other = bound, *this;
    }
    bindings_.push_back(bound);
    return *this;
  }

  vyre_dispatch_desc desc_;
  std::vector<vyre_binding> bindings_;
  std::vector<unsigned char> immediates_;
};

/** What a dispatch did: vyre_dispatch_report. */
using report = vyre_dispatch_report;

/* ---- programs ------------------------------------------------------------------------------------ */

/** How a program is loaded. */
struct program_options {
  /** Empty: the only one. */
  std::string entry_point;
  /** For messages. */
  std::string label;
  /** Any of VYRE_PROGRAM_UNCHECKED, _FAST_MATH and _TRUST_UNIFORMITY. */
  std::uint64_t flags = 0;
  /** Values of override constants, by name or by the digits of an @id. */
  std::vector<std::pair<std::string, double>> overrides;
};

/** How a PTX kernel is called: what its text does not say. */
struct ptx_options {
  std::vector<vyre_ptx_parameter> parameters;
  /** {0, 0, 0}: what its `.reqntid` says. */
  std::uint32_t workgroup_size[3] = {0, 0, 0};
  /** Bytes beyond what it declares. */
  std::uint32_t workgroup_memory = 0;
};

/** One of a program's bindings. */
struct binding_info {
  vyre_binding_properties properties;
  std::string name;
};

/** A loaded program. */
class program : public detail::owner<vyre_program, vyre_program_release> {
 public:
  program() = default;
  /** Takes over a C handle. */
  explicit program(vyre_program handle) noexcept : owner(handle) {}

  /** Runs it and waits until the grid is done and audited. */
  result<vyre::report> try_run(const dispatch &what) const {
    const vyre_dispatch_desc desc = what.get();
    vyre::report done;
    vyre_dispatch_report_init(&done);
    return detail::fill(done, [&](vyre::report *to, vyre_error **why) { return vyre_dispatch(get(), &desc, to, why); });
  }
  /** Runs it without a report, which is the fastest: a report takes the device's time. */
  result<void> try_run_quietly(const dispatch &what) const {
    const vyre_dispatch_desc desc = what.get();
    return detail::call([&](vyre_error **why) { return vyre_dispatch(get(), &desc, nullptr, why); });
  }
  /** Runs several in order. `completed`, if given, receives how many were done, also on failure. */
  result<std::vector<vyre::report>> try_run_batch(const std::vector<dispatch> &what, std::size_t *completed = nullptr) const {
    std::vector<vyre_dispatch_desc> descs;
    descs.reserve(what.size());
    for (const dispatch &one : what) descs.push_back(one.get());
    std::vector<vyre::report> done(what.size());
    for (vyre::report &one : done) vyre_dispatch_report_init(&one);
    const auto ran = detail::call(
        [&](vyre_error **why) { return vyre_dispatch_batch(get(), descs.data(), descs.size(), done.data(), completed, why); });
    if (!ran) return ran.failure();
    return done;
  }
  /** Does ahead of time what the first such dispatch would have to do besides running. */
  result<void> try_warm_up(const dispatch &what) const {
    const vyre_dispatch_desc desc = what.get();
    return detail::call([&](vyre_error **why) { return vyre_program_warm_up(get(), &desc, why); });
  }
  result<vyre_program_properties> try_info() const {
    vyre_program_properties info;
    vyre_program_properties_init(&info);
    return detail::fill(info, [&](vyre_program_properties *to, vyre_error **why) { return vyre_program_info(get(), to, why); });
  }
  result<std::vector<binding_info>> try_bindings() const {
    const auto info = try_info();
    if (!info) return info.failure();
    std::vector<binding_info> all;
    for (std::uint32_t index = 0; index < info.value().binding_count; index++) {
      vyre_binding_properties one;
      vyre_binding_properties_init(&one);
      const auto got = detail::fill(one, [&](vyre_binding_properties *to, vyre_error **why) {
        return vyre_program_binding(get(), index, to, why);
      });
      if (!got) return got.failure();
      auto name = detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
        return vyre_program_binding_name(get(), index, to, capacity, required, why);
      });
      if (!name) return name.failure();
      all.push_back({got.value(), std::move(name).value()});
    }
    return all;
  }
  result<std::string> try_entry_point() const {
    return detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
      return vyre_program_entry_point(get(), to, capacity, required, why);
    });
  }
  /** Its PTX, on a CUDA backend; `contract` is one of VYRE_PTX_AS_DISPATCHED and VYRE_PTX_MODULE_SCOPE. */
  result<std::string> try_ptx(vyre_ptx_contract contract = VYRE_PTX_AS_DISPATCHED) const {
    return detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
      return vyre_program_ptx(get(), contract, to, capacity, required, why);
    });
  }

#if VYRE_CXX_EXCEPTIONS
  vyre::report run(const dispatch &what) const { return try_run(what).value(); }
  void run_quietly(const dispatch &what) const { try_run_quietly(what).value(); }
  std::vector<vyre::report> run_batch(const std::vector<dispatch> &what, std::size_t *completed = nullptr) const {
    return try_run_batch(what, completed).value();
  }
  void warm_up(const dispatch &what) const { try_warm_up(what).value(); }
  vyre_program_properties info() const { return try_info().value(); }
  std::vector<binding_info> bindings() const { return try_bindings().value(); }
  std::string entry_point() const { return try_entry_point().value(); }
  std::string ptx(vyre_ptx_contract contract = VYRE_PTX_AS_DISPATCHED) const { return try_ptx(contract).value(); }
#endif
};

/* ---- backends ------------------------------------------------------------------------------------ */

/** Which device to acquire, and how. */
struct backend_options {
  /** One of VYRE_BACKEND_*. */
  vyre_backend_kind kind = VYRE_BACKEND_AUTO;
  /** CUDA device, from 0. */
  std::uint32_t ordinal = 0;
  /** Threads of the CPU backend; 0: as many as the process may run on. */
  std::uint32_t cpu_threads = 0;
};

/** Page-locked memory, from and to which a CUDA device copies fastest; its elements start undefined. */
template <class T>
class host_array {
  static_assert(std::is_trivially_copyable_v<T>, "the device writes bytes");

 public:
  host_array() = default;
  /** Takes over what vyre_host_alloc() gave. */
  host_array(void *memory, std::size_t count) noexcept : memory_(static_cast<T *>(memory)), count_(count) {}

  T *data() const noexcept { return memory_.get(); }
  std::size_t size() const noexcept { return count_; }
  T *begin() const noexcept { return data(); }
  T *end() const noexcept { return data() + count_; }
  T &operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  struct freed {
    void operator()(T *memory) const noexcept { vyre_host_free(memory, nullptr); }
  };
  std::unique_ptr<T[], freed> memory_;
  std::size_t count_ = 0;
};

/** A device, or the processor. Buffers and programs keep it alive. */
class backend : public detail::owner<vyre_backend, vyre_backend_release> {
 public:
  backend() = default;
  /** Takes over a C handle. */
  explicit backend(vyre_backend handle) noexcept : owner(handle) {}

  static result<backend> try_acquire(const backend_options &options = {}) {
    vyre_backend_desc desc;
    vyre_backend_desc_init(&desc);
    desc.kind = options.kind, desc.ordinal = options.ordinal, desc.cpu_threads = options.cpu_threads;
    return own<backend>(vyre_backend{}, [&](vyre_backend *to, vyre_error **why) { return vyre_backend_acquire(&desc, to, why); });
  }
  /** A zeroed buffer of so many bytes. */
  result<buffer> try_create_buffer(std::uint64_t size) const {
    return own<buffer>(vyre_buffer{}, [&](vyre_buffer *to, vyre_error **why) { return vyre_buffer_create(get(), size, to, why); });
  }
  /** A buffer with a copy of `data`. */
  result<buffer> try_upload(bytes data) const {
    return own<buffer>(vyre_buffer{}, [&](vyre_buffer *to, vyre_error **why) {
      return vyre_buffer_upload(get(), data.data(), data.size(), to, why);
    });
  }
  /** A buffer over memory of the caller's, as vyre_buffer_import(). */
  result<buffer> try_import_buffer(std::uint64_t pointer, std::uint64_t size) const {
    return own<buffer>(vyre_buffer{}, [&](vyre_buffer *to, vyre_error **why) {
      return vyre_buffer_import(get(), pointer, size, to, why);
    });
  }
  template <class T>
  result<host_array<T>> try_allocate_host(std::size_t count) const {
    void *memory = nullptr;
    const std::uint64_t size = count > UINT64_MAX / sizeof(T) ? UINT64_MAX : count * sizeof(T);
    const auto made = detail::call([&](vyre_error **why) { return vyre_host_alloc(get(), size, &memory, why); });
    if (!made) return made.failure();
    return host_array<T>(memory, count);
  }
  /** Loads WGSL. */
  result<program> try_load(std::string_view source, const program_options &options = {}) const {
    return load(source, options, VYRE_PROGRAM_WGSL, {});
  }
  /** Loads PTX, on a CUDA backend. */
  result<program> try_load_ptx(std::string_view text, const ptx_options &kernel, const program_options &options = {}) const {
    return load(text, options, VYRE_PROGRAM_PTX, kernel);
  }
  result<vyre_backend_properties> try_info() const {
    vyre_backend_properties info;
    vyre_backend_properties_init(&info);
    return detail::fill(info, [&](vyre_backend_properties *to, vyre_error **why) { return vyre_backend_info(get(), to, why); });
  }
  result<std::string> try_name() const {
    return detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
      return vyre_backend_name(get(), to, capacity, required, why);
    });
  }
  /** Why it is this one, where the kind was automatic. */
  result<std::string> try_reason() const {
    return detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
      return vyre_backend_reason(get(), to, capacity, required, why);
    });
  }
  result<vyre_backend_counters> try_telemetry() const {
    vyre_backend_counters counters;
    vyre_backend_counters_init(&counters);
    return detail::fill(counters,
                        [&](vyre_backend_counters *to, vyre_error **why) { return vyre_backend_telemetry(get(), to, why); });
  }
  result<void> try_reset_telemetry() {
    return detail::call([&](vyre_error **why) { return vyre_backend_telemetry_reset(get(), why); });
  }
  /** Gives back what pools hold; `all`: waits for what is under way, and empties caches too. */
  result<void> try_trim(bool all = false) {
    return detail::call([&](vyre_error **why) { return vyre_backend_trim(get(), all ? VYRE_TRIM_ALL : 0, why); });
  }

#if VYRE_CXX_EXCEPTIONS
  static backend acquire(const backend_options &options = {}) { return try_acquire(options).value(); }
  buffer create_buffer(std::uint64_t size) const { return try_create_buffer(size).value(); }
  buffer upload(bytes data) const { return try_upload(data).value(); }
  buffer import_buffer(std::uint64_t pointer, std::uint64_t size) const { return try_import_buffer(pointer, size).value(); }
  template <class T>
  host_array<T> allocate_host(std::size_t count) const {
    return try_allocate_host<T>(count).value();
  }
  program load(std::string_view source, const program_options &options = {}) const { return try_load(source, options).value(); }
  program load_ptx(std::string_view text, const ptx_options &kernel, const program_options &options = {}) const {
    return try_load_ptx(text, kernel, options).value();
  }
  vyre_backend_properties info() const { return try_info().value(); }
  std::string name() const { return try_name().value(); }
  std::string reason() const { return try_reason().value(); }
  vyre_backend_counters telemetry() const { return try_telemetry().value(); }
  void reset_telemetry() { try_reset_telemetry().value(); }
  void trim(bool all = false) { try_trim(all).value(); }
#endif

 private:
  template <class Owner, class Handle, class Call>
  static result<Owner> own(Handle handle, Call &&function) {
    vyre_error *why = nullptr;
    const vyre_status status = function(&handle, &why);
    if (status != VYRE_OK) return failure(status, why);
    return Owner(handle);
  }

  result<program> load(std::string_view code, const program_options &options, vyre_program_format format,
                       const ptx_options &kernel) const {
    std::vector<vyre_override> overrides;
    for (const auto &[name, value] : options.overrides) overrides.push_back({name.c_str(), value});
    vyre_program_desc desc;
    vyre_program_desc_init(&desc);
    desc.format = format;
    desc.code = code.data(), desc.code_size = code.size();
    desc.entry_point = options.entry_point.empty() ? nullptr : options.entry_point.c_str();
    desc.label = options.label.empty() ? nullptr : options.label.c_str();
    desc.flags = options.flags;
    desc.overrides = overrides.data(), desc.override_count = overrides.size();
    desc.parameters = kernel.parameters.data(), desc.parameter_count = kernel.parameters.size();
    for (int axis = 0; axis < 3; axis++) desc.workgroup_size[axis] = kernel.workgroup_size[axis];
    desc.workgroup_memory = kernel.workgroup_memory;
    return own<program>(vyre_program{}, [&](vyre_program *to, vyre_error **why) { return vyre_program_load(get(), &desc, to, why); });
  }
};

/** A device that could be acquired. */
struct device {
  vyre_device_properties properties;
  std::string name;
  /** Why it cannot be; empty if it can. */
  std::string reason;
};

/** CUDA devices first, the CPU last. */
inline result<std::vector<device>> try_devices() {
  const auto count = detail::fill(std::uint32_t{}, [](std::uint32_t *to, vyre_error **why) { return vyre_device_count(to, why); });
  if (!count) return count.failure();
  std::vector<device> all;
  for (std::uint32_t index = 0; index < count.value(); index++) {
    vyre_device_properties one;
    vyre_device_properties_init(&one);
    const auto got = detail::fill(one, [&](vyre_device_properties *to, vyre_error **why) { return vyre_device_info(index, to, why); });
    if (!got) return got.failure();
    auto name = detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
      return vyre_device_name(index, to, capacity, required, why);
    });
    if (!name) return name.failure();
    auto reason = detail::text([&](char *to, std::size_t capacity, std::size_t *required, vyre_error **why) {
      return vyre_device_reason(index, to, capacity, required, why);
    });
    if (!reason) return reason.failure();
    all.push_back({got.value(), std::move(name).value(), std::move(reason).value()});
  }
  return all;
}

#if VYRE_CXX_EXCEPTIONS
inline std::vector<device> devices() { return try_devices().value(); }
#endif

}  // namespace VYRE_CXX_NAMESPACE
}  // namespace vyre

#endif /* VYRE_VYRE_HPP */
