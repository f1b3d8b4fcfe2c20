// What the stub of NVIDIA's driver records, and how tests configure its answers.
// SPDX-License-Identifier: MIT
//
// It is built as a libcuda.so.1 that executes nothing. Tests read the calls and their arguments, byte by byte, as lines
// of JSON; it answers as a machine with H200s would, or fails where a setting says so. Settings are words of one text,
// given by the variable STUB_LIBCUDA before the library is loaded or by stub_configure() later:
//
//   devices=2             number of GPUs
//   version=12040         what cuDriverGetVersion answers
//   capability=8.0        of every GPU
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
/// Memory that cuPointerGetAttributes knows: `type` 1 is the host's, 2 a GPU's.
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
  int version = 13000;
  int major = 9, minor = 0;
  int registers = 32, localBytes = 0, maxThreads = 1024;
  uint64_t delayNanoseconds = 0;
  bool logs = true;
};
const Settings &settings();

/// Counts a call by name and writes `{"call": NAME, DETAILS}`; the result that it must answer.
Result enter(const char *call, const std::string &details = "");
/// As `enter`, for calls that fail after a failed kernel.
Result enterContext(const char *call, const std::string &details = "");
/// As `enterContext`, for calls that are also forbidden while another stream is captured.
Result enterUnsafe(const char *call, const std::string &details = "");
bool isCapturing();
/// What stub_add_memory has added, and what was allocated.
void forgetMemory();
/// The first launch of a kernel that `dies`.
void noteLaunch(const std::string &kernel);
bool isLogging();

std::string quoted(std::string_view text);
std::string hex(const void *bytes, size_t count);

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
