// What the stubs of the GPUs' drivers record, and how tests configure their answers.
// SPDX-License-Identifier: MIT
//
// They are built as a libcuda.so.1 and a libamdhip64.so that execute nothing. Tests read the calls and their arguments,
// byte by byte, as lines of JSON; they answer as a machine with H200s or MI300Xs would, or fail where a setting says
// so. Settings are words of one text, given by the variable STUB_LIBCUDA or STUB_LIBAMDHIP64 before the library is
// loaded or by stub_configure() later:
//
//   devices=2             number of GPUs
//   version=12040         what cuDriverGetVersion or hipDriverGetVersion answers
//   capability=8.0        of every NVIDIA GPU
//   arch=gfx90a           of every AMD GPU; what follows a colon is kept
//   peers=1               every NVIDIA GPU has access to the memory of the others; 2: it could have, access is off
//   fail=CALL:700         CALL answers 700, as in fail=cuInit:100
//   fail=CALL:700@3       the same from its third call on
//   dies=NAME:700         launches of kernel NAME work, and every call after the first of them answers 700
//   registers=40 local=64 max_threads=512     of every kernel
//   delay_ns=2300         time that a launch takes
//   log=0                 nothing is recorded
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#define STUB_API extern "C" __attribute__((visibility("default")))

STUB_API void stub_configure(const char *settings); ///< back to the defaults, then these
STUB_API const char *stub_log();                    ///< all lines since stub_clear(); valid until the next call
STUB_API void stub_clear();
STUB_API uint64_t stub_launches(); ///< since the library was loaded
/// Memory that queries of pointers know: `type` 1 is the host's, 2 a GPU's.
STUB_API void stub_add_memory(uint64_t start, uint64_t bytes, int type, int ordinal);
/// A stream is being captured into a graph: forbidden calls fail unless the thread's mode is relaxed.
STUB_API void stub_set_capturing(int on);
/// A table for `__dlpack_c_exchange_api__` of objects with the attributes `address` and `properties`, which is the
/// device's number, DLPack's code of the type and its bits: 0x00000220 for float32 on GPU 0.
STUB_API void *stub_exchange_table();
STUB_API void stub_set_current_stream(uint64_t stream); ///< what that table answers
/// XXH3-128 in its canonical form.
STUB_API void stub_checksum(const char *bytes, uint64_t count, unsigned char *sixteen);

namespace stub {

using Result = int;

struct Settings {
  int devices = 1;
  int version = 0; ///< 0: the stub's own
  int major = 9, minor = 0;
  std::string arch = "gfx942:sramecc+:xnack-";
  int registers = 32, localBytes = 0, maxThreads = 1024;
  uint64_t delayNanoseconds = 0;
  bool logs = true;
  int peers = 0;
};
const Settings &settings();

/// Counts a call by name and writes `{"call": NAME, DETAILS}`; the result that it must answer.
Result enter(const char *call, const std::string &details = "");
/// As `enter`, for calls that fail after a failed kernel.
Result enterContext(const char *call, const std::string &details = "");
/// As `enterContext`, for calls that are also forbidden while another stream is captured.
Result enterUnsafe(const char *call, const std::string &details = "");
bool isCapturing();
/// Sets whether the thread's calls are allowed during a capture; returns the former setting.
bool setCaptureRelaxed(bool relaxed);
/// The first launch of a kernel that `dies`.
void noteLaunch(const std::string &kernel);
bool isLogging();

/// The prefix of the variables that configure this library: "STUB_LIBCUDA".
extern const char *const kVariable;
/// DLPack's number of this library's kind of device: 2 is CUDA, 10 ROCm.
extern const int32_t kDlpackDevice;

std::string field(const char *name, uint64_t value);
std::string triple(const char *name, unsigned x, unsigned y, unsigned z);
void countLaunch();
/// Keeps the caller busy for the time that a launch takes.
void delay();
std::string quoted(std::string_view text);
std::string hex(const void *bytes, size_t count);

//--- Memory ------------------------------------------------------------------------------------

struct Memory {
  uint64_t start = 0, bytes = 0;
  int type = 0, ordinal = 0; ///< type 0: unknown
};
Memory memoryAt(uint64_t address);
/// The address that the next allocation gets.
uint64_t nextAddress();
uint64_t allocate(uint64_t bytes, int ordinal);
void release(uint64_t start);
/// What stub_add_memory has added, and what was allocated.
void forgetMemory();

//--- What a module's bytes say of its kernels --------------------------------------------------

struct KernelParameter {
  uint32_t offset;
  uint32_t size;
};
struct KernelImage {
  std::string name;
  std::vector<KernelParameter> parameters;
};
/// Read from machine code's own tables, or from PTX text.
std::vector<KernelImage> kernelsOf(const void *image);

} // namespace stub
