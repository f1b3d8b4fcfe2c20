// How many threads the user and the system allow: OMP_NUM_THREADS, affinity masks, CPU quotas of cgroups.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// Processors that the calling thread may run on, by its affinity mask; at least 1.
uint32_t usableProcessors();

/// The value of OMP_NUM_THREADS: a positive number, or a list of them (one for each level of nesting), of which the
/// first counts. Zero for any other text.
uint32_t threadsOfOpenMpVariable(std::string_view text);

/// The processors that a quota grants, rounded up; zero for no limit. `cpu.max` of cgroup v2 has quota and period in
/// microseconds ("150000 100000"), or "max"; in v1 they are in two files, and the quota -1 is no limit.
uint32_t processorsOfCpuMax(std::string_view text);
uint32_t processorsOfCfsQuota(std::string_view quota, std::string_view period);

/// A folder of the cgroup file system with a quota that holds for this process.
struct CgroupFolder {
  std::string path;
  bool isV2;
  bool operator==(const CgroupFolder &) const = default;
};

/// The folders of this process's cgroups and of all their parents that are mounted, from the texts of
/// /proc/self/cgroup and /proc/self/mountinfo. The lowest quota of them holds.
std::vector<CgroupFolder> cpuCgroups(std::string_view cgroup, std::string_view mountinfo);

/// The lowest quota of those folders; zero for no limit. Reads a few small files.
uint32_t cgroupProcessors();

} // namespace nereid::runtime
