// Field numbers of the payload's protocol buffer.
// SPDX-License-Identifier: MIT
//
// jax_triton's own numbers end at 13; those from 1000 on are Nereid's.
#pragma once

#include "artifact/ElementType.h"

#include <cstdint>
#include <utility>

namespace nereid::xla::field {

/// The encoding of a field.
enum class WireType : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

namespace any {
enum : uint32_t { KernelCall = 1, AutotunedCall = 2, Metadata = 3, Name = 4 };
}
namespace call {
enum : uint32_t { Kernel = 1, GridX = 2, GridY = 3, GridZ = 4, Parameter = 5, MayWriteOperands = 1000 };
}
namespace parameter {
enum : uint32_t { Array = 1, Bool = 2, I32 = 3, U32 = 4, I64 = 5, U64 = 6, F32 = 7, F64 = 8 };
}
/// A scalar has the field of its type.
inline constexpr std::pair<uint32_t, artifact::ElementType> kScalars[] = {
    {parameter::Bool, artifact::ElementType::Int1},   {parameter::I32, artifact::ElementType::Int32},
    {parameter::U32, artifact::ElementType::UInt32},  {parameter::I64, artifact::ElementType::Int64},
    {parameter::U64, artifact::ElementType::UInt64},  {parameter::F32, artifact::ElementType::Float32},
    {parameter::F64, artifact::ElementType::Float64},
};
namespace array {
enum : uint32_t { BytesToZero = 1, Divisibility = 2, Shape = 1000, Buffer = 1001 };
}
namespace shape {
enum : uint32_t { Extent = 1 };
}
namespace kernel {
enum : uint32_t {
  Name = 1,
  NumWarps = 2,
  SharedBytes = 3,
  Ptx = 4,
  Ttir = 5,
  ComputeCapability = 6,
  ClusterX = 7,
  ClusterY = 8,
  ClusterZ = 9,
  NumCtas = 10,
  ScratchBytes = 12,
  ScratchAlign = 13,
  Artifact = 1000
};
}
namespace autotuned {
enum : uint32_t { Name = 1, Config = 2, Alias = 3 };
}
namespace config {
enum : uint32_t { Call = 1, Description = 2 };
}
namespace alias {
enum : uint32_t { Operand = 1, Result = 2, Bytes = 3 };
}

} // namespace nereid::xla::field
