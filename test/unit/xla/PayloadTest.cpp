// Payloads: their bytes, and every way in which bytes can be wrong.
// SPDX-License-Identifier: MIT
#include "xla/Payload.h"

#include <gtest/gtest.h>

using namespace nereid::xla;
using namespace std::string_literals;

static KernelCall smallCall() {
  KernelCall call;
  call.kernel.name = "k";
  call.kernel.numWarps = 4;
  call.kernel.ptx = "P";
  call.kernel.numCtas = 1;
  call.grid = {2, 3, 300};
  call.parameters = {ArrayParameter{0, 16, {}, {}}, ScalarParameter{nereid::artifact::ElementType::Int32, 0}};
  return call;
}

static std::string codeOf(std::string_view bytes) {
  auto payload = readMessage(bytes);
  return payload ? "" : payload.error().code;
}

TEST(Payload, fields_lie_as_the_protocol_says) {
  // One line a field: tag (number * 8 + wire type), length where it has one, value.
  const std::string kernel = "\x0a\x01k"              // 1 name
                             "\x10\x04"               // 2 warps
                             "\x22\x01P"              // 4 ptx
                             "\x50\x01"s;             // 10 blocks of a cluster
  const std::string call = "\x0a\x0a"s + kernel +     // 1 kernel
                           "\x10\x02\x18\x03"         // 2, 3 grid
                           "\x20\xac\x02"             // 4: 300 in two bytes
                           "\x2a\x04\x0a\x02\x10\x10" // 5 parameter: 1 array: 2 divisibility
                           "\x2a\x02\x18\x00"s;       // 5 parameter: 3 an i32 that is zero, and written
  EXPECT_EQ(writeMessage({smallCall(), "m", "n"}),
            "\x0a"s + static_cast<char>(call.size()) + call + "\x1a\x01m\x22\x01n");
}

TEST(Payload, negative_numbers_and_floats) {
  KernelCall call;
  call.parameters = {ScalarParameter{nereid::artifact::ElementType::Int32, 0xfffffffd},
                     ScalarParameter{nereid::artifact::ElementType::Float32, 0x3f000000},
                     ScalarParameter{nereid::artifact::ElementType::Float64, 0x3fe0000000000000}};
  EXPECT_EQ(writeMessage({call, "", ""}), "\x0a\x21\x0a\x00"
                                          "\x2a\x0b\x18\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                          "\x2a\x05\x3d\x00\x00\x00\x3f"
                                          "\x2a\x09\x41\x00\x00\x00\x00\x00\x00\xe0\x3f"s);
  const auto payload = readMessage(writeMessage({call, "", ""}));
  ASSERT_TRUE(payload);
  EXPECT_EQ(std::get<KernelCall>(payload->call).parameters, call.parameters);
}

TEST(Payload, everything_is_read_as_it_was_written) {
  KernelCall call = smallCall();
  call.kernel.cluster = {2, 1, 1};
  call.kernel.scratch = {128, 16};
  call.kernel.artifact = "\0\x01\xff"s;
  call.mayWriteOperands = true;
  call.parameters.push_back(ArrayParameter{4, 0, std::vector<uint64_t>{}, 0});
  call.parameters.push_back(ArrayParameter{0, 0, std::vector<uint64_t>{0, 1ull << 40}, 7});
  const Payload single{call, "meta\0data"s, "name"};
  EXPECT_EQ(*readPayload(writePayload(single)), single);
  AutotunedCall several{"tuned", {{call, "BLOCK: 16"}, {smallCall(), ""}}, {{0, 2, 4000}}};
  const Payload tuned{several, "", "x"};
  EXPECT_EQ(*readPayload(writePayload(tuned)), tuned);
}

TEST(Payload, unknown_fields_are_passed_over) {
  const std::string more = "\xf8\x7d\x05"                             // a number
                           "\xf9\x7d\x01\x02\x03\x04\x05\x06\x07\x08" // eight bytes
                           "\xfa\x7d\x02hi"                           // bytes
                           "\xfd\x7d\x01\x02\x03\x04"s;               // four bytes
  const Payload payload{smallCall(), "", "n"};
  EXPECT_EQ(*readMessage(more + writeMessage(payload) + more), payload);
}

TEST(Payload, every_cut_of_a_message_is_an_error_or_lacks_its_end) {
  const std::string message = writeMessage({smallCall(), "meta", "name"});
  for (size_t size = 0; size < message.size(); ++size) {
    const std::string code = codeOf(message.substr(0, size));
    const bool isBetweenFields = code.empty() && size > 0;
    EXPECT_TRUE(isBetweenFields || code == "payload-truncated" || (size == 0 && code == "payload-empty"))
        << size << code;
  }
}

TEST(Payload, bytes_that_are_no_message) {
  EXPECT_EQ(codeOf(""), "payload-empty");
  EXPECT_EQ(codeOf("\x0a\x00"s), "payload-empty");            // a call without a kernel
  EXPECT_EQ(codeOf("\x12\x00"s), "payload-empty");            // an autotuned call without configurations
  EXPECT_EQ(codeOf("\x00"s), "payload-wire");                 // field 0
  EXPECT_EQ(codeOf("\x0b"), "payload-wire");                  // a group
  EXPECT_EQ(codeOf("\x08\x01"), "payload-wire");              // a call that is a number
  EXPECT_EQ(codeOf(std::string(11, '\xff')), "payload-wire"); // a number without an end
  EXPECT_EQ(codeOf("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "payload-truncated"); // a length of 2^64 - 1
  EXPECT_EQ(codeOf("\x0a\x05\x0a\x00\x2a\x01\x08"s), "payload-truncated");
}

TEST(Payload, values_out_of_range) {
  EXPECT_EQ(codeOf("\x0a\x06\x0a\x00\x2a\x02\x10\x02"s), "payload-value");                 // a bool that is 2
  EXPECT_EQ(codeOf("\x0a\x0a\x0a\x00\x2a\x06\x18\xff\xff\xff\xff\x0f"s), "payload-value"); // an i32 that is 2^32 - 1
  EXPECT_EQ(codeOf("\x0a\x08\x0a\x06\x10\x80\x80\x80\x80\x10"s), "payload-value");         // 2^32 warps
  EXPECT_EQ(codeOf("\x0a\x04\x0a\x00\x2a\x00"s), "payload-value");         // a parameter without a value
  EXPECT_EQ(codeOf("\x0a\x06\x0a\x00\x2a\x02\x48\x00"s), "payload-value"); // a parameter of unknown kind
}

TEST(Payload, compression) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(*decompress(compress(text)), text);
  EXPECT_EQ(*decompress(compress("")), "");
  const std::string packed = compress(text);
  for (std::string bad : {""s, "x"s, packed.substr(0, packed.size() - 1), packed + "x", "\x78\x9c\xff\xff\xff"s}) {
    const auto read = decompress(bad);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "payload-compression");
  }
}

TEST(Payload, a_small_stream_does_not_become_a_huge_message) {
  const std::string bomb = compress(std::string(kMaxMessageBytes + 1, '\0'));
  EXPECT_LT(bomb.size(), kMaxMessageBytes / 500);
  const auto read = decompress(bomb);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text.find("unpacks to more than 268435456 bytes"), std::string::npos) << read.error().text;
}
