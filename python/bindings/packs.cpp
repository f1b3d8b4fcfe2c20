// Packs of kernels: written from compiled kernels, opened, and made to serve this process.
// SPDX-License-Identifier: MIT
#include "jit/Packs.h"

#include "python/bindings/CompiledData.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <set>

using namespace nereid;
using namespace nereid::python;

/// Raises ValueError, or OSError for a file that cannot be read.
[[noreturn]] static void raiseError(const artifact::Error &error) {
  raise(error.code == "pack-unreadable" ? PyExc_OSError : PyExc_ValueError, error.text + " [" + error.code + "]");
}

static nb::object bytesOf(std::string_view bytes) {
  return checked(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

static std::string_view viewOf(const nb::bytes &bytes) { return {bytes.c_str(), bytes.size()}; }

/// `items` are pairs of a compiled kernel and its record.
static nb::object writePack(nb::list items, const std::string &producer, const std::string &lock, nb::bytes seed) {
  std::vector<artifact::PackItem> entries;
  for (nb::handle item : items) {
    const auto pair = nb::cast<nb::tuple>(item);
    const auto &data = *nb::cast<CompiledData *>(pair[0]);
    std::string key = data.keyInPacks();
    if (key.empty())
      raise(PyExc_ValueError, "kernel `" + data.artifact.name +
                                  "` cannot be in a pack: it was not compiled from a "
                                  "source in this process, or a stage was replaced");
    entries.push_back({std::move(key), std::string(utf8(pair[1])), data.artifact});
  }
  auto pack = [&] {
    const std::string_view seedView = viewOf(seed);
    GilRelease release;
    return artifact::writePack(entries, producer, lock, seedView);
  }();
  if (!pack)
    raiseError(pack.error());
  return bytesOf(*pack);
}

static nb::dict dictOf(const artifact::PackEntry &entry) {
  nb::dict dict;
  dict["key"] = textOf(entry.key);
  dict["name"] = textOf(entry.name);
  dict["signature"] = textOf(entry.signature);
  dict["target"] = textOf(entry.targetText());
  dict["abi"] = textOf(entry.abi == artifact::Abi::Own ? "own" : "plain");
  dict["record"] = textOf(entry.record);
  dict["bytes"] = entry.bytes;
  return dict;
}

static std::shared_ptr<artifact::Pack> openPack(const Path &path, const std::string &publicKey) {
  auto pack = artifact::Pack::open(path.bytes, publicKey);
  if (!pack)
    raiseError(pack.error());
  return std::const_pointer_cast<artifact::Pack>(*pack); // nanobind holds no pointers to const
}

static artifact::PackEntry entryAt(const artifact::Pack &pack, size_t index) {
  if (index >= pack.size())
    raise(PyExc_IndexError, "the pack has " + std::to_string(pack.size()) + " kernels");
  return pack.entry(index);
}

static nb::object artifactOf(const artifact::Pack &pack, size_t index) {
  const auto artifact = pack.load(entryAt(pack, index));
  if (!artifact)
    raiseError(artifact.error());
  return bytesOf(artifact::serialize(*artifact));
}

/// Different texts of entries, in order.
static nb::list distinct(const artifact::Pack &pack, std::string text(const artifact::PackEntry &)) {
  std::set<std::string> seen;
  nb::list list;
  for (size_t index = 0; index < pack.size(); ++index)
    if (const auto [found, isNew] = seen.insert(text(pack.entry(index))); isNew && !found->empty())
      list.append(textOf(*found));
  return list;
}

void nereid::python::bindPacks(nb::module_ &module) {
  using artifact::Pack;
  nb::class_<Pack>(module, "Pack", "An open file of kernels, mapped into memory.")
      .def_prop_ro("path", [](const Pack &pack) { return textOf(pack.path()); })
      .def_prop_ro("producer", [](const Pack &pack) { return textOf(pack.producer()); })
      .def_prop_ro("lock", [](const Pack &pack) { return textOf(pack.lock()); })
      .def_prop_ro("is_signed", &Pack::isSigned)
      .def("__len__", &Pack::size)
      .def(
          "entry", [](const Pack &pack, size_t index) { return dictOf(entryAt(pack, index)); }, nb::arg("index"))
      .def_prop_ro("records",
                   [](const Pack &pack) {
                     return distinct(pack, [](const artifact::PackEntry &entry) { return std::string(entry.record); });
                   })
      .def_prop_ro("targets",
                   [](const Pack &pack) {
                     return distinct(pack, [](const artifact::PackEntry &entry) { return entry.targetText(); });
                   })
      .def("artifact", &artifactOf, nb::arg("index"), "The bytes of an entry's artifact.")
      .def(
          "serve", [](std::shared_ptr<Pack> pack) { jit::Packs::process().serve(std::move(pack)); },
          "Compilations of this process look in it.")
      .def(
          "withdraw", [](const Pack &pack) { jit::Packs::process().withdraw(&pack); },
          "Compilations no longer look in it.");
  module.def("open_pack", &openPack, nb::arg("path"), nb::arg("public_key") = "",
             "Opens a pack; `public_key` (hex) must have signed it, unless it is empty.");
  module.def("write_pack", &writePack, nb::arg("items"), nb::arg("producer"), nb::arg("lock") = "",
             nb::arg("seed") = nb::bytes("", 0),
             "The bytes of a pack with these pairs of a compiled kernel and its record.");
  module.def(
      "pack_public_key",
      [](nb::bytes seed) {
        if (viewOf(seed).size() != artifact::kSeedBytes)
          raise(PyExc_ValueError, "a signing key has " + std::to_string(artifact::kSeedBytes) + " bytes, got " +
                                      std::to_string(viewOf(seed).size()));
        return artifact::publicKeyOf(viewOf(seed));
      },
      nb::arg("seed"), "The public key, in hex, of a signing key.");
}
