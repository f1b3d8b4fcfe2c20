// Reads affinity masks and the texts that limit threads.
// SPDX-License-Identifier: MIT
//
// A quota does not hide processors: threads beyond it only spend it sooner, and all of them then wait for the next
// period.
#include "runtime/process/ThreadLimits.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <thread>

#include <sched.h>

namespace nereid::runtime {

uint32_t usableProcessors() {
  // The system's mask may be larger than cpu_set_t, which has 1024 bits.
  for (int processors = CPU_SETSIZE; processors <= (1 << 17); processors *= 4) {
    const std::unique_ptr<cpu_set_t, decltype([](cpu_set_t *set) { CPU_FREE(set); })> set(CPU_ALLOC(processors));
    const size_t bytes = CPU_ALLOC_SIZE(processors);
    if (set && sched_getaffinity(0, bytes, set.get()) == 0)
      return static_cast<uint32_t>(std::max(1, CPU_COUNT_S(bytes, set.get())));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Removes and returns what precedes `separator`; all of it where there is none.
static std::string_view cut(std::string_view &text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return front;
}

static std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// A whole positive number; zero for any other text.
static uint64_t positiveNumber(std::string_view text) {
  text = trimmed(text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0 ? static_cast<uint64_t>(number) : 0;
}

uint32_t threadsOfOpenMpVariable(std::string_view text) {
  uint64_t first = 0;
  for (bool isFirst = true; isFirst || !text.empty(); isFirst = false) {
    const uint64_t number = positiveNumber(cut(text, ','));
    if (number == 0)
      return 0;
    first = isFirst ? number : first;
  }
  return static_cast<uint32_t>(std::min<uint64_t>(first, std::numeric_limits<uint32_t>::max()));
}

uint32_t processorsOfCfsQuota(std::string_view quota, std::string_view period) {
  const uint64_t granted = positiveNumber(quota), each = positiveNumber(period);
  if (granted == 0 || each == 0)
    return 0;
  const uint64_t processors = granted / each + (granted % each != 0);
  return static_cast<uint32_t>(std::min<uint64_t>(processors, std::numeric_limits<uint32_t>::max()));
}

uint32_t processorsOfCpuMax(std::string_view text) {
  text = trimmed(text);
  const std::string_view quota = cut(text, ' ');
  return processorsOfCfsQuota(quota, text);
}

static bool hasName(std::string_view list, std::string_view name) {
  while (!list.empty())
    if (cut(list, ',') == name)
      return true;
  return false;
}

namespace {
/// Where a hierarchy is mounted, and the part of it that is.
struct CgroupMount {
  std::string_view root, folder;
  bool isV2;
};
} // namespace

// man 5 proc_pid_mountinfo: `36 35 98:0 ROOT FOLDER options [tags...] - TYPE source OPTIONS`
static std::vector<CgroupMount> cpuMounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (!mountinfo.empty()) {
    std::string_view line = cut(mountinfo, '\n');
    const size_t dash = line.find(" - ");
    if (dash == line.npos)
      continue;
    std::string_view end = line.substr(dash + 3);
    const std::string_view type = cut(end, ' ');
    cut(end, ' ');
    const bool isV2 = type == "cgroup2";
    if (!isV2 && !(type == "cgroup" && hasName(end, "cpu")))
      continue;
    for (int i = 0; i < 3; ++i)
      cut(line, ' ');
    const std::string_view root = cut(line, ' '), folder = cut(line, ' ');
    mounts.push_back({root, folder, isV2});
  }
  return mounts;
}

/// The folder of the mount and of each step towards `group`. A group outside of the mounted part shows its limits at
/// the mount, if at all.
static void addFolders(const CgroupMount &mount, std::string_view group, std::vector<CgroupFolder> &folders) {
  std::string path(mount.folder);
  folders.push_back({path, mount.isV2});
  if (const std::string_view root = mount.root == "/" ? "" : mount.root; group.starts_with(root))
    group.remove_prefix(root.size());
  else
    return;
  if (!group.empty() && (group[0] != '/' || group.starts_with("/..")))
    return;
  while (!group.empty())
    if (const std::string_view name = cut(group, '/'); !name.empty()) {
      path.append("/").append(name);
      folders.push_back({path, mount.isV2});
    }
}

// man 7 cgroups: lines `ID:CONTROLLERS:GROUP`; that of version 2 is `0::GROUP`.
std::vector<CgroupFolder> cpuCgroups(std::string_view cgroup, std::string_view mountinfo) {
  const std::vector<CgroupMount> mounts = cpuMounts(mountinfo);
  std::vector<CgroupFolder> folders;
  while (!cgroup.empty()) {
    std::string_view group = cut(cgroup, '\n');
    const std::string_view id = cut(group, ':'), controllers = cut(group, ':');
    const bool isV2 = id == "0" && controllers.empty();
    if (!isV2 && !hasName(controllers, "cpu"))
      continue;
    for (const CgroupMount &mount : mounts)
      if (mount.isV2 == isV2)
        addFolders(mount, group, folders);
  }
  return folders;
}

static std::string textOf(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

uint32_t cgroupProcessors() {
  uint32_t lowest = 0;
  for (const auto &[path, isV2] : cpuCgroups(textOf("/proc/self/cgroup"), textOf("/proc/self/mountinfo"))) {
    const uint32_t granted =
        isV2 ? processorsOfCpuMax(textOf(path + "/cpu.max"))
             : processorsOfCfsQuota(textOf(path + "/cpu.cfs_quota_us"), textOf(path + "/cpu.cfs_period_us"));
    if (granted != 0)
      lowest = lowest == 0 ? granted : std::min(lowest, granted);
  }
  return lowest;
}

} // namespace nereid::runtime
