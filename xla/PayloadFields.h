// The fields of the payload's protocol buffer, listed once for the reader and the writer.
// SPDX-License-Identifier: MIT
//
// `describe(io, value)` calls `io.field(number, member)` for each member, in the order in which jaxlib writes them. The
// writer passes a const value, the reader one to fill. The writer omits numbers and texts that are zero or empty; it
// writes an optional member, and a message inside a message, wherever it is there. A number of 32 bits comes with a
// name for errors, and with a limit where that is not the largest int32.
//
// jax_triton's own numbers end at 13; those from 1000 on are Nereid's.
#pragma once

#include "xla/Payload.h"

#include <concepts>
#include <limits>
#include <utility>

namespace nereid::xla {

/// The encoding of a field.
enum class WireType : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

inline constexpr uint32_t kAnyNumber = std::numeric_limits<uint32_t>::max();

/// A scalar has the field of its type.
inline constexpr std::pair<uint32_t, artifact::ElementType> kScalars[] = {
    {2, artifact::ElementType::Int1},   {3, artifact::ElementType::Int32},  {4, artifact::ElementType::UInt32},
    {5, artifact::ElementType::Int64},  {6, artifact::ElementType::UInt64}, {7, artifact::ElementType::Float32},
    {8, artifact::ElementType::Float64}};

template <typename T, typename Plain>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Plain>;

/// A shape.
template <typename Io, MaybeConst<std::vector<uint64_t>> T> void describe(Io &io, T &extents) { io.field(1, extents); }

template <typename Io, MaybeConst<ArrayParameter> T> void describe(Io &io, T &array) {
  io.field(1, array.bytesToZero);
  io.field(2, array.divisibility);
  io.field(1000, array.shape);
  io.field(1001, array.buffer, "the number of a buffer");
}

template <typename Io, MaybeConst<Parameter> T> void describe(Io &io, T &parameter) {
  io.template alternative<ArrayParameter>(1, parameter);
  for (auto [number, type] : kScalars)
    io.scalar(number, type, parameter);
}

template <typename Io, MaybeConst<KernelCode> T> void describe(Io &io, T &kernel) {
  io.field(1, kernel.name);
  io.field(2, kernel.numWarps, "the number of warps");
  io.field(3, kernel.sharedBytes, "the size of shared memory");
  io.field(4, kernel.ptx);
  io.field(5, kernel.ttir);
  io.field(6, kernel.computeCapability, "the compute capability");
  io.field(7, kernel.cluster, "an extent of a cluster");
  io.field(10, kernel.numCtas, "the number of blocks in a cluster");
  io.field(12, kernel.scratch, &KernelCode::Scratch::bytes);
  io.field(13, kernel.scratch, &KernelCode::Scratch::align);
  io.field(1000, kernel.artifact);
}

template <typename Io, MaybeConst<KernelCall> T> void describe(Io &io, T &call) {
  io.field(1, call.kernel);
  io.field(2, call.grid, "an extent of the grid", kAnyNumber);
  io.field(5, call.parameters);
  io.field(1000, call.mayWriteOperands);
}

template <typename Io, MaybeConst<AutotunedCall::Config> T> void describe(Io &io, T &config) {
  io.field(1, config.call);
  io.field(2, config.description);
}

template <typename Io, MaybeConst<AutotunedCall::Alias> T> void describe(Io &io, T &alias) {
  io.field(1, alias.operand);
  io.field(2, alias.result);
  io.field(3, alias.bytes);
}

template <typename Io, MaybeConst<AutotunedCall> T> void describe(Io &io, T &call) {
  io.field(1, call.name);
  io.field(2, call.configs);
  io.field(3, call.aliases);
}

template <typename Io, MaybeConst<Payload> T> void describe(Io &io, T &payload) {
  io.template alternative<KernelCall>(1, payload.call);
  io.template alternative<AutotunedCall>(2, payload.call);
  io.field(3, payload.metadata);
  io.field(4, payload.name);
}

} // namespace nereid::xla
