// Builds metadata, stages, folder view and kernel of a finished compilation.
// SPDX-License-Identifier: MIT
#include "python/bindings/CompiledData.h"

#include "artifact/TargetInfo.h"
#include "compiler/support/FatalGuard.h"
#include "jit/CompileLock.h"
#include "jit/DiskCache.h"
#include "jit/Packs.h"
#include "jit/StoreQueue.h"
#include "python/bindings/LaunchEstimate.h"
#include "python/bindings/PyDiagnostics.h"
#include "runtime/sim/SimDevice.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::python;

//--- Metadata ----------------------------------------------------------------------------------

static nb::object fromJson(const nlohmann::json &value) {
  switch (value.type()) {
  case nlohmann::json::value_t::boolean:
    return nb::borrow(value.get<bool>() ? Py_True : Py_False);
  case nlohmann::json::value_t::number_integer:
  case nlohmann::json::value_t::number_unsigned:
    return checked(PyLong_FromLongLong(value.get<int64_t>()));
  case nlohmann::json::value_t::number_float:
    return checked(PyFloat_FromDouble(value.get<double>()));
  case nlohmann::json::value_t::string:
    return textOf(value.get_ref<const std::string &>());
  case nlohmann::json::value_t::array: {
    nb::list elements;
    for (const nlohmann::json &element : value)
      elements.append(fromJson(element));
    return nb::tuple(elements);
  }
  case nlohmann::json::value_t::object: {
    nb::dict members;
    for (const auto &[name, member] : value.items())
      members[textOf(name)] = fromJson(member);
    return members;
  }
  default:
    return nb::none();
  }
}

/// Names of the pointer parameters that the kernel may write through.
static std::vector<std::string> writtenParameters(const artifact::Artifact &artifact) {
  std::vector<std::string> names;
  for (const artifact::Parameter &parameter : artifact.parameters)
    if (parameter.isWritten)
      names.push_back(parameter.name);
  return names;
}

/// The metadata of a kernel, by the names that other libraries read.
static nlohmann::ordered_json metadataOf(const artifact::Artifact &artifact) {
  nlohmann::ordered_json metadata;
  for (const auto &[name, text] : artifact.options)
    metadata[name] = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  // What a launcher starts: with the warps of partitions these are more than the option asks for.
  if (!artifact::targetInfo(artifact.target.backend).isHost)
    metadata["num_warps"] = artifact.blockDims[0] / artifact.target.warpSize;
  metadata["name"] = artifact.name;
  metadata["hash"] = artifact.hash;
  metadata["shared"] = artifact.sharedBytes;
  metadata["global_scratch_size"] = artifact.globalScratchBytes;
  metadata["global_scratch_align"] = artifact.globalScratchAlign;
  metadata["profile_scratch_size"] = artifact.profileScratchBytes;
  metadata["profile_scratch_align"] = artifact.profileScratchAlign;
  metadata["written"] = writtenParameters(artifact);
  metadata["tool"] = artifact.tool;
  metadata["tool_version"] = artifact.toolVersion;
  return metadata;
}

std::string CompiledData::keyInPacks() const { return packKey ? packKey->hex() : ""; }

nb::dict CompiledData::metadata() const {
  nb::dict dict;
  const nlohmann::ordered_json metadata = metadataOf(artifact);
  for (const auto &[name, value] : metadata.items())
    dict[textOf(name)] = fromJson(value);
  dict["cluster_dims"] = nb::make_tuple(artifact.clusterDims[0], artifact.clusterDims[1], artifact.clusterDims[2]);
  return dict;
}

nb::dict CompiledData::phaseTimes() const {
  nb::dict dict;
  for (const driver::PhaseTime &time : times)
    dict[textOf(time.phase)] = time.microseconds;
  return dict;
}

/// (registers per thread, 32-bit words spilled per thread, threads per CTA), as ptxas reported; None where the driver
/// compiles, or where ptxas reported nothing.
static nb::object resourcesOf(const CompiledData &data) {
  const artifact::Artifact &artifact = data.artifact;
  if (artifact.registers == 0 || artifact.tool == "driver")
    return nb::none();
  constexpr uint32_t wordBytes = 4;
  const uint32_t threads = artifact.blockDims[0] * artifact.blockDims[1] * artifact.blockDims[2];
  return nb::make_tuple(artifact.registers, (artifact.spills + wordBytes - 1) / wordBytes, threads);
}

//--- Stages ------------------------------------------------------------------------------------

nb::list CompiledData::stages() const {
  // Each stage is derived from the TTIR, or that of Gluon from the TTGIR, except its input, and except those of a
  // kernel that started from a later stage.
  const bool hasTtir = artifact.findStage("ttir"), hasAll = hasTtir || artifact.findStage("ttgir");
  nb::list names;
  const std::string &backend = artifact.target.backend;
  const bool hasMachineCode = !sim::isSimulated(artifact.target);
  for (const std::string &name : driver::stageNames(backend)) {
    const bool isBinary = driver::isBinaryStage(backend, name);
    const bool isDerived = hasAll && name != "source" && (hasTtir || name != "ttir");
    if (artifact.findStage(name) || (isBinary ? hasMachineCode : isDerived))
      names.append(textOf(name));
  }
  return names;
}

nb::object CompiledData::stage(const std::string &name, const std::map<std::string, std::string> &sources) const {
  support::DiagnosticEngine diagnostics;
  std::vector<std::shared_ptr<const support::SourceFile>> files;
  for (const auto &[file, text] : sources)
    files.push_back(std::make_shared<support::SourceFile>(file, text));
  std::optional<std::string> data;
  {
    GilRelease release;
    data = driver::stage(artifact, name, diagnostics, files);
  }
  if (diagnostics.hasErrors())
    raiseDiagnostics(diagnostics, nullptr);
  if (!data) {
    PyErr_SetObject(PyExc_KeyError, textOf(name).ptr());
    throw nb::python_error();
  }
  if (driver::isBinaryStage(artifact.target.backend, name))
    return checked(PyBytes_FromStringAndSize(data->data(), static_cast<Py_ssize_t>(data->size())));
  return textOf(*data);
}

std::string CompiledData::writeView(const std::string &root) const {
  nlohmann::ordered_json metadata = metadataOf(artifact);
  metadata["target"] = {
      {"backend", artifact.target.backend}, {"arch", artifact.target.arch}, {"warp_size", artifact.target.warpSize}};
  std::vector<artifact::Stage> stages = artifact.stages;
  const auto &info = artifact::targetInfo(artifact.target.backend);
  const bool isSimulated = sim::isSimulated(artifact.target);
  stages.push_back({std::string(isSimulated ? artifact::kSimulatedStage : info.binaryStage), artifact.binary});
  const std::string folder = jit::DiskCache::viewFolder(artifact.hash);
  std::vector<std::string> written, notes;
  {
    GilRelease release;
    written = jit::processCache().writeView(root, folder, artifact.name, stages, metadata.dump(2));
  }
  if (written.empty()) {
    notes = jit::processCache().takeNotes();
    raise(PyExc_OSError,
          notes.empty() ? "cannot write the files of kernel `" + artifact.name + "` under " + root : notes.back());
  }
  return root + "/" + folder;
}

std::shared_ptr<LoadedKernel> CompiledData::kernel(int32_t ordinal) {
  {
    std::lock_guard<std::mutex> lock(loading);
    if (const auto found = loaded.find(ordinal); found != loaded.end())
      return found->second;
  }
  // Loading releases the GIL, so it cannot hold the lock; the result of the first of two loads is kept.
  auto fresh = LoadedKernel::load(artifact, ordinal);
  std::lock_guard<std::mutex> lock(loading);
  return loaded.emplace(ordinal, std::move(fresh)).first->second;
}

//--- The cache ---------------------------------------------------------------------------------

void nereid::python::warnOfCache() {
  std::vector<std::string> notes = jit::processCache().takeNotes();
  for (std::string &note : jit::Packs::process().takeNotes())
    notes.push_back(std::move(note));
  for (const std::string &note : notes)
    if (PyErr_WarnEx(PyExc_RuntimeWarning, note.c_str(), 1) != 0)
      throw nb::python_error();
}

// A cancelled compilation ends after the current pass, before the process shuts LLVM down.
static constexpr auto kPatienceAtExit = std::chrono::seconds(10);

static void flushStores() {
  GilRelease release;
  jit::StoreQueue::instance().flush();
}

/// Also called at the end of the process.
static void flushCache() {
  {
    GilRelease release;
    jit::StoreQueue::instance().flush();
    support::waitForCancelled(kPatienceAtExit);
  }
  warnOfCache();
}

static nb::dict cacheInfo(const Path &folder) {
  const std::string &dir = folder.bytes;
  flushStores();
  const jit::CacheInfo info = jit::processCache().info(dir);
  nb::dict dict;
  dict["path"] = textOf(dir);
  dict["files"] = info.files;
  dict["bytes"] = info.bytes;
  dict["limit"] = jit::DiskCache::kDefaultLimitBytes;
  return dict;
}

void nereid::python::bindCache(nb::module_ &module) {
  module.def("cache_info", &cacheInfo, nb::arg("dir"), "What a cache folder holds.");
  module.def(
      "cache_clear",
      [](const Path &dir) {
        flushStores();
        return jit::processCache().clear(dir.bytes).files;
      },
      nb::arg("dir"), "Empties a cache folder; returns the number of files removed.");
  module.def("flush_cache", &flushCache,
             "Waits until every compiled kernel is on disk; warns where one could not be kept.");
  nb::object atexit = checked(PyImport_ImportModule("atexit"));
  checked(PyObject_CallMethod(atexit.ptr(), "register", "O", nb::object(module.attr("flush_cache")).ptr()));
}

//--- The Python class --------------------------------------------------------------------------

static nb::object serialized(const CompiledData &data) {
  const std::string bytes = artifact::serialize(data.artifact);
  return checked(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

static std::shared_ptr<CompiledData> loadArtifact(nb::bytes bytes) {
  auto artifact = artifact::deserialize({bytes.c_str(), bytes.size()});
  if (!artifact)
    raise(PyExc_ValueError, artifact.error().text + " [" + artifact.error().code + "]");
  auto shared = std::make_shared<const artifact::Artifact>(std::move(*artifact));
  return std::make_shared<CompiledData>(jit::Compiled{std::move(shared), {}, /*isFromCache=*/true});
}

void nereid::python::bindCompiledData(nb::module_ &module) {
  nb::class_<CompiledData>(module, "CompiledData", "A compiled kernel, not yet on a device.")
      .def_prop_ro("hash", [](const CompiledData &data) { return textOf(data.artifact.hash); })
      .def_prop_ro("name", [](const CompiledData &data) { return textOf(data.artifact.name); })
      .def_prop_ro(
          "abi",
          [](const CompiledData &data) { return textOf(data.artifact.abi == artifact::Abi::Own ? "own" : "plain"); },
          "Who can launch it: `plain`, any launcher; `own`, Nereid's alone.")
      .def_prop_ro("signature", [](const CompiledData &data) { return textOf(data.artifact.signature); })
      .def_prop_ro("metadata", &CompiledData::metadata)
      .def_prop_ro("resources", &resourcesOf)
      .def_prop_ro("times", &CompiledData::phaseTimes)
      .def_ro("cache_hit", &CompiledData::cacheHit)
      .def("release_lock", &CompiledData::releaseLock, "To be called when the caller's own cache has the kernel.")
      .def_prop_ro("pack_key", &CompiledData::keyInPacks, "What names it in a pack; empty where it cannot be in one.")
      .def_prop_ro("estimate", [](const CompiledData &data) { return dictOf(data.estimate); })
      .def_prop_ro("artifact", &serialized)
      .def("stages", &CompiledData::stages, "Names of the stages, in order.")
      .def("stage", &CompiledData::stage, nb::arg("name"), nb::arg("sources") = std::map<std::string, std::string>(),
           "Text or bytes of a stage; `sources` are the files that it may quote, by name.")
      .def("kernel", &CompiledData::kernel, nb::arg("device") = 0, "The kernel on a device; loaded at the first call.")
      .def("write_view", &CompiledData::writeView, nb::arg("root_dir"),
           "Writes the stages as files; returns their folder.");
  module.def("load_artifact", &loadArtifact, nb::arg("artifact"), "Reads what `CompiledData.artifact` gave.");
}
