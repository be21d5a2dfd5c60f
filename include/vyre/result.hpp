#ifndef VYRE_RESULT_HPP
#define VYRE_RESULT_HPP

/** @file vyre/result.hpp
 * Why a call failed, as a value or as an exception. Part of vyre/vyre.hpp, which includes it.
 */

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "vyre's C++ headers need C++17 (-std=c++17)"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "vyre.h"

#if defined(__cpp_exceptions)
#include <stdexcept>
#define VYRE_CXX_EXCEPTIONS 1
#define VYRE_CXX_NAMESPACE throwing
#else
#define VYRE_CXX_EXCEPTIONS 0
#define VYRE_CXX_NAMESPACE nonthrowing
#endif

namespace vyre {
/* Units compiled with and without exceptions may be linked together: their types are different ones. */
inline namespace VYRE_CXX_NAMESPACE {

/* ---- errors -------------------------------------------------------------------------------------- */

/** Where in a program's source, both from 1; the column in bytes. */
struct source_position {
  std::uint32_t line;
  std::uint32_t column;
};

/** Why a call failed. Copies share one vyre_error; any threads may read it. */
class failure {
 public:
  /** Takes over what a failed call gave; `error` may be null. */
  failure(vyre_status status, vyre_error *error) : status_(status) {
    if (error != nullptr) error_.reset(error, vyre_error_free);
  }

  /** One of VYRE_ERROR_*. */
  vyre_status status() const noexcept { return status_; }
  /** Such as "VYRE_ERROR_TIMEOUT". */
  const char *name() const noexcept { return vyre_status_name(status_); }
  /** What was seen and what was expected. */
  const char *message() const noexcept { return error_ ? vyre_error_message(error_.get()) : name(); }
  /** What to do about it. */
  const char *fix() const noexcept { return error_ ? vyre_error_fix(error_.get()) : vyre_status_fix(status_); }
  /** An errno, a CUresult, or 0. */
  std::int32_t native_code() const noexcept { return vyre_error_native_code(error_.get()); }
  /** Where in the program's source, if it lies there. */
  std::optional<source_position> position() const noexcept {
    source_position at{};
    if (!vyre_error_source_position(error_.get(), &at.line, &at.column)) return std::nullopt;
    return at;
  }

 private:
  vyre_status status_;
  std::shared_ptr<vyre_error> error_;
};

#if VYRE_CXX_EXCEPTIONS
/** What calls without try_ throw; what() is the message. */
class error : public std::runtime_error {
 public:
  explicit error(failure why) : std::runtime_error(why.message()), why_(std::move(why)) {}
  vyre_status status() const noexcept { return why_.status(); }
  const char *name() const noexcept { return why_.name(); }
  const char *message() const noexcept { return why_.message(); }
  const char *fix() const noexcept { return why_.fix(); }
  std::int32_t native_code() const noexcept { return why_.native_code(); }
  std::optional<source_position> position() const noexcept { return why_.position(); }

 private:
  failure why_;
};
#endif

/** A value, or why there is none. */
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : value_(std::move(value)) {}
  result(vyre::failure why) : failure_(std::move(why)) {}

  explicit operator bool() const noexcept { return value_.has_value(); }
  /** Only of a failed result. */
  const vyre::failure &failure() const { return *failure_; }
  /** The value. Of a failed result: throws vyre::error, or aborts without exceptions. */
  T &value() & { return check(), *value_; }
  const T &value() const & { return check(), *value_; }
  T value() && { return check(), std::move(*value_); }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

 private:
  void check() const {
    if (value_) return;
#if VYRE_CXX_EXCEPTIONS
    throw error(*failure_);
#else
    std::abort();
#endif
  }

  std::optional<T> value_;
  std::optional<vyre::failure> failure_;
};

/** Success, or why not. */
template <>
class [[nodiscard]] result<void> {
 public:
  result() noexcept : failure_(VYRE_OK, nullptr) {}
  result(vyre::failure why) noexcept : failure_(std::move(why)) {}

  explicit operator bool() const noexcept { return failure_.status() == VYRE_OK; }
  /** Only of a failed result. */
  const vyre::failure &failure() const noexcept { return failure_; }
  /** Of a failed result: throws vyre::error, or aborts without exceptions. */
  void value() const {
    if (*this) return;
#if VYRE_CXX_EXCEPTIONS
    throw error(failure_);
#else
    std::abort();
#endif
  }

 private:
  vyre::failure failure_;  // or VYRE_OK
};

namespace detail {

/** Calls a function of the C surface with a place for its error. */
template <class Call>
result<void> call(Call &&function) {
  vyre_error *why = nullptr;
  const vyre_status status = function(&why);
  if (status == VYRE_OK) return {};
  return failure(status, why);
}

#if VYRE_CXX_EXCEPTIONS
/** As call(), for callers that throw anyway: there is no result on the way. */
template <class Call>
void must(Call &&function) {
  vyre_error *why = nullptr;
  const vyre_status status = function(&why);
  if (status != VYRE_OK) throw error(failure(status, why));
}
#endif

/** As call(), and the value that the function filled. */
template <class T, class Call>
result<T> fill(T value, Call &&function) {
  vyre_error *why = nullptr;
  const vyre_status status = function(&value, &why);
  if (status == VYRE_OK) return value;
  return failure(status, why);
}

/** A text of unknown length: asked for, then fetched. */
template <class Call>
result<std::string> text(Call &&function) {
  std::size_t size = 0;
  vyre_error *why = nullptr;
  vyre_status status = function(nullptr, std::size_t{0}, &size, &why);
  if (status != VYRE_OK) return failure(status, why);
  std::string got(size, '\0');
  status = function(got.data(), got.size(), &size, &why);
  if (status != VYRE_OK) return failure(status, why);
  if (!got.empty()) got.pop_back(); /* the NUL */
  return got;
}

}  // namespace detail

}  // namespace VYRE_CXX_NAMESPACE
}  // namespace vyre

#endif /* VYRE_RESULT_HPP */
