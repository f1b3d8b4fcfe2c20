// Derives an artifact's run-time parameters of a kernel from a signature, or from an IR function alone.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Parameters.h"

#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/driver/Compiler.h"

using namespace nereid;
using namespace nereid::driver;

static artifact::ParameterKind kindOf(const sema::Type &type) {
  if (type.isPointer)
    return artifact::ParameterKind::Pointer;
  if (type.isBool())
    return artifact::ParameterKind::Bool;
  return type.isFloat() ? artifact::ParameterKind::Float : artifact::ParameterKind::Int;
}

static std::string signatureText(const sema::Type &type) {
  const std::string scalar = sema::signatureOf(type.scalar).str();
  return type.isPointer ? (type.isConst ? "*k" : "*") + scalar : scalar;
}

static artifact::Parameter parameterOf(const sema::Type &type, const std::string &name, uint32_t position) {
  artifact::Parameter parameter;
  parameter.name = name;
  parameter.kind = kindOf(type);
  parameter.type = signatureText(type);
  parameter.position = position;
  return parameter;
}

static std::vector<artifact::Parameter> parametersOf(const sema::Type &type, const std::string &name,
                                                     uint32_t position) {
  if (!type.isDescriptor)
    return {parameterOf(type, name, position)};
  using sema::Scalar;
  std::vector<artifact::Parameter> parameters{
      parameterOf(sema::Type::pointerTo(type.scalar, type.isConst), name, position)};
  auto addEach = [&](const char *what, Scalar scalar) {
    for (size_t dim = 0; dim < type.shape.size(); ++dim)
      parameters.push_back(parameterOf(sema::Type(scalar), name + what + std::to_string(dim), position));
  };
  addEach(".shape.", Scalar::Int64);
  addEach(".stride.", Scalar::Int64);
  parameters.push_back(parameterOf(sema::Type(Scalar::Int1), name + ".padding", position));
  parameters.push_back(parameterOf(sema::Type(Scalar::Int1), name + ".round_f32_to_tf32", position));
  addEach(".shape.", Scalar::Int32);
  addEach(".stride.", Scalar::Int64);
  return parameters;
}

std::vector<artifact::Parameter> driver::parametersOf(const sema::KernelArgument &arg, const std::string &name,
                                                      uint32_t position) {
  std::vector<artifact::Parameter> parameters;
  sema::forEachLeaf(arg, name, [&](const sema::KernelArgument &leaf, const std::string &path) {
    llvm::append_range(parameters, ::parametersOf(leaf.type, path, position));
  });
  return parameters;
}

std::vector<artifact::Parameter> driver::allParametersOf(const sema::KernelRequest &kernel) {
  std::vector<artifact::Parameter> parameters;
  for (auto [position, arg] : llvm::enumerate(kernel.args))
    llvm::append_range(parameters, driver::parametersOf(arg, kernel.kernel->definition->parameters[position].name.str(),
                                                        static_cast<uint32_t>(position)));
  return parameters;
}

static std::string nameOf(mlir::BlockArgument argument) {
  if (auto named = llvm::dyn_cast<mlir::NameLoc>(argument.getLoc()))
    return named.getName().str();
  return "arg" + std::to_string(argument.getArgNumber());
}

/// A parameter of this type, from IR alone: integers count as signed.
static artifact::Parameter parameterOf(mlir::Type type, const std::string &name, uint32_t position) {
  artifact::Parameter parameter;
  parameter.position = position;
  parameter.name = name;
  const auto pointer = llvm::dyn_cast<tt::PointerType>(type);
  if (pointer)
    type = pointer.getPointee();
  std::string text;
  llvm::raw_string_ostream(text) << type; // "f32", "bf16", "i32"
  if (text.front() == 'f')
    text = "fp" + text.substr(1);
  parameter.type = (pointer ? "*" : "") + (text == "i1" ? "u1" : text);
  parameter.kind = pointer                            ? artifact::ParameterKind::Pointer
                   : text == "i1"                     ? artifact::ParameterKind::Bool
                   : llvm::isa<mlir::FloatType>(type) ? artifact::ParameterKind::Float
                                                      : artifact::ParameterKind::Int;
  return parameter;
}

/// Whether the arguments after this descriptor are its shape as i32 and its strides as i64, as for a host descriptor.
static bool isHostDescriptor(tt::FuncOp kernel, unsigned index) {
  auto descriptor = llvm::cast<tt::TensorDescType>(kernel.getArgument(index).getType());
  const auto rank = static_cast<unsigned>(descriptor.getBlockType().getRank());
  if (index + 2 * rank >= kernel.getNumArguments())
    return false;
  auto isInteger = [&](unsigned from, unsigned width) {
    return llvm::all_of(llvm::seq(from, from + rank),
                        [&](unsigned at) { return kernel.getArgument(at).getType().isInteger(width); });
  };
  return isInteger(index + 1, 32) && isInteger(index + 1 + rank, 64);
}

/// The parts of a descriptor; for a host descriptor, also the shape and strides after it.
static std::vector<artifact::Parameter> descriptorParameters(tt::TensorDescType type, const std::string &name,
                                                             bool isHosts) {
  mlir::Builder builder(type.getContext());
  const mlir::Type element = type.getTileType().getElementType();
  std::vector<artifact::Parameter> parameters{parameterOf(tt::PointerType::get(element), name, 0)};
  auto addEach = [&](const char *what, unsigned width) {
    for (int64_t dim = 0; dim < type.getBlockType().getRank(); ++dim)
      parameters.push_back(parameterOf(builder.getIntegerType(width), name + what + std::to_string(dim), 0));
  };
  addEach(".shape.", 64);
  addEach(".stride.", 64);
  parameters.push_back(parameterOf(builder.getI1Type(), name + ".padding", 0));
  parameters.push_back(parameterOf(builder.getI1Type(), name + ".round_f32_to_tf32", 0));
  if (isHosts) {
    addEach(".shape.", 32);
    addEach(".stride.", 64);
  }
  return parameters;
}

bool driver::takesHostMaps(tt::FuncOp kernel) {
  return llvm::any_of(llvm::seq(kernel.getNumArguments()),
                      [&](unsigned index) { return ttg::parameterByValue(kernel, index).has_value(); });
}

std::vector<artifact::Parameter> driver::parametersOf(tt::FuncOp kernel) {
  std::vector<artifact::Parameter> parameters;
  uint32_t position = 0;
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
    mlir::BlockArgument argument = kernel.getArgument(index);
    const std::string name = nameOf(argument);
    auto descriptor = llvm::dyn_cast<tt::TensorDescType>(argument.getType());
    if (!descriptor) {
      parameters.push_back(parameterOf(argument.getType(), name, position++));
      if (ttg::parameterByValue(kernel, index)) {
        parameters.back().kind = artifact::ParameterKind::Descriptor;
        parameters.back().type = "tensormap";
      }
      continue;
    }
    const bool isHosts = isHostDescriptor(kernel, index);
    for (artifact::Parameter &part : descriptorParameters(descriptor, name, isHosts)) {
      part.position = isHosts ? position : position++;
      parameters.push_back(std::move(part));
    }
    if (isHosts) {
      ++position;
      index += 2 * static_cast<unsigned>(descriptor.getBlockType().getRank());
    }
  }
  return parameters;
}
