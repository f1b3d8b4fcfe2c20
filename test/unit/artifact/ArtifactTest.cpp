// Tests the file form of artifacts: round trips, and errors for all other bytes.
// SPDX-License-Identifier: MIT
#include "artifact/Artifact.h"
#include "artifact/Format.h"
#include "test/unit/artifact/SampleArtifact.h"

#include <gtest/gtest.h>

#include <random>

using namespace nereid::artifact;

static std::string codeOf(const std::string &bytes) {
  const auto result = deserialize(bytes);
  return result ? "none" : result.error().code;
}

/// The same bytes with a valid checksum, to reach the checks after it.
static std::string resealed(std::string bytes) {
  bytes.resize(bytes.size() - kChecksumBytes);
  return bytes + checksum(bytes);
}

/// The file with a part of its header replaced and the lengths adjusted.
static std::string withHeader(std::string file, const std::string &from, const std::string &to) {
  const size_t at = file.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  file.replace(at, from.size(), to);
  const auto delta = static_cast<int64_t>(to.size()) - static_cast<int64_t>(from.size());
  const auto put = [&](size_t where, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i)
      value |= uint64_t{static_cast<unsigned char>(file[where + i])} << (8 * i);
    value += delta;
    for (size_t i = 0; i < bytes; ++i)
      file[where + i] = static_cast<char>(value >> (8 * i));
  };
  put(kHeaderBytesAt, 4);
  put(kFileBytesAt, 8);
  return resealed(file);
}

TEST(Artifact, round_trip_keeps_every_field) {
  const Artifact sample = sampleArtifact();
  const auto back = deserialize(serialize(sample));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, sample);
}

TEST(Artifact, round_trip_of_an_empty_artifact) {
  const auto back = deserialize(serialize(Artifact{}));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, Artifact{});
}

TEST(Artifact, equal_artifacts_have_equal_files) {
  EXPECT_EQ(serialize(sampleArtifact()), serialize(sampleArtifact()));
}

TEST(Artifact, stages_are_compressed_and_found) {
  const Artifact sample = sampleArtifact();
  EXPECT_LT(serialize(sample).size(), 5000u);
  ASSERT_NE(sample.findStage("asm"), nullptr);
  EXPECT_EQ(*sample.findStage("asm"), "short");
  EXPECT_EQ(sample.findStage("ptx"), nullptr);
}

TEST(Artifact, stage_that_shrinks_too_far_is_stored_as_it_is) {
  Artifact zeros;
  zeros.stages = {{"zeros", std::string(8 << 20, '\0')}};
  const std::string file = serialize(zeros);
  EXPECT_GT(file.size(), 8u << 20);
  ASSERT_TRUE(deserialize(file));
}

TEST(Artifact, text_that_is_not_utf8_is_replaced_not_fatal) {
  Artifact odd;
  odd.name = "a\xff";
  const auto back = deserialize(serialize(odd));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->name, "a\xef\xbf\xbd");
}

TEST(Artifact, argument_block_ends_with_two_scratch_pointers) {
  Artifact artifact;
  EXPECT_EQ(packedBytes(artifact), 16u);
  artifact.parameters = {{"x", ParameterKind::Pointer, "*fp32", 0, 8}, {"n", ParameterKind::Int, "i32", 8, 4}};
  EXPECT_EQ(scratchOffset(artifact), 16u);
  EXPECT_EQ(packedBytes(artifact), 32u);
}

TEST(Artifact, each_kind_of_harm_has_its_code) {
  const std::string file = serialize(sampleArtifact());
  EXPECT_EQ(codeOf(""), "artifact-truncated");
  EXPECT_EQ(codeOf(file.substr(0, file.size() - 1)), "artifact-truncated");
  EXPECT_EQ(codeOf(file + "x"), "artifact-truncated");
  EXPECT_EQ(codeOf("#!/bin/sh" + file.substr(9)), "artifact-magic");
  std::string newer = file;
  newer[kVersionAt] = static_cast<char>(kFormatVersion + 1);
  EXPECT_EQ(codeOf(resealed(newer)), "artifact-version");
  std::string older = file;
  older[kVersionAt] = static_cast<char>(kFormatVersion - 1);
  EXPECT_EQ(codeOf(resealed(older)), "artifact-version");
  std::string flipped = file;
  flipped[file.size() / 2] ^= 1;
  EXPECT_EQ(codeOf(flipped), "artifact-checksum");
}

TEST(Artifact, header_is_checked_field_by_field) {
  const std::string file = serialize(sampleArtifact());
  const auto code = [&](const char *from, const char *to) { return codeOf(withHeader(file, from, to)); };
  EXPECT_EQ(code("\"spills\":3", "\"spills\":4"), "none");
  EXPECT_EQ(code("\"spills\":3", "\"spills\":-3"), "artifact-header");
  EXPECT_EQ(code("\"spills\":3", "\"spills\":4294967296"), "artifact-header");
  EXPECT_EQ(code("\"spills\":3", "\"spillz\":3"), "artifact-header");
  EXPECT_EQ(code("\"abi\":\"own\"", "\"abi\":\"odd\""), "artifact-header");
  EXPECT_EQ(code("\"blockDims\":[128,1,1]", "\"blockDims\":[128,1]"), "artifact-header");
  EXPECT_EQ(code("\"arenaAlign\":64", "\"arenaAlign\":63"), "artifact-header");
  EXPECT_EQ(code("\"parameter\":1", "\"parameter\":5"), "artifact-header");
  EXPECT_EQ(code("\"file\":1", "\"file\":2"), "artifact-header");
  EXPECT_EQ(code("\"debug\":\"true\"", "\"debug\":true"), "artifact-header");
  EXPECT_EQ(code("\"written\":false", "\"written\":true"), "none");
  EXPECT_EQ(code("\"written\":false", "\"written\":0"), "artifact-header");
  EXPECT_EQ(code("\"tool\":", "\"tool\""), "artifact-header");
}

TEST(Artifact, launch_expressions_and_tensor_maps_are_checked) {
  const std::string file = serialize(sampleArtifact());
  const auto code = [&](const char *from, const char *to) { return codeOf(withHeader(file, from, to)); };
  EXPECT_EQ(code("[{\"code\":[1,1,0,-5,2]}]", "[{\"code\":[1,0,0,-9223372036854775808,2]}]"), "none");
  EXPECT_EQ(code("[{\"code\":[1,1,0,-5,2]}]", "[{\"code\":[1,0,0,9223372036854775808,2]}]"), "artifact-header");
  EXPECT_EQ(code("[{\"code\":[1,1,0,-5,2]}]", "[{\"code\":[1,1,0,0.5,2]}]"), "artifact-header");
  EXPECT_EQ(code("[{\"code\":[1,1,0,-5,2]}]", "[{\"code\":[1,1,0,-5]}]"), "artifact-header");
  EXPECT_EQ(code("[{\"code\":[1,1,0,-5,2]}]", "[{\"code\":[1,99,0,-5,2]}]"), "artifact-header");
  EXPECT_EQ(code("[{\"code\":[1,1,0,-5,2]}]", "[{\"code\":[1,2,0,-5,2]}]"), "artifact-header"); // a float
  EXPECT_EQ(code("\"box\":[64,128]", "\"box\":[64,257]"), "artifact-header");
  EXPECT_EQ(code("\"box\":[64,128]", "\"box\":[64]"), "artifact-header");
  EXPECT_EQ(code("\"swizzleBytes\":128", "\"swizzleBytes\":127"), "artifact-header");
  EXPECT_EQ(code("\"padsWithNan\":true", "\"padsWithNan\":false"), "none");
  EXPECT_EQ(code("\"abi\":\"own\"", "\"abi\":\"plain\""), "artifact-header");
}

TEST(Artifact, parameters_that_a_launch_computes_with) {
  EXPECT_EQ(launchParameters(sampleArtifact()), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(needsOwnLauncher(sampleArtifact()));
  EXPECT_FALSE(needsOwnLauncher(Artifact{}));
}

TEST(Artifact, blobs_are_checked_against_the_table) {
  const std::string file = serialize(sampleArtifact());
  EXPECT_EQ(codeOf(withHeader(file, "\"binaryBytes\":7", "\"binaryBytes\":18446744073709551615")), "artifact-blob");
  EXPECT_EQ(codeOf(withHeader(file, "\"binaryBytes\":7", "\"binaryBytes\":6")), "artifact-blob");
  EXPECT_EQ(codeOf(withHeader(file, "\"rawBytes\":20009", "\"rawBytes\":20008")), "artifact-blob");
  EXPECT_EQ(codeOf(withHeader(file, "\"rawBytes\":20009", "\"rawBytes\":99999999999")), "artifact-blob");
  EXPECT_EQ(codeOf(withHeader(file, "\"rawBytes\":5", "\"rawBytes\":6")), "artifact-blob");
}

TEST(Artifact, every_truncation_is_an_error) {
  const std::string file = serialize(sampleArtifact());
  for (size_t keep = 0; keep < file.size(); ++keep)
    ASSERT_NE(codeOf(file.substr(0, keep)), "none") << keep;
}

TEST(Artifact, every_flipped_bit_is_an_error) {
  const std::string file = serialize(sampleArtifact());
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string harmed = file;
    harmed[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    ASSERT_NE(codeOf(harmed), "none") << bit;
  }
}

TEST(Artifact, harm_under_a_right_checksum_never_crashes) {
  const std::string file = serialize(sampleArtifact());
  std::mt19937 random(1);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string harmed = file;
    for (uint32_t flips = 1 + random() % 4; flips > 0; --flips)
      harmed[kPrologueBytes + random() % (harmed.size() - kPrologueBytes)] = static_cast<char>(random());
    const auto result = deserialize(resealed(harmed));
    if (result) {
      ++accepted;
      // Every accepted file is a valid artifact.
      ASSERT_TRUE(deserialize(serialize(*result)));
    }
  }
  // Letters of names may change freely; most other damage is detected.
  EXPECT_GT(accepted, 0);
}
