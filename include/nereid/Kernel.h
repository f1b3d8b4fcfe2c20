// Compiles a Triton kernel from a .py file and runs it, without Python.
// SPDX-License-Identifier: MIT
#pragma once

#include <nereid/Export.h>
#include <nereid/Options.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace nereid {

namespace artifact {
struct Artifact;
}

/// An error of a kernel, a signature or a launch; `what()` is the whole message, with file, line and the underlined
/// source where known.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Number of programs along each axis.
struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

class BoundKernel;

/// A compiled kernel, loaded and ready to launch. Copies share it; any number of threads may launch it.
class NEREID_API Kernel {
public:
  using Options = KernelOptions;

#ifdef __cpp_exceptions
  /// Compiles `kernel` of the file `path`. `signature` has one entry per
  /// parameter: `*fp32:16` a pointer whose address is a multiple of 16, `i32`,
  /// `fp32` ..., or a constant such as `1024`. Throws Error.
  static Kernel fromSource(const std::string &path, const std::string &kernel, const std::string &signature,
                           const Options &options = Options()) {
    std::string problem;
    Kernel compiled = compile(path, kernel, signature, options, problem);
    return problem.empty() ? compiled : throw Error(problem);
  }

  /// Compiles the kernel of a module of IR, a file *.ttir or *.ttgir. Throws Error.
  static Kernel fromIr(const std::string &path, const Options &options = Options()) {
    return fromSource(path, "", "", options);
  }

  /// Loads what `nereid compile --emit artifact` has written onto a device of the artifact's target. Throws Error.
  static Kernel fromArtifact(const std::string &path, int device = 0) {
    std::string problem;
    Kernel loaded = load(path, device, problem);
    return problem.empty() ? loaded : throw Error(problem);
  }

  /// Runs every program of the grid: on a CPU until all are done, on a GPU asynchronously in its default stream. The
  /// arguments are the kernel's parameters that are not constants, in order: pointers or spans, integers, floats. A
  /// kernel that checks its accesses knows the bounds of spans only. A number is converted to the parameter's type, as
  /// in Python; it is an Error if it does not fit. Throws Error.
  template <typename... Args> void launch(Grid grid, Args... args) const { launchOn(nullptr, grid, args...); }

  /// As `launch`, on a stream of the GPU (a CUstream or cudaStream_t).
  template <typename... Args> void launchOn(void *stream, Grid grid, Args... args) const {
    const Value values[] = {Value(args)..., Value()};
    if (std::string problem = launchValues(grid, stream, values, sizeof...(Args)); !problem.empty())
      throw Error(problem);
  }

  /// The kernel with these arguments, checked and packed once: `launch` of the result only starts it. Throws Error.
  template <typename... Args> BoundKernel bind(Args... args) const;

  /// A stage of the compilation: "ttir", "llir", "asm", "so". Throws Error where the target has no such stage.
  std::string stage(const std::string &name) const {
    std::string problem, text = findStage(name, problem);
    return problem.empty() ? text : throw Error(problem);
  }
#endif // the library itself throws nothing: it is built without exceptions

  const std::string &name() const;

private:
  friend class Pack;

  /// One argument with the properties of its C++ type.
  struct Value {
    enum class Kind : uint8_t { None, Bool, Int, UInt, Float, Address } kind = Kind::None;
    bool isReadOnly = false; ///< of a pointer
    union {
      uint64_t bits = 0;
      double number;
    };
    uint64_t bytes = 0; ///< of a span
    bool isSpan = false;
    Value() = default;
    template <typename T>
    explicit Value(T *pointer)
        : kind(Kind::Address), isReadOnly(std::is_const_v<T>), bits(reinterpret_cast<uintptr_t>(pointer)) {}
    template <typename T, size_t Extent> explicit Value(std::span<T, Extent> elements) : Value(elements.data()) {
      bytes = elements.size_bytes();
      isSpan = true;
    }
    explicit Value(std::nullptr_t) : kind(Kind::Address) {}
    explicit Value(double number) : kind(Kind::Float), number(number) {}
    template <typename T>
      requires std::is_integral_v<T>
    explicit Value(T number)
        : kind(std::is_same_v<T, bool> ? Kind::Bool
               : std::is_signed_v<T>   ? Kind::Int
                                       : Kind::UInt),
          bits(static_cast<uint64_t>(number)) {}
  };
  static Kernel compile(const std::string &path, const std::string &kernel, const std::string &signature,
                        const Options &options, std::string &problem);
  static Kernel load(const std::string &path, int device, std::string &problem);
  static Kernel load(const artifact::Artifact &artifact, int device, std::string &problem);
  std::string findStage(const std::string &name, std::string &problem) const;
  /// The error text; empty on success.
  std::string launchValues(Grid grid, void *stream, const Value *values, size_t count) const;

  friend class BoundKernel;
  struct Impl;
  explicit Kernel(std::shared_ptr<const Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<const Impl> impl;
};

/// A kernel with its arguments, as `Kernel::bind` makes it. Copies have arguments of their own; one object serves one
/// thread at a time where `set` is called, else any number.
class NEREID_API BoundKernel {
public:
  BoundKernel(const BoundKernel &);
  BoundKernel(BoundKernel &&) noexcept;
  BoundKernel &operator=(BoundKernel) noexcept;
  ~BoundKernel();

#ifdef __cpp_exceptions
  /// Runs every program of the grid, as `Kernel::launch` does. Throws Error.
  void launch(Grid grid) const { launchOn(nullptr, grid); }

  /// As `launch`, on a stream of the GPU.
  void launchOn(void *stream, Grid grid) const {
    if (std::string problem = start(grid, stream); !problem.empty())
      throw Error(problem);
  }

  /// Replaces an argument: `index` counts the kernel's parameters that are not constants. Throws Error.
  template <typename Arg> void set(size_t index, Arg argument) {
    if (std::string problem = replace(index, Kernel::Value(argument)); !problem.empty())
      throw Error(problem);
  }
#endif

  const Kernel &kernel() const;

private:
  friend class Kernel;
  BoundKernel(const Kernel &kernel, const Kernel::Value *values, size_t count, std::string &problem);
  /// The error texts; empty on success.
  std::string replace(size_t index, const Kernel::Value &value);
  std::string start(Grid grid, void *stream) const;

  struct Impl;
  std::unique_ptr<Impl> impl;
};

#ifdef __cpp_exceptions
template <typename... Args> BoundKernel Kernel::bind(Args... args) const {
  const Value values[] = {Value(args)..., Value()};
  std::string problem;
  BoundKernel bound(*this, values, sizeof...(Args), problem);
  return problem.empty() ? bound : throw Error(problem);
}
#endif

} // namespace nereid
