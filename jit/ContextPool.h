// A pool of MLIR contexts: each serves one compilation at a time and is reused, since creating one costs more than a
// small kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <mutex>
#include <vector>

namespace nereid::jit {

class ContextPool {
public:
  struct Entry {
    std::unique_ptr<mlir::MLIRContext> context;
    unsigned uses = 0;
  };

  /// A context for one compilation; it returns to the pool at the end of the lease. No module may outlive the lease.
  class Lease {
  public:
    explicit Lease(ContextPool &pool) : pool(pool), entry(pool.take()) {}
    ~Lease() {
      if (entry.context)
        pool.giveBack(std::move(entry));
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    mlir::MLIRContext &operator*() { return *entry.context; }
    /// Leaks the context: not even its destructor may run.
    void discard() { (void)entry.context.release(); }

  private:
    ContextPool &pool;
    Entry entry;
  };

  /// The pool of this process.
  static ContextPool &instance();

private:
  Entry take();
  void giveBack(Entry entry);

  std::mutex mutex;
  std::vector<Entry> idle;
};

} // namespace nereid::jit
