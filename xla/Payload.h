// The payload of a custom call of a Triton kernel: code, grid and parameters, as jaxlib's handlers and these read it.
// SPDX-License-Identifier: MIT
//
// The bytes are a zlib stream of a protocol buffer, jax_triton's TritonAnyKernelCall (PayloadFields.h). Data that
// jaxlib has no field for is in fields that it ignores.
#pragma once

#include "artifact/ElementType.h"
#include "artifact/Expected.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::xla {

using artifact::Error;
using artifact::Expected;

/// A pointer to one of the buffers that XLA passes: operands in order, then results.
struct ArrayParameter {
  uint64_t bytesToZero = 0;  ///< at its start, zeroed before each launch
  uint64_t divisibility = 0; ///< of its address; 0: any
  // Fields that jaxlib lacks: the expected buffer, and its index where buffers are not in order.
  std::optional<std::vector<uint64_t>> shape;
  std::optional<uint32_t> buffer;

  bool operator==(const ArrayParameter &) const = default;
};

/// A bool, an integer or a float of 32 or 64 bits.
struct ScalarParameter {
  artifact::ElementType type = artifact::ElementType::Int32;
  uint64_t bits = 0; ///< the value as in memory, zero above its size

  bool operator==(const ScalarParameter &) const = default;
};

using Parameter = std::variant<ArrayParameter, ScalarParameter>;

struct KernelCode {
  std::string name;
  uint32_t numWarps = 0;
  uint32_t sharedBytes = 0;
  std::string ptx;
  std::string ttir;
  uint32_t computeCapability = 0;                 ///< e.g. 90
  std::optional<std::array<uint32_t, 3>> cluster; ///< jaxlib up to 0.8.1
  std::optional<uint32_t> numCtas;                ///< jaxlib from 0.8.2 on
  struct Scratch {
    uint64_t bytes = 0, align = 0;
    bool operator==(const Scratch &) const = default;
  };
  std::optional<Scratch> scratch; ///< jaxlib after 0.11.0
  std::string artifact;           ///< own field: a serialized artifact, which replaces everything but the name

  bool operator==(const KernelCode &) const = default;
};

struct KernelCall {
  KernelCode kernel;
  std::array<uint32_t, 3> grid{};
  std::vector<Parameter> parameters;
  bool mayWriteOperands = false; ///< though XLA assumes that operands do not change

  bool operator==(const KernelCall &) const = default;
};

struct AutotunedCall {
  struct Config {
    KernelCall call;
    std::string description;
    bool operator==(const Config &) const = default;
  };
  /// An operand that shares its memory with a result: tuning has to restore it.
  struct Alias {
    uint64_t operand = 0, result = 0, bytes = 0;
    bool operator==(const Alias &) const = default;
  };
  std::string name;
  std::vector<Config> configs;
  std::vector<Alias> aliases;

  bool operator==(const AutotunedCall &) const = default;
};

struct Payload {
  std::variant<KernelCall, AutotunedCall> call;
  std::string metadata; ///< for tools that read the graph; any bytes
  std::string name;

  bool operator==(const Payload &) const = default;
};

/// The protocol buffer; zero or empty fields are omitted where jaxlib omits them.
std::string writeMessage(const Payload &payload);
/// Parses arbitrary bytes safely. Codes: `payload-truncated`, `payload-wire`, `payload-value`, `payload-empty`.
Expected<Payload> readMessage(std::string_view bytes);

/// zlib with the default settings of Python's `zlib.compress`.
std::string compress(std::string_view bytes);
/// Code: `payload-compression`. Output is limited to `kMaxMessageBytes`.
Expected<std::string> decompress(std::string_view bytes);
inline constexpr size_t kMaxMessageBytes = size_t{256} << 20;

inline std::string writePayload(const Payload &payload) { return compress(writeMessage(payload)); }
Expected<Payload> readPayload(std::string_view bytes);

} // namespace nereid::xla
