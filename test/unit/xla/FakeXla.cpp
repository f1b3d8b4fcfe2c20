// The functions of an XLA for tests.
// SPDX-License-Identifier: MIT
#include "test/unit/xla/FakeXla.h"

namespace nereid::xla {

using namespace ffi;

FakeXla *FakeXla::current = nullptr;

static Failure *aFailure() { return reinterpret_cast<Failure *>(FakeXla::current); }

static Failure *makeFailure(MakeFailure *arguments) {
  FakeXla::current->failure = arguments->message;
  FakeXla::current->code = arguments->code;
  return aFailure();
}

static void readFailure(ReadFailure *arguments) { arguments->message = FakeXla::current->refusal.c_str(); }
static void dropFailure(DropFailure *) {}

static Failure *registerHandler(Registration *arguments) {
  FakeXla &xla = *FakeXla::current;
  xla.registered = std::string(arguments->name.data, arguments->name.size) + " on " +
                   std::string(arguments->platform.data, arguments->platform.size);
  xla.handler = arguments->execute;
  return xla.refusal.empty() ? nullptr : aFailure();
}

static Failure *getStream(GetStream *arguments) {
  arguments->stream = FakeXla::current->stream;
  return arguments->stream ? nullptr : aFailure();
}

FakeXla::FakeXla(int minor) {
  current = this;
  api.structBytes = sizeof api;
  api.version = {sizeof api.version, nullptr, 0, minor};
  api.makeFailure = makeFailure;
  api.readFailure = readFailure;
  api.dropFailure = dropFailure;
  api.registerHandler = registerHandler;
  api.getStream = getStream;
}

FakeCall::FakeCall(FakeXla &xla, std::string bytes) : payload(std::move(bytes)) {
  name = {"opaque", 6};
  text = {payload.data(), payload.size()};
  names[0] = &name;
  attributes[0] = &text;
  made.structBytes = sizeof made;
  made.api = &xla.api;
}

void FakeCall::add(bool isResult, artifact::ElementType type, std::vector<int64_t> extents, uint64_t address) {
  dims.push_back(std::move(extents));
  buffers.push_back({sizeof(ffi::Buffer), nullptr, artifact::infoOf(type).xlaCode, reinterpret_cast<void *>(address),
                     static_cast<int64_t>(dims.back().size()), dims.back().data()});
  (isResult ? results : operands).push_back(&buffers.back());
}

Frame *FakeCall::frame() {
  types.assign(buffers.size(), kBufferValue);
  made.operands = {sizeof(Values), nullptr, static_cast<int64_t>(operands.size()), types.data(), operands.data()};
  made.results = {sizeof(Values), nullptr, static_cast<int64_t>(results.size()), types.data(), results.data()};
  made.attributes = {sizeof(Attributes), nullptr, 1, &attributeType, names, attributes};
  return &made;
}

Metadata askHandler(void *(*handler)(void *), const FakeXla *xla, bool &refused) {
  Metadata metadata{sizeof metadata, {sizeof(Version), nullptr, -1, -1}, 99};
  MetadataExtension extension{{sizeof extension, kMetadataExtension, nullptr}, &metadata};
  Frame frame{};
  frame.structBytes = sizeof frame;
  frame.extension = &extension.base;
  frame.api = xla ? &xla->api : nullptr;
  refused = handler(&frame) != nullptr;
  return metadata;
}

} // namespace nereid::xla
