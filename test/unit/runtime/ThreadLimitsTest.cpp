// Tests the readers of the texts that limit threads.
// SPDX-License-Identifier: MIT
#include "runtime/process/ThreadLimits.h"

#include "gtest/gtest.h"

#include <thread>

#include <sched.h>

using namespace nereid::runtime;

using Folders = std::vector<CgroupFolder>;

TEST(ThreadLimits, openmp_variable_is_a_number_or_the_first_of_a_list) {
  EXPECT_EQ(threadsOfOpenMpVariable("4"), 4u);
  EXPECT_EQ(threadsOfOpenMpVariable(" 4 \n"), 4u);
  EXPECT_EQ(threadsOfOpenMpVariable("8,2"), 8u);
  EXPECT_EQ(threadsOfOpenMpVariable("8, 2, 1"), 8u);
  EXPECT_EQ(threadsOfOpenMpVariable("99999999999"), 4294967295u);
}

TEST(ThreadLimits, openmp_variable_with_another_text_is_no_limit) {
  for (const char *text : {"", " ", "0", "-2", "four", "4x", ",4", "4,x", "1.5", "99999999999999999999"})
    EXPECT_EQ(threadsOfOpenMpVariable(text), 0u) << text;
}

TEST(ThreadLimits, cpu_max_is_rounded_up) {
  EXPECT_EQ(processorsOfCpuMax("max 100000\n"), 0u);
  EXPECT_EQ(processorsOfCpuMax("max"), 0u);
  EXPECT_EQ(processorsOfCpuMax("100000 100000\n"), 1u);
  EXPECT_EQ(processorsOfCpuMax("50000 100000\n"), 1u);
  EXPECT_EQ(processorsOfCpuMax("150000 100000\n"), 2u);
  EXPECT_EQ(processorsOfCpuMax("1600000 50000\n"), 32u);
  EXPECT_EQ(processorsOfCpuMax(""), 0u);
  EXPECT_EQ(processorsOfCpuMax("100000"), 0u);
}

TEST(ThreadLimits, cfs_quota_of_minus_one_is_no_limit) {
  EXPECT_EQ(processorsOfCfsQuota("-1\n", "100000\n"), 0u);
  EXPECT_EQ(processorsOfCfsQuota("200000\n", "100000\n"), 2u);
  EXPECT_EQ(processorsOfCfsQuota("200001\n", "100000\n"), 3u);
  EXPECT_EQ(processorsOfCfsQuota("", ""), 0u);
  EXPECT_EQ(processorsOfCfsQuota("200000", "0"), 0u);
}

TEST(ThreadLimits, folders_of_version_2) {
  constexpr const char *kMounts = "23 28 0:22 / /proc rw shared:13 - proc proc rw\n"
                                  "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  EXPECT_EQ(cpuCgroups("0::/\n", kMounts), (Folders{{"/sys/fs/cgroup", true}}));
  EXPECT_EQ(cpuCgroups("0::/user.slice/job:1.scope\n", kMounts),
            (Folders{{"/sys/fs/cgroup", true},
                     {"/sys/fs/cgroup/user.slice", true},
                     {"/sys/fs/cgroup/user.slice/job:1.scope", true}}));
}

TEST(ThreadLimits, folders_of_version_1) {
  constexpr const char *kMounts = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
                                  "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n";
  EXPECT_EQ(cpuCgroups("9:cpuset:/other\n4:cpu,cpuacct:/jobs/1\n0::/unified\n", kMounts),
            (Folders{{"/sys/fs/cgroup/cpu,cpuacct", false},
                     {"/sys/fs/cgroup/cpu,cpuacct/jobs", false},
                     {"/sys/fs/cgroup/cpu,cpuacct/jobs/1", false}}));
}

TEST(ThreadLimits, folders_in_a_container_start_at_its_part_of_the_hierarchy) {
  constexpr const char *kMounts = "32 31 0:29 /docker/ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
  EXPECT_EQ(cpuCgroups("4:cpu:/docker/ab\n", kMounts), (Folders{{"/sys/fs/cgroup/cpu", false}}));
  EXPECT_EQ(cpuCgroups("4:cpu:/docker/ab/job\n", kMounts),
            (Folders{{"/sys/fs/cgroup/cpu", false}, {"/sys/fs/cgroup/cpu/job", false}}));
  for (const char *outside : {"4:cpu:/docker/abc\n", "4:cpu:/else\n", "4:cpu:/\n"})
    EXPECT_EQ(cpuCgroups(outside, kMounts), (Folders{{"/sys/fs/cgroup/cpu", false}})) << outside;
  constexpr const char *kNamespace = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cpuCgroups("0::/../other\n", kNamespace), (Folders{{"/sys/fs/cgroup", true}}));
}

TEST(ThreadLimits, texts_that_say_nothing_have_no_folders) {
  EXPECT_EQ(cpuCgroups("", ""), Folders{});
  EXPECT_EQ(cpuCgroups("0::/a\n", "no mounts here\n\n"), Folders{});
  EXPECT_EQ(cpuCgroups("nonsense", "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"), Folders{});
}

TEST(ThreadLimits, affinity_mask_of_the_thread_counts) {
  const uint32_t all = usableProcessors();
  EXPECT_GE(all, 1u);
  std::thread([] {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    int first = 0;
    while (!CPU_ISSET(first, &mask))
      ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(usableProcessors(), 1u);
  }).join();
  EXPECT_EQ(usableProcessors(), all);
}
