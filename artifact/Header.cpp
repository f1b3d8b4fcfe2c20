// Converts the fields of an artifact to the JSON header of its file and back, with checks.
// SPDX-License-Identifier: MIT
#include "artifact/Fields.h"
#include "artifact/Format.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <limits>

namespace nereid::artifact {

using Json = nlohmann::json;

static constexpr std::string_view kAbiNames[] = {"plain", "own"};
static constexpr std::string_view kKindNames[] = {"pointer", "int", "float", "bool", "descriptor"};
static constexpr std::string_view kPreconditionNames[] = {"divisible", "equals", "within"};

static std::span<const std::string_view> namesOf(Abi) { return kAbiNames; }
static std::span<const std::string_view> namesOf(ParameterKind) { return kKindNames; }
static std::span<const std::string_view> namesOf(PreconditionKind) { return kPreconditionNames; }

namespace {

struct Writer {
  Json &object;

  template <typename T> void field(const char *name, const T &value) { object[name] = toJson(value); }

  template <typename T> static Json toJson(const T &value) {
    if constexpr (std::is_enum_v<T>) {
      return std::string(namesOf(value)[static_cast<size_t>(value)]);
    } else if constexpr (std::is_constructible_v<Json, T>) {
      return Json(value);
    } else {
      Json object = Json::object();
      Writer writer{object};
      describe(writer, value);
      return object;
    }
  }

  template <typename T> static Json toJson(const std::vector<T> &values) {
    Json array = Json::array();
    for (const T &value : values)
      array.push_back(toJson(value));
    return array;
  }
};

/// Fills fields; records the name of the first one that is missing or wrong.
struct Reader {
  const Json &object;
  std::string wrong;

  template <typename T> void field(const char *name, T &value) {
    if (!wrong.empty())
      return;
    const auto at = object.find(name);
    if (at == object.end() || !read(*at, value))
      wrong = name;
  }

  static bool read(const Json &json, std::string &value) {
    if (!json.is_string())
      return false;
    value = json.get_ref<const std::string &>();
    return true;
  }

  static bool read(const Json &json, bool &value) {
    if (!json.is_boolean())
      return false;
    value = json.get<bool>();
    return true;
  }

  template <std::unsigned_integral T> static bool read(const Json &json, T &value) {
    if (!json.is_number_unsigned())
      return false;
    const uint64_t number = json.get<uint64_t>();
    value = static_cast<T>(number);
    return number <= std::numeric_limits<T>::max();
  }

  static bool read(const Json &json, int64_t &value) {
    const bool isTooLarge = json.is_number_unsigned() && json.get<uint64_t>() > std::numeric_limits<int64_t>::max();
    if (!json.is_number_integer() || isTooLarge)
      return false;
    value = json.get<int64_t>();
    return true;
  }

  template <typename T>
    requires std::is_enum_v<T>
  static bool read(const Json &json, T &value) {
    const auto names = namesOf(value);
    for (size_t i = 0; i < names.size(); ++i) {
      if (json == names[i]) {
        value = static_cast<T>(i);
        return true;
      }
    }
    return false;
  }

  static bool read(const Json &json, Dim3 &value) {
    return json.is_array() && json.size() == value.size() && read(json[0], value[0]) && read(json[1], value[1]) &&
           read(json[2], value[2]);
  }

  static bool read(const Json &json, std::map<std::string, std::string> &value) {
    if (!json.is_object())
      return false;
    for (auto at = json.begin(); at != json.end(); ++at)
      if (!read(at.value(), value[at.key()]))
        return false;
    return true;
  }

  template <typename T> static bool read(const Json &json, std::vector<T> &values) {
    if (!json.is_array())
      return false;
    values.resize(json.size());
    for (size_t i = 0; i < values.size(); ++i)
      if (!read(json[i], values[i]))
        return false;
    return true;
  }

  template <typename T>
    requires std::is_class_v<T>
  static bool read(const Json &json, T &value) {
    if (!json.is_object())
      return false;
    Reader reader{json, {}};
    describe(reader, value);
    return reader.wrong.empty();
  }
};

} // namespace

std::string writeHeader(const Artifact &artifact, const BlobTable &blobs) {
  Json header = Writer::toJson(artifact);
  header["blobs"] = Writer::toJson(blobs);
  return header.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static Error headerError(const std::string &field, const char *rule) {
  return {"artifact-header", "field `" + field + "` of the artifact's header " + rule};
}

static Expected<void> checkLaunch(const Artifact &artifact) {
  const size_t parameters = artifact.parameters.size();
  for (const TensorMapRecipe &recipe : artifact.tensorMaps)
    if (!isWellFormed(recipe, parameters))
      return headerError("tensorMaps", "has a malformed recipe");
  for (const LaunchExpression &condition : artifact.conditions)
    if (!isWellFormed(condition.code, parameters))
      return headerError("conditions", "has a malformed expression");
  for (const uint32_t index : launchParameters(artifact))
    if (const ParameterKind kind = artifact.parameters[index].kind;
        kind == ParameterKind::Float || kind == ParameterKind::Descriptor)
      return headerError("parameters", "names no integer where a launch computes with one");
  if (artifact.abi == Abi::Plain && needsOwnLauncher(artifact))
    return headerError("abi", "is `plain`, but the kernel needs the launcher of `own`");
  return {};
}

/// Checks beyond types: indices are in range, alignments are powers of two that an allocator supports.
static Expected<void> checkRanges(const Artifact &artifact) {
  for (const Precondition &precondition : artifact.preconditions)
    if (precondition.parameter >= artifact.parameters.size())
      return headerError("preconditions", "names a parameter that does not exist");
  for (const SourceMapEntry &entry : artifact.sourceMap.entries)
    if (entry.file >= artifact.sourceMap.files.size())
      return headerError("sourceMap", "names a file that does not exist");
  constexpr uint32_t kMaxAlign = 4096;
  for (uint32_t align : {artifact.globalScratchAlign, artifact.profileScratchAlign, artifact.arenaAlign})
    if (!std::has_single_bit(align) || align > kMaxAlign)
      return headerError("align", "is no power of two up to 4096");
  return checkLaunch(artifact);
}

Expected<void> readHeader(std::string_view text, Artifact &artifact, BlobTable &blobs) {
  const Json header = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return Error{"artifact-header", "the artifact's header is no JSON object"};
  Reader reader{header, {}};
  describe(reader, artifact);
  reader.field("blobs", blobs);
  if (!reader.wrong.empty())
    return headerError(reader.wrong, "is missing or has the wrong type");
  return checkRanges(artifact);
}

} // namespace nereid::artifact
