// The table of counters: totals, occupancy, the estimate of time, and a row per line of the source.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/CounterTable.h"

#include "runtime/sim/machine/Module.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <tuple>

using namespace nereid;
using namespace nereid::sim;

static void print(std::string &text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(std::string &text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int count = std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  text.append(line, size_t(std::clamp(count, 0, int(sizeof(line)) - 1)));
}

//--- numbers -------------------------------------------------------------------------------

/// Three digits with a unit: "1.25 M".
static std::string scaled(double value, double step, const char *const (&units)[5]) {
  unsigned unit = 0;
  for (; value >= step && unit < 4; ++unit)
    value /= step;
  char text[48];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f%s" : value < 10 ? "%.2f%s" : "%.1f%s", value, units[unit]);
  return text;
}
static std::string countText(double value) { return scaled(value, 1000, {"", "k", "M", "G", "T"}); }
static std::string bytesText(double value) { return scaled(value, 1024, {" B", " KiB", " MiB", " GiB", " TiB"}); }
static std::string timeText(double seconds) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.2f us", seconds * 1e6);
  return text;
}

//--- lines ---------------------------------------------------------------------------------

std::vector<CountedLine> nereid::sim::countedLines(const LaunchProfile &profile) {
  std::map<std::pair<std::string, uint32_t>, CountedLine> lines;
  for (const CountedInstruction &counted : profile.counters.instructions) {
    const SourcePosition position = profile.module->state.text.table.positionOf(counted.line);
    const std::pair key(position.file, position ? position.line : counted.line);
    CountedLine &line = lines[key];
    std::tie(line.file, line.line) = key;
    line.add(counted);
    line.tensorFlops += double(counted.profile.tensorFlops) * double(counted.warps);
  }
  std::vector<CountedLine> result;
  for (auto &[key, line] : lines)
    if (line.warps)
      result.push_back(std::move(line));
  return result;
}

static std::string textOf(const LaunchProfile &profile, const CountedLine &line) {
  const std::vector<std::string> &ptx = profile.module->state.text.lines;
  const std::string text = !line.file.empty()                     ? sourceLine(line.file, line.line)
                           : line.line && line.line <= ptx.size() ? ptx[line.line - 1]
                                                                  : "";
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

static void printLines(std::string &text, const LaunchProfile &profile) {
  print(text, "\n%12s %6s %10s %10s %10s %9s %9s\n", "instructions", "lanes", "global", "sectors/rq", "shared",
        "conflicts", "tensor");
  std::string file = " ";
  for (const CountedLine &line : countedLines(profile)) {
    if (line.file != file)
      print(text, "%s:\n", line.file.empty() ? "PTX" : line.file.c_str());
    file = line.file;
    const std::string global =
        line.globalBytes + line.bulkBytes ? bytesText(double(line.globalBytes + line.bulkBytes)) : "";
    const std::string requests =
        line.globalRequests ? std::to_string(double(line.globalSectors) / double(line.globalRequests)).substr(0, 4)
                            : "";
    print(text, "%12s %6.1f %10s %10s %10s %9s %9s  %5u  %s\n", countText(double(line.warps)).c_str(),
          double(line.lanes) / double(line.warps), global.c_str(), requests.c_str(),
          line.sharedBytes ? bytesText(double(line.sharedBytes)).c_str() : "",
          line.sharedRequests ? countText(double(line.sharedConflicts)).c_str() : "",
          line.tensorFlops != 0 ? countText(line.tensorFlops).c_str() : "", line.line, textOf(profile, line).c_str());
  }
}

//--- totals --------------------------------------------------------------------------------

static void printGlobal(std::string &text, const Counters &counters) {
  static constexpr const char *names[] = {"loads", "stores", "atomics", "async copies"};
  for (size_t index = 0; index < kNumDirections; ++index) {
    const InstructionCounts &counts = counters.global[index];
    if (!counts.globalRequests)
      continue;
    print(text, "global %-13s %s requests, %s, %.2f sectors a request (", names[index],
          countText(double(counts.globalRequests)).c_str(), bytesText(double(counts.globalBytes)).c_str(),
          double(counts.globalSectors) / double(counts.globalRequests));
    const char *separator = "";
    for (size_t width = kNumWidths; width-- > 0;)
      if (const uint64_t requests = counters.globalWidths[index][width]) {
        print(text, "%s%.0f %% of %u bytes", separator, 100.0 * double(requests) / double(counts.globalRequests),
              1u << width);
        separator = ", ";
      }
    text += ")\n";
  }
  if (counters.bulkLoadBytes + counters.bulkStoreBytes)
    print(text, "bulk copies          %s loaded, %s stored\n", bytesText(double(counters.bulkLoadBytes)).c_str(),
          bytesText(double(counters.bulkStoreBytes)).c_str());
  print(text, "DRAM                 %s read, %s written; L2: %s read\n",
        bytesText(double(counters.readSectors) * 32).c_str(), bytesText(double(counters.writtenSectors) * 32).c_str(),
        bytesText(double(counters.l2ReadSectors) * 32).c_str());
}

static void printShared(std::string &text, const Counters &counters) {
  static constexpr const char *names[] = {"loads", "stores", "atomics", "async copies"};
  for (size_t index = 0; index < kNumDirections; ++index) {
    const InstructionCounts &counts = counters.shared[index];
    if (counts.sharedRequests)
      print(text, "shared %-13s %s requests, %s wavefronts, %s bank conflicts\n", names[index],
            countText(double(counts.sharedRequests)).c_str(), countText(double(counts.sharedWavefronts)).c_str(),
            countText(double(counts.sharedConflicts)).c_str());
  }
}

static void printInstructions(std::string &text, const Counters &counters) {
  print(text, "instructions         %s of warps, %.1f lanes on average:",
        countText(double(counters.warpInstructions)).c_str(), counters.meanActiveLanes());
  std::vector<std::pair<uint64_t, size_t>> kinds;
  for (size_t kind = 1; kind < kNumKinds; ++kind)
    if (counters.warpsOf[kind])
      kinds.emplace_back(counters.warpsOf[kind], kind);
  std::sort(kinds.rbegin(), kinds.rend());
  for (const auto &[count, kind] : kinds)
    print(text, " %s %s", nameOf(Kind(kind)), countText(double(count)).c_str());
  text += "\n";
  for (size_t type = 1; type < kNumTensorTypes; ++type)
    if (counters.tensorFlops[type])
      print(text, "tensor cores         %s flops of %s\n", countText(double(counters.tensorFlops[type])).c_str(),
            nameOf(TensorType(type)));
}

static void printEstimate(std::string &text, const LaunchProfile &profile, const artifact::NvidiaGpu &gpu) {
  const Occupancy occupancy = occupancyOf(profile, gpu);
  print(text,
        "occupancy            %u CTAs, %u of %u warps on an SM of %.*s by %s: %u registers (%s), %s of shared memory; "
        "%.2f waves\n",
        occupancy.ctas, occupancy.warps, archOf(gpu).residentThreads / 32, int(gpu.name.size()), gpu.name.data(),
        occupancy.limit, profile.registers,
        profile.registerSource == RegisterSource::Assembler ? "ptxas" : "live in the PTX",
        bytesText(profile.sharedBytes).c_str(), occupancy.waves);
  const Estimate estimate = estimateOf(profile, gpu);
  print(text, "estimate on %-8.*s %s, bound by %s:", int(gpu.name.size()), gpu.name.data(),
        timeText(estimate.seconds).c_str(), estimate.resources[0].name);
  for (size_t index = 0; index < 4; ++index)
    print(text, " %s %s%s", estimate.resources[index].name, timeText(estimate.resources[index].seconds).c_str(),
          index < 3 ? "," : "\n");
}

std::string nereid::sim::tableOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu) {
  std::string text;
  print(text, "%s, grid %u x %u x %u, %u threads\n", profile.kernel.c_str(), profile.grid.x, profile.grid.y,
        profile.grid.z, uint32_t(profile.block.count()));
  printInstructions(text, profile.counters);
  printGlobal(text, profile.counters);
  printShared(text, profile.counters);
  printEstimate(text, profile, gpu);
  printLines(text, profile);
  return text;
}

//--- JSON ----------------------------------------------------------------------------------

static std::string quoted(const std::string &value) {
  std::string text = "\"";
  for (const char c : value)
    if (c == '"' || c == '\\')
      text += '\\', text += c;
    else if (uint8_t(c) < 32)
      print(text, "\\u%04x", unsigned(uint8_t(c)));
    else
      text += c;
  return text + "\"";
}

static void jsonLine(std::string &text, const CountedLine &line) {
  text += "{\"file\": " + (line.file.empty() ? "null" : quoted(line.file));
  const std::pair<const char *, double> fields[] = {{"line", double(line.line)},
                                                    {"warp_instructions", double(line.warps)},
                                                    {"thread_instructions", double(line.lanes)},
                                                    {"global_requests", double(line.globalRequests)},
                                                    {"global_bytes", double(line.globalBytes)},
                                                    {"global_sectors", double(line.globalSectors)},
                                                    {"bulk_bytes", double(line.bulkBytes)},
                                                    {"shared_wavefronts", double(line.sharedWavefronts)},
                                                    {"bank_conflicts", double(line.sharedConflicts)},
                                                    {"tensor_flops", line.tensorFlops}};
  for (const auto &[name, value] : fields)
    print(text, ", \"%s\": %.0f", name, value);
  text += "}";
}

std::string nereid::sim::jsonOf(const LaunchProfile &profile, const artifact::NvidiaGpu &gpu) {
  const Occupancy occupancy = occupancyOf(profile, gpu);
  const Estimate estimate = estimateOf(profile, gpu);
  std::string text = "{\"kernel\": " + quoted(profile.kernel);
  print(text, ",\n \"grid\": [%u, %u, %u], \"threads\": %u,\n \"counters\": {", profile.grid.x, profile.grid.y,
        profile.grid.z, uint32_t(profile.block.count()));
  const char *separator = "";
  for (const Figure &figure : figuresOf(profile.counters)) {
    print(text, "%s\n  \"%s\": %.12g", separator, figure.name.c_str(), figure.value);
    separator = ",";
  }
  print(text,
        "},\n \"occupancy\": {\"gpu\": \"%.*s\", \"ctas\": %u, \"warps\": %u, \"limit\": \"%s\", \"registers\": %u, "
        "\"registers_are_estimated\": %s, \"shared_bytes\": %u, \"waves\": %.4g},\n",
        int(gpu.name.size()), gpu.name.data(), occupancy.ctas, occupancy.warps, occupancy.limit, profile.registers,
        profile.registerSource == RegisterSource::Liveness ? "true" : "false", profile.sharedBytes, occupancy.waves);
  print(text, " \"estimate\": {\"seconds\": %.6g, \"is_in_l2\": %s, \"resources\": {", estimate.seconds,
        estimate.isInL2 ? "true" : "false");
  separator = "";
  for (const Resource &resource : estimate.resources) {
    print(text, "%s\"%s\": %.6g", separator, resource.name, resource.seconds);
    separator = ", ";
  }
  text += "}},\n \"lines\": [";
  separator = "\n  ";
  for (const CountedLine &line : countedLines(profile)) {
    text += separator;
    jsonLine(text, line);
    separator = ",\n  ";
  }
  return text + "]}\n";
}
