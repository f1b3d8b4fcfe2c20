// Serves `operator new` from the reserve; LLVM's other allocations are kept from failing by the check for free space.
// SPDX-License-Identifier: MIT
#include "compiler/support/MemoryReserve.h"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

using namespace nereid;
using namespace nereid::support;

// What a compilation allocates between two checks; large kernels take some ten MiB in a pass.
static constexpr size_t kReserveBytes = size_t{64} << 20;
// LLVM's growing vectors call malloc, whose failure cannot be mended: less than this is a shortage for a check.
static constexpr size_t kFreeBytes = size_t{24} << 20;

static thread_local MemoryReserve *ofThread = nullptr;
static std::atomic<bool> isLost{false};
static std::new_handler otherHandler = nullptr;
static std::atomic<void (*)()> lastResort{nullptr};

/// Called where `operator new` has found no memory; returns for another attempt.
static void onFailedNew() {
  if (openMemoryReserve())
    return;
  if (ofThread) {
    if (void (*const leave)() = lastResort.load())
      leave();
    loseCompiler();
  }
  if (otherHandler)
    return otherHandler();
  std::__throw_bad_alloc();
}

static bool installHandler() {
  static std::once_flag installed;
  std::call_once(installed, [] { otherHandler = std::set_new_handler(onFailedNew); });
  return process::isAddressSpaceLimited();
}

MemoryReserve::MemoryReserve()
    : isLimited(installHandler()), space(isLimited && !ofThread ? kReserveBytes : 0), isOutermost(!ofThread) {
  if (!isOutermost)
    return;
  isOpen = isLimited && !space.isTaken();
  ofThread = this;
}

MemoryReserve::~MemoryReserve() {
  if (isOutermost)
    ofThread = nullptr;
}

bool MemoryReserve::open() {
  if (!isLimited || std::exchange(isOpen, true))
    return false;
  space.giveBack();
  return true;
}

bool support::openMemoryReserve() { return ofThread && ofThread->open(); }

bool support::isMemoryShort() {
  if (!ofThread || !ofThread->isLimited)
    return false;
  if (!ofThread->isOpen && !process::hasAddressSpace(kFreeBytes))
    ofThread->open();
  return ofThread->isOpen;
}

const char *support::reasonOfShortage() {
  return process::isAddressSpaceLimited()
             ? "the address space of this process is limited (`ulimit -v`), and nearly used up"
             : "the system gives this process no more; free some, or raise the limit of its container";
}

void support::setLastResort(void (*leave)()) { lastResort.store(leave); }

void support::loseCompiler() { isLost.store(true); }
bool support::isCompilerLost() { return isLost.load(); }
