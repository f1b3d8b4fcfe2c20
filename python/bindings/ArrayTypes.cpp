// The element types of arrays: by name, by class and width, by DLPack's codes.
// SPDX-License-Identifier: MIT
#include "python/bindings/Arrays.h"

using namespace nereid;
using namespace nereid::python;
using jit::ScalarType;

static constexpr std::pair<std::string_view, ScalarType> otherSpellings[] = {
    {"bool", ScalarType::U1},
    {"int1", ScalarType::U1},
    {"bool_", ScalarType::U1},
    {"uint1", ScalarType::U1},
    {"int8", ScalarType::I8},
    {"int16", ScalarType::I16},
    {"int32", ScalarType::I32},
    {"int64", ScalarType::I64},
    {"uint8", ScalarType::U8},
    {"uint16", ScalarType::U16},
    {"uint32", ScalarType::U32},
    {"uint64", ScalarType::U64},
    {"int", ScalarType::I32},
    {"long", ScalarType::I64},
    {"short", ScalarType::I16},
    {"half", ScalarType::FP16},
    {"float16", ScalarType::FP16},
    {"bfloat16", ScalarType::BF16},
    {"float32", ScalarType::FP32},
    {"float", ScalarType::FP32},
    {"float64", ScalarType::FP64},
    {"double", ScalarType::FP64},
    {"float8_e5m2", ScalarType::FP8E5},
    {"float8e5", ScalarType::FP8E5},
    {"float8_e4m3fn", ScalarType::FP8E4NV},
    {"float8e4nv", ScalarType::FP8E4NV},
    {"float8_e4m3fnuz", ScalarType::FP8E4B8},
    {"float8e4b8", ScalarType::FP8E4B8},
    {"float8_e5m2fnuz", ScalarType::FP8E5B16},
    {"float8e5b16", ScalarType::FP8E5B16},
    {"float8e4b15", ScalarType::FP8E4B15},
};

std::optional<ScalarType> nereid::python::scalarTypeNamed(std::string_view spelling) {
  if (const size_t dot = spelling.rfind('.'); dot != std::string_view::npos)
    spelling.remove_prefix(dot + 1);
  while (!spelling.empty() && (spelling.back() == '>' || spelling.back() == '\''))
    spelling.remove_suffix(1);
  if (auto known = jit::parseScalarType(spelling))
    return known;
  for (const auto &[name, type] : otherSpellings)
    if (name == spelling)
      return type;
  return std::nullopt;
}

std::optional<ScalarType> nereid::python::integerType(bool isSigned, unsigned bits) {
  switch (bits) {
  case 8:
    return isSigned ? ScalarType::I8 : ScalarType::U8;
  case 16:
    return isSigned ? ScalarType::I16 : ScalarType::U16;
  case 32:
    return isSigned ? ScalarType::I32 : ScalarType::U32;
  case 64:
    return isSigned ? ScalarType::I64 : ScalarType::U64;
  default:
    return std::nullopt;
  }
}

std::optional<ScalarType> nereid::python::floatType(unsigned bits) {
  switch (bits) {
  case 16:
    return ScalarType::FP16;
  case 32:
    return ScalarType::FP32;
  case 64:
    return ScalarType::FP64;
  default:
    return std::nullopt;
  }
}

std::optional<ScalarType> nereid::python::scalarTypeOf(dlpack::DataType type) {
  if (type.lanes != 1)
    return std::nullopt;
  switch (type.code) {
  case dlpack::Int:
  case dlpack::UInt:
    return integerType(type.code == dlpack::Int, type.bits);
  case dlpack::Float:
    return floatType(type.bits);
  case dlpack::BFloat:
    return type.bits == 16 ? std::optional(ScalarType::BF16) : std::nullopt;
  case dlpack::Bool:
    return type.bits == 8 ? std::optional(ScalarType::U1) : std::nullopt;
  case dlpack::Float8E4M3Fn:
    return ScalarType::FP8E4NV;
  case dlpack::Float8E4M3FnUz:
    return ScalarType::FP8E4B8;
  case dlpack::Float8E5M2:
    return ScalarType::FP8E5;
  case dlpack::Float8E5M2FnUz:
    return ScalarType::FP8E5B16;
  default:
    return std::nullopt;
  }
}
