// A compilation from its inputs to a loaded kernel: key, cache, compiler and device, the same for every caller.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/driver/Compiler.h"
#include "jit/Packing.h"
#include "runtime/Device.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::jit {

class CompileLock;
class PackKey;

/// A module as the input of a compilation.
struct IrText {
  std::string kind; ///< "ttir" or "ttgir"
  std::string text;
  std::string path; ///< for messages
};

/// What to compile, a kernel of a source or a module's text, with everything that the result depends on.
struct Job {
  sema::KernelRequest kernel;             ///< of a module: its options and target alone
  sema::HostEnv *host = nullptr;          ///< of a source
  std::optional<IrText> ir;               ///< the module
  std::string sourceKey;                  ///< changes with the source, its place, and what the host reads for it
  std::string portableSourceKey;          ///< the same, wherever the source is; empty: packs have no such kernel
  std::shared_ptr<const PackKey> packKey; ///< null until it is asked for
  std::string toolsKey;                   ///< identifies `request.tools`, since others may produce other code
  /// The session adds the key, and for a failure the module's sources and how it can be printed.
  driver::Request request;
  /// The sources, which the host of some sources knows only after it was read; null where the request has them.
  std::function<std::vector<std::shared_ptr<const support::SourceFile>>()> readSources;
};

/// Why the job's module is no input for its target, or with its options; empty where it is one.
std::string irProblem(const Job &job);

/// A result; from the cache it has no times.
struct Compiled {
  std::shared_ptr<const artifact::Artifact> artifact;
  std::vector<driver::PhaseTime> times;
  bool isFromCache = false;                       ///< or from a pack
  std::optional<explain::Estimate> estimate = {}; ///< where the request has a launch; none from the cache
  std::shared_ptr<CompileLock> lock = {};         ///< until the caller has stored the result
  std::shared_ptr<const PackKey> packKey = {};    ///< set by callers that write packs
};

/// Runs work without a lock of the host (Python's) that this thread holds, and with it inside of such work.
struct HostLock {
  void (*without)(llvm::function_ref<void()> work);
  void (*with)(llvm::function_ref<void()> work);
};

/// Compiles jobs, or finds what was compiled before. Any number of threads may use one.
struct Session {
  std::string cacheDir = {}; ///< empty: no cache
  /// The folder of compile locks where the caller stores results itself: it then holds the lock of what was built.
  std::string lockDir = {};
  std::function<std::optional<Compiled>(Job &)> findStored = {}; ///< what the caller has stored; may be empty
  bool readsCache = true;                                        ///< false: the cache is only written
  bool storesLater = false;                                      ///< storing does not wait for the disk
  const HostLock *lock = nullptr;                                ///< null: hosts have no lock of their own

  /// The hash that names the job's result.
  static const std::string &keyOf(Job &job);
  std::optional<Compiled> find(Job &job) const;
  /// Compiles, and stores the result; where another thread or process compiles the same for the same folder, waits for
  /// its result. Nothing after an error, which `diagnostics` then holds, or an interrupt.
  std::optional<Compiled> build(Job &job, support::DiagnosticEngine &diagnostics) const;
  /// `find`, else `build`.
  std::optional<Compiled> compile(Job &job, support::DiagnosticEngine &diagnostics) const;

private:
  void withoutLock(llvm::function_ref<void()> work) const;
  /// Sets the result of another process, or the lock with which the caller compiles, or neither. False after an
  /// interrupt.
  bool waitForOther(Job &job, std::unique_ptr<CompileLock> &compileLock, std::optional<Compiled> &other) const;
};

/// A kernel on its device, and how its arguments are packed.
struct LoadedKernel {
  runtime::Device *device = nullptr;
  std::shared_ptr<runtime::Kernel> kernel;
  std::vector<PackedParam> params; ///< one per run-time parameter
};

artifact::Expected<LoadedKernel> load(const artifact::Artifact &artifact, int ordinal);

} // namespace nereid::jit
