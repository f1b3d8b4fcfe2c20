// Tests the disk cache: stored kernels are found again, and everything else is a miss.
// SPDX-License-Identifier: MIT
#include "jit/DiskCache.h"
#include "test/unit/artifact/SampleArtifact.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid::jit;
using nereid::artifact::Artifact;
namespace fs = std::filesystem;

namespace {

class DiskCacheTest : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/nereid-cache-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    root = folder;
    dir = root + "/user/cache";
  }
  void TearDown() override {
    for (const auto &entry : fs::recursive_directory_iterator(root))
      if (entry.is_directory())
        chmod(entry.path().c_str(), 0700);
    fs::remove_all(root);
  }

  static std::string keyOf(uint32_t i) {
    char key[64];
    std::snprintf(key, sizeof key, "%08x%08x", i * 2654435761u, i);
    return key;
  }
  static Artifact artifactOf(const std::string &key) {
    Artifact artifact = nereid::artifact::sampleArtifact();
    artifact.hash = key;
    return artifact;
  }
  bool store(uint32_t i) { return cache.store(dir, keyOf(i), artifactOf(keyOf(i))); }
  bool hits(uint32_t i) {
    const auto found = cache.load(dir, keyOf(i));
    EXPECT_TRUE(!found || *found == artifactOf(keyOf(i)));
    return found.has_value();
  }
  std::string pathOf(uint32_t i) { return dir + "/" + keyOf(i).substr(0, 2) + "/" + keyOf(i) + ".nereid"; }
  static mode_t modeOf(const std::string &path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  static void overwrite(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string root, dir;
  DiskCache cache;
};

} // namespace

TEST_F(DiskCacheTest, gives_back_what_was_stored) {
  EXPECT_FALSE(hits(1));
  EXPECT_TRUE(store(1));
  EXPECT_TRUE(hits(1));
  EXPECT_FALSE(hits(2));
  EXPECT_TRUE(store(1));
  EXPECT_TRUE(hits(1));
  EXPECT_TRUE(cache.takeNotes().empty());
}

TEST_F(DiskCacheTest, is_for_its_owner_alone) {
  ASSERT_TRUE(store(1));
  EXPECT_EQ(modeOf(dir), 0700u);
  EXPECT_EQ(modeOf(fs::path(pathOf(1)).parent_path()), 0700u);
  EXPECT_EQ(modeOf(pathOf(1)), 0600u);
}

TEST_F(DiskCacheTest, folder_may_change_between_calls) {
  ASSERT_TRUE(store(1));
  dir = root + "/elsewhere";
  EXPECT_FALSE(hits(1));
  ASSERT_TRUE(store(2));
  EXPECT_TRUE(hits(2));
}

TEST_F(DiskCacheTest, corrupt_file_is_a_miss_and_removed) {
  for (const char *bytes : {"", "x", "not an artifact at all, but long enough to be looked at"}) {
    ASSERT_TRUE(store(1));
    overwrite(pathOf(1), bytes);
    EXPECT_FALSE(hits(1));
    EXPECT_FALSE(fs::exists(pathOf(1)));
  }
  ASSERT_TRUE(store(1));
  ASSERT_EQ(truncate(pathOf(1).c_str(), 100), 0);
  EXPECT_FALSE(hits(1));
  EXPECT_TRUE(store(1));
  EXPECT_TRUE(hits(1));
}

TEST_F(DiskCacheTest, file_under_the_name_of_another_key_is_a_miss) {
  ASSERT_TRUE(store(1));
  fs::create_directories(fs::path(pathOf(2)).parent_path());
  fs::copy_file(pathOf(1), pathOf(2));
  chmod(pathOf(2).c_str(), 0600);
  EXPECT_FALSE(hits(2));
  EXPECT_TRUE(hits(1));
}

TEST_F(DiskCacheTest, file_that_others_may_write_is_a_miss) {
  for (mode_t mode : {0620, 0602, 0666}) {
    ASSERT_TRUE(store(1));
    ASSERT_EQ(chmod(pathOf(1).c_str(), mode), 0);
    EXPECT_FALSE(hits(1));
    EXPECT_TRUE(fs::exists(pathOf(1)));
  }
  ASSERT_TRUE(store(1));
  EXPECT_TRUE(hits(1));
}

TEST_F(DiskCacheTest, file_of_another_user_is_a_miss) {
  ASSERT_TRUE(store(1));
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(pathOf(1).c_str(), 12345, 12345), 0);
  EXPECT_FALSE(hits(1));
  EXPECT_TRUE(fs::exists(pathOf(1)));
  ASSERT_TRUE(store(1));
  EXPECT_TRUE(hits(1));
}

TEST_F(DiskCacheTest, file_of_root_is_read_by_others) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  ASSERT_TRUE(store(1));
  chmod(root.c_str(), 0755);
  for (const auto &entry : fs::recursive_directory_iterator(root))
    chmod(entry.path().c_str(), entry.is_directory() ? 0755 : 0644);
  const pid_t child = fork();
  if (child == 0)
    _exit(setuid(65534) == 0 && hits(1) && !store(2) ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, a_kernel_is_found_before_the_disk_has_it) {
  ASSERT_TRUE(cache.put(dir, keyOf(1), artifactOf(keyOf(1))));
  EXPECT_TRUE(hits(1));
  cache.settle(dir, keyOf(1));
  EXPECT_TRUE(hits(1));
}

TEST_F(DiskCacheTest, links_and_special_files_are_misses) {
  ASSERT_TRUE(store(1));
  const std::string real = root + "/real";
  fs::rename(pathOf(1), real);
  fs::create_symlink(real, pathOf(1));
  EXPECT_FALSE(hits(1));
  EXPECT_TRUE(fs::exists(real));
  ASSERT_TRUE(store(1));
  EXPECT_TRUE(hits(1));
  EXPECT_FALSE(fs::is_symlink(pathOf(1)));

  fs::remove(pathOf(1));
  ASSERT_EQ(mkfifo(pathOf(1).c_str(), 0600), 0);
  EXPECT_FALSE(hits(1));
  fs::remove(pathOf(1));
  fs::create_directory(pathOf(1));
  EXPECT_FALSE(hits(1));
  EXPECT_FALSE(store(1));
  EXPECT_EQ(cache.takeNotes().size(), 1u);
}

TEST_F(DiskCacheTest, linked_shelf_is_neither_read_nor_written) {
  ASSERT_TRUE(store(1));
  const fs::path subfolder = fs::path(pathOf(1)).parent_path();
  fs::rename(subfolder, root + "/shelf");
  fs::create_directory_symlink(root + "/shelf", subfolder);
  EXPECT_FALSE(hits(1));
  EXPECT_FALSE(store(1));
}

TEST_F(DiskCacheTest, keys_that_are_no_hex_reach_no_file) {
  for (const char *key : {"", "abc", "../../../etc/passwd", "ABCDEF0123456789", "0123456789abcde/"}) {
    EXPECT_FALSE(cache.load(dir, key));
    EXPECT_FALSE(cache.store(dir, key, artifactOf(key)));
  }
  EXPECT_FALSE(cache.store(dir, keyOf(1), artifactOf(keyOf(2))));
  EXPECT_FALSE(fs::exists(dir));
}

TEST_F(DiskCacheTest, missing_home_turns_it_off_with_one_note) {
  EXPECT_FALSE(cache.store("", keyOf(1), artifactOf(keyOf(1))));
  EXPECT_FALSE(cache.store("", keyOf(2), artifactOf(keyOf(2))));
  EXPECT_FALSE(cache.load("", keyOf(1)));
  const auto notes = cache.takeNotes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "the kernel cache is off: there is no folder for it");
  EXPECT_TRUE(cache.takeNotes().empty());
}

TEST_F(DiskCacheTest, folder_that_cannot_be_made_turns_it_off_with_one_note) {
  overwrite(root + "/file", "x");
  dir = root + "/file/cache";
  EXPECT_FALSE(store(1));
  EXPECT_FALSE(store(2));
  EXPECT_FALSE(hits(1));
  const auto notes = cache.takeNotes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("Not a directory"), std::string::npos) << notes[0];
}

TEST_F(DiskCacheTest, full_disk_turns_it_off_with_one_note) {
  // A file size limit simulates a full disk.
  ASSERT_TRUE(store(1));
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none{64, 64};
    setrlimit(RLIMIT_FSIZE, &none);
    const bool stored = store(2) || store(3);
    const auto notes = cache.takeNotes();
    _exit(!stored && notes.size() == 1 && hits(1) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  // The failed attempts leave no files.
  EXPECT_EQ(cache.info(dir).files, 1u);
  EXPECT_LT(cache.info(dir).bytes, 5000u);
}

/// Root may write everywhere: switches to another user, who then owns the test's files.
static bool dropPrivileges(const std::string &root) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() != 0)
    return true;
  bool ok = chown(root.c_str(), kNobody, kNobody) == 0;
  for (const auto &entry : fs::recursive_directory_iterator(root))
    ok = ok && chown(entry.path().c_str(), kNobody, kNobody) == 0;
  return ok && setgid(kNobody) == 0 && setuid(kNobody) == 0;
}

TEST_F(DiskCacheTest, read_only_home_still_serves) {
  ASSERT_TRUE(store(1));
  const fs::path subfolder = fs::path(pathOf(1)).parent_path();
  const pid_t child = fork();
  if (child == 0) {
    if (!dropPrivileges(root))
      _exit(2);
    chmod(subfolder.c_str(), 0500);
    chmod(dir.c_str(), 0500);
    const bool stored = store(1) || store(2);
    const auto notes = cache.takeNotes();
    const std::string expected =
        "the kernel cache is off: folder `" + dir + "` is read-only for this user (Permission denied)";
    _exit(!stored && hits(1) && notes.size() == 1 && notes[0].starts_with(expected) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, info_and_clear_see_only_its_own_files) {
  for (uint32_t i = 0; i < 5; ++i)
    ASSERT_TRUE(store(i));
  overwrite(dir + "/notes.txt", "mine");
  overwrite(fs::path(pathOf(1)).parent_path().string() + "/other.txt", "mine");
  const CacheInfo info = cache.info(dir);
  EXPECT_EQ(info.files, 5u);
  EXPECT_EQ(info.bytes, 5 * fs::file_size(pathOf(1)));
  EXPECT_EQ(cache.clear(dir).files, 5u);
  EXPECT_EQ(cache.info(dir).files, 0u);
  EXPECT_TRUE(fs::exists(dir + "/notes.txt"));
  EXPECT_TRUE(fs::exists(fs::path(pathOf(1)).parent_path().string() + "/other.txt"));
  EXPECT_EQ(cache.info(root + "/nowhere").files, 0u);
  EXPECT_EQ(cache.clear(root + "/nowhere").files, 0u);
}

static void setAge(const std::string &path, time_t seconds) {
  const timespec then{time(nullptr) - seconds, 0};
  const timespec times[] = {then, then};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(DiskCacheTest, eviction_takes_what_was_used_least_recently) {
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(store(i));
    setAge(pathOf(i), 100000 - 1000 * i);
  }
  // A use makes the oldest file the most recent one.
  EXPECT_TRUE(hits(0));
  const uint64_t each = fs::file_size(pathOf(0));
  cache.setLimit(each * 8);
  EXPECT_EQ(cache.evict(dir).files, 4u);
  EXPECT_TRUE(hits(0));
  for (uint32_t i = 1; i <= 4; ++i)
    EXPECT_FALSE(hits(i)) << i;
  for (uint32_t i = 5; i < 10; ++i)
    EXPECT_TRUE(hits(i)) << i;
  EXPECT_EQ(cache.evict(dir).files, 0u);
}

TEST_F(DiskCacheTest, stores_keep_the_folder_near_its_limit) {
  ASSERT_TRUE(store(0));
  cache.setLimit(fs::file_size(pathOf(0)) * 32);
  for (uint32_t i = 1; i < 200; ++i)
    ASSERT_TRUE(store(i));
  EXPECT_LE(cache.info(dir).files, 36u);
  EXPECT_GE(cache.info(dir).files, 20u);
  EXPECT_TRUE(hits(199));
}

TEST_F(DiskCacheTest, leftovers_of_broken_writers_are_removed) {
  ASSERT_TRUE(store(1));
  const std::string subfolder = fs::path(pathOf(1)).parent_path();
  overwrite(subfolder + "/.aside-1-0-old", "x");
  overwrite(subfolder + "/.aside-1-0-new", "x");
  setAge(subfolder + "/.aside-1-0-old", 100000);
  cache.evict(dir);
  EXPECT_FALSE(fs::exists(subfolder + "/.aside-1-0-old"));
  EXPECT_TRUE(fs::exists(subfolder + "/.aside-1-0-new"));
  cache.clear(dir);
  EXPECT_FALSE(fs::exists(subfolder + "/.aside-1-0-new"));
}

TEST_F(DiskCacheTest, view_holds_one_flat_file_a_stage) {
  const auto paths = cache.writeView(dir, "FOLDER", "add", {{"ttir", "module {}"}, {"so", "\x7f"}}, "{\"a\": 1}");
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[0], dir + "/FOLDER/add.ttir");
  EXPECT_EQ(paths[2], dir + "/FOLDER/add.json");
  EXPECT_EQ(fs::file_size(paths[0]), 9u);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir + "/FOLDER"), fs::directory_iterator()), 3);
}

TEST_F(DiskCacheTest, view_that_cannot_be_written_is_a_note) {
  EXPECT_TRUE(cache.writeView("", "F", "add", {}, "{}").empty());
  EXPECT_TRUE(cache.writeView(dir, "../F", "add", {}, "{}").empty());
  EXPECT_TRUE(cache.writeView(dir, "F", "a/b", {}, "{}").empty());
  EXPECT_TRUE(cache.writeView(dir, "F", "add", {{"../x", ""}}, "{}").empty());
  EXPECT_FALSE(cache.takeNotes().empty());
  EXPECT_FALSE(fs::exists(root + "/user/F"));
}

TEST_F(DiskCacheTest, view_goes_with_its_kernel) {
  ASSERT_TRUE(store(1));
  const std::string folder = DiskCache::viewFolder(keyOf(1));
  const auto paths = cache.writeView(dir, folder, "add", {{"ttir", std::string(1000, 'x')}}, "{}");
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(cache.info(dir).bytes, fs::file_size(pathOf(1)) + 1002);
  cache.clear(dir);
  EXPECT_FALSE(fs::exists(dir + "/" + folder));
}

TEST_F(DiskCacheTest, view_folder_is_base_32_of_the_key) {
  EXPECT_EQ(DiskCache::viewFolder("0123456789abcdef0123456789abcdef"), "AERUKZ4JVPG66AJDIVTYTK6N54");
  EXPECT_EQ(DiskCache::viewFolder("00"), "AA");
  EXPECT_EQ(DiskCache::viewFolder("ffffffffff"), "77777777");
}
