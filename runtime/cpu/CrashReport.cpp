// Signal handlers that write one line and pass the signal on.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CrashReport.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <unistd.h>

namespace nereid::runtime {

static std::optional<pthread_key_t> makeKey() {
  pthread_key_t key = 0;
  return pthread_key_create(&key, nullptr) == 0 ? std::optional(key) : std::nullopt;
}
const std::optional<pthread_key_t> RunningKernel::key = makeKey();

void RunningKernel::set(const char *lastingName) {
  if (key)
    pthread_setspecific(*key, lastingName);
}

const char *lastingName(const std::string &name) {
  static std::mutex mutex;
  static auto *names = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

// The latest first; several threads may mix up the order.
static std::array<std::atomic<const char *>, 4> latest{};

void noteLaunch(const char *name) {
  if (latest[0].load(std::memory_order_relaxed) == name)
    return;
  for (auto &entry : latest) {
    const char *before = entry.exchange(name, std::memory_order_relaxed);
    if (!before || before == name)
      return;
    name = before;
  }
}

//--- The text ----------------------------------------------------------------------------------

namespace {
/// A line that is built and written without any call that a signal handler may not make.
class Line {
public:
  Line &operator<<(std::string_view text) {
    const size_t count = text.size() < sizeof bytes - used ? text.size() : sizeof bytes - used;
    std::memcpy(bytes + used, text.data(), count);
    used += count;
    return *this;
  }
  Line &operator<<(uintptr_t address) {
    char digits[16];
    size_t count = 0;
    do
      digits[count++] = "0123456789abcdef"[address % 16];
    while (address /= 16);
    *this << "0x";
    while (count)
      *this << std::string_view(&digits[--count], 1);
    return *this;
  }
  void write() {
    if (::write(STDERR_FILENO, bytes, used) < 0)
      return;
  }

private:
  char bytes[1024];
  size_t used = 0;
};
} // namespace

static std::string_view nameOf(int signal) {
  return signal == SIGSEGV ? "SIGSEGV" : signal == SIGBUS ? "SIGBUS" : signal == SIGFPE ? "SIGFPE" : "SIGILL";
}

static void reportKernel(const char *kernel, int signal, const siginfo_t *info) {
  Line line;
  line << "nereid: kernel `" << kernel << "` crashed on the CPU (" << nameOf(signal);
  // Neither where another handler raises it again nor where the processor tells no address: one of no process.
  const bool hasAddress = info->si_code > 0 && info->si_code != SI_KERNEL;
  if (hasAddress && (signal == SIGSEGV || signal == SIGBUS))
    line << " at address " << reinterpret_cast<uintptr_t>(info->si_addr);
  line << "); set TRITON_SANITIZE=bounds to find the access outside of an array\n";
  line.write();
}

/// The text with which glibc ends the process, or null.
static const char *abortMessage() {
  struct Message {
    unsigned size;
    char text[1];
  };
  static auto *const holder = static_cast<Message **>(dlsym(RTLD_DEFAULT, "__abort_msg"));
  return holder && *holder ? (*holder)->text : nullptr;
}

/// Whether it is one of those about a damaged heap.
static bool isAboutMemory(const char *text) {
  for (const char *word : {"malloc", "free()", "realloc", "corrupted", "double free", "chunk", "invalid pointer"})
    if (std::strstr(text, word))
      return true;
  return false;
}

static void reportLatest() {
  const char *const text = abortMessage();
  if (!text || !isAboutMemory(text) || !latest[0].load(std::memory_order_relaxed))
    return;
  Line line;
  line << "nereid: the heap is damaged; the latest kernels on the CPU were";
  std::string_view separator = " `";
  for (const auto &entry : latest)
    if (const char *const name = entry.load(std::memory_order_relaxed)) {
      line << separator << name << "`";
      separator = ", `";
    }
  line << "; TRITON_SANITIZE=bounds tells whether one of them wrote outside of an array\n";
  line.write();
}

//--- The handlers ------------------------------------------------------------------------------

static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[NSIG];

/// To the handler that the process had. Without one, the signal has its default effect: an instruction that faulted
/// does so again after the return.
static void passOn(int signal, siginfo_t *info, void *context) {
  const struct sigaction &other = before[signal];
  if (other.sa_flags & SA_SIGINFO)
    return other.sa_sigaction(signal, info, context);
  if (other.sa_handler != SIG_DFL && other.sa_handler != SIG_IGN)
    return other.sa_handler(signal);
  if (other.sa_handler == SIG_IGN && info->si_code <= 0) // sent by a process
    return;
  sigaction(signal, &other, nullptr);
  if (info->si_code <= 0)
    raise(signal);
}

static void onSignal(int signal, siginfo_t *info, void *context) {
  const int error = errno;
  if (signal == SIGABRT)
    reportLatest();
  else if (const char *const kernel = RunningKernel::current(); kernel)
    reportKernel(kernel, signal, info);
  errno = error;
  passOn(signal, info, context);
}

static bool install() {
  abortMessage(); // looks the symbol up now
  for (const int signal : kSignals) {
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(signal, nullptr, &before[signal]);
    if (before[signal].sa_flags & SA_NODEFER)
      action.sa_flags |= SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
  return true;
}

void watchCrashes() { [[maybe_unused]] static const bool installed = install(); }

} // namespace nereid::runtime
