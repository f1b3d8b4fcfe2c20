// Settings, log and failures of a stub.
// SPDX-License-Identifier: MIT
#include "test/stub/Stub.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace {
struct Failure {
  int result = 0;
  uint64_t fromCall = 1;
};

struct State {
  std::mutex mutex;
  stub::Settings settings;
  std::map<std::string, Failure> failures;
  std::map<std::string, uint64_t> counts;
  std::map<std::string, int> dying; ///< by kernel
  int dead = 0;                     ///< what a dead context answers
  std::string log, shown;
  std::FILE *file = nullptr;
  pid_t owner = getpid();
};
} // namespace

static void apply(State &state, const std::string &text) {
  state.settings = {};
  state.failures.clear();
  state.counts.clear();
  state.dying.clear();
  state.dead = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
    const size_t colon = value.find(':');
    const long long number = std::atoll(value.c_str());
    if (key == "fail") {
      const size_t at = value.find('@');
      state.failures[value.substr(0, colon)] = {std::atoi(value.c_str() + colon + 1),
                                                at == value.npos ? 1
                                                                 : std::strtoull(value.c_str() + at + 1, nullptr, 10)};
    } else if (key == "dies")
      state.dying[value.substr(0, colon)] = std::atoi(value.c_str() + colon + 1);
    else if (key == "capability")
      std::sscanf(value.c_str(), "%d.%d", &state.settings.major, &state.settings.minor);
    else if (key == "arch")
      state.settings.arch = value;
    else if (key == "devices")
      state.settings.devices = static_cast<int>(number);
    else if (key == "version")
      state.settings.version = static_cast<int>(number);
    else if (key == "registers")
      state.settings.registers = static_cast<int>(number);
    else if (key == "local")
      state.settings.localBytes = static_cast<int>(number);
    else if (key == "max_threads")
      state.settings.maxThreads = static_cast<int>(number);
    else if (key == "delay_ns")
      state.settings.delayNanoseconds = static_cast<uint64_t>(number);
    else if (key == "peers")
      state.settings.peers = static_cast<int>(number);
    else if (key == "log")
      state.settings.logs = number != 0;
    else {
      std::fprintf(stderr, "the stub that %s configures knows no setting `%s`\n", stub::kVariable, word.c_str());
      std::abort();
    }
  }
}

static State &state() {
  static State *const instance = [] {
    auto *fresh = new State;
    if (const char *text = std::getenv(stub::kVariable))
      apply(*fresh, text);
    if (const char *path = std::getenv((std::string(stub::kVariable) + "_LOG").c_str()))
      fresh->file = std::fopen(path, "a");
    return fresh;
  }();
  return *instance;
}

namespace stub {

const Settings &settings() { return state().settings; }
bool isLogging() { return state().settings.logs; }

static thread_local bool captureModeRelaxed = false;
static bool capturing = false;

Result enter(const char *call, const std::string &details) {
  State &now = state();
  if (!now.settings.logs && now.failures.empty())
    return 0;
  std::lock_guard<std::mutex> lock(now.mutex);
  const uint64_t count = ++now.counts[call];
  if (now.settings.logs) {
    const std::string line = "{\"call\": " + quoted(call) + (details.empty() ? "" : ", " + details) + "}\n";
    now.log += line;
    if (now.file) {
      std::fputs(line.c_str(), now.file);
      std::fflush(now.file);
    }
  }
  if (std::string_view(call) == "cuInit" && getpid() != now.owner)
    return 3;
  const auto failure = now.failures.find(call);
  if (failure != now.failures.end() && count >= failure->second.fromCall)
    return failure->second.result;
  return 0;
}

Result enterContext(const char *call, const std::string &details) {
  const Result result = enter(call, details);
  return result ? result : state().dead;
}

Result enterUnsafe(const char *call, const std::string &details) {
  const Result result = enterContext(call, details);
  return result ? result : capturing && !captureModeRelaxed ? 900 : 0;
}

bool isCapturing() { return capturing; }
bool setCaptureRelaxed(bool relaxed) { return std::exchange(captureModeRelaxed, relaxed); }

static std::atomic<uint64_t> launches{0};

void countLaunch() { launches.fetch_add(1, std::memory_order_relaxed); }

void delay() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(settings().delayNanoseconds);
  while (settings().delayNanoseconds && std::chrono::steady_clock::now() < until) {
  }
}

std::string field(const char *name, uint64_t value) {
  return std::string("\"") + name + "\": " + std::to_string(value);
}

std::string triple(const char *name, unsigned x, unsigned y, unsigned z) {
  return std::string("\"") + name + "\": [" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) +
         "]";
}

void noteLaunch(const std::string &kernel) {
  State &now = state();
  if (now.dying.empty())
    return;
  std::lock_guard<std::mutex> lock(now.mutex);
  if (const auto found = now.dying.find(kernel); found != now.dying.end())
    now.dead = found->second;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else
      out += c < ' ' ? ' ' : c;
  return out + "\"";
}

std::string hex(const void *bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t byte = static_cast<const uint8_t *>(bytes)[i];
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

} // namespace stub

//--- What tests call ---------------------------------------------------------------------------

void stub_configure(const char *settings) {
  stub::forgetMemory();
  std::lock_guard<std::mutex> lock(state().mutex);
  apply(state(), settings);
}

const char *stub_log() {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().shown = state().log;
  return state().shown.c_str();
}

void stub_clear() {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().log.clear();
  state().counts.clear();
}

uint64_t stub_launches() { return stub::launches.load(); }

void stub_set_capturing(int on) { stub::capturing = on != 0; }
