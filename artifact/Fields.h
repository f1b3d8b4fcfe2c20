// The fields of an artifact, listed once for the serializer and the deserializer.
// SPDX-License-Identifier: MIT
//
// `describe(io, value)` calls `io.field(name, member)` for each member. The serializer passes a const value, the
// deserializer one to fill.
#pragma once

#include "artifact/Format.h"

#include <concepts>
#include <type_traits>

namespace nereid::artifact {

template <typename T, typename Plain>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Plain>;

template <typename Io, MaybeConst<Target> T> void describe(Io &io, T &target) {
  io.field("backend", target.backend);
  io.field("arch", target.arch);
  io.field("features", target.features);
  io.field("warpSize", target.warpSize);
}

template <typename Io, MaybeConst<Parameter> T> void describe(Io &io, T &parameter) {
  io.field("name", parameter.name);
  io.field("kind", parameter.kind);
  io.field("type", parameter.type);
  io.field("offset", parameter.offset);
  io.field("size", parameter.size);
  io.field("position", parameter.position);
  io.field("written", parameter.isWritten);
}

template <typename Io, MaybeConst<Precondition> T> void describe(Io &io, T &precondition) {
  io.field("kind", precondition.kind);
  io.field("parameter", precondition.parameter);
  io.field("value", precondition.value);
}

template <typename Io, MaybeConst<LaunchExpression> T> void describe(Io &io, T &expression) {
  io.field("code", expression.code);
}

template <typename Io, MaybeConst<TensorMapRecipe> T> void describe(Io &io, T &recipe) {
  io.field("base", recipe.base);
  io.field("extents", recipe.extents);
  io.field("strides", recipe.strides);
  io.field("box", recipe.box);
  io.field("elementType", recipe.elementType);
  io.field("elementBytes", recipe.elementBytes);
  io.field("swizzleBytes", recipe.swizzleBytes);
  io.field("padsWithNan", recipe.padsWithNan);
}

template <typename Io, MaybeConst<SourceMapEntry> T> void describe(Io &io, T &entry) {
  io.field("codeOffset", entry.codeOffset);
  io.field("file", entry.file);
  io.field("line", entry.line);
  io.field("column", entry.column);
}

template <typename Io, MaybeConst<SourceMap> T> void describe(Io &io, T &map) {
  io.field("files", map.files);
  io.field("entries", map.entries);
}

template <typename Io, MaybeConst<StoredStage> T> void describe(Io &io, T &stage) {
  io.field("name", stage.name);
  io.field("storedBytes", stage.storedBytes);
  io.field("rawBytes", stage.rawBytes);
  io.field("compressed", stage.compressed);
}

template <typename Io, MaybeConst<BlobTable> T> void describe(Io &io, T &blobs) {
  io.field("binaryBytes", blobs.binaryBytes);
  io.field("stages", blobs.stages);
}

template <typename Io, MaybeConst<Artifact> T> void describe(Io &io, T &artifact) {
  io.field("name", artifact.name);
  io.field("entry", artifact.entry);
  io.field("hash", artifact.hash);
  io.field("signature", artifact.signature);
  io.field("target", artifact.target);
  io.field("abi", artifact.abi);
  io.field("parameters", artifact.parameters);
  io.field("preconditions", artifact.preconditions);
  io.field("tensorMaps", artifact.tensorMaps);
  io.field("conditions", artifact.conditions);
  io.field("persistent", artifact.persistent);
  io.field("options", artifact.options);
  io.field("blockDims", artifact.blockDims);
  io.field("clusterDims", artifact.clusterDims);
  io.field("cooperative", artifact.cooperative);
  io.field("programmaticLaunch", artifact.programmaticLaunch);
  io.field("sharedBytes", artifact.sharedBytes);
  io.field("globalScratchBytes", artifact.globalScratchBytes);
  io.field("globalScratchAlign", artifact.globalScratchAlign);
  io.field("profileScratchBytes", artifact.profileScratchBytes);
  io.field("profileScratchAlign", artifact.profileScratchAlign);
  io.field("arenaBytes", artifact.arenaBytes);
  io.field("arenaAlign", artifact.arenaAlign);
  io.field("registers", artifact.registers);
  io.field("spills", artifact.spills);
  io.field("tool", artifact.tool);
  io.field("toolVersion", artifact.toolVersion);
  io.field("sourceMap", artifact.sourceMap);
}

} // namespace nereid::artifact
