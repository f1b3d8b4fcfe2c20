// Parses and verifies a module's text and checks the assumptions of later phases. Every error gets its position in the
// text.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Cancellation.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/TextCheck.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/support/MemoryReserve.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/Support/SourceMgr.h"

using namespace nereid;
using namespace nereid::driver;

/// Equals the front end's limit of a tile.
static constexpr int64_t maxTileElements = 1 << 20;

//--- messages ------------------------------------------------------------------------------

namespace {
/// Collects MLIR's errors about a text, and reports them at positions in it.
class Reader {
public:
  Reader(mlir::MLIRContext &context, const std::string &text, const std::string &name,
         support::DiagnosticEngine &diagnostics)
      : context(context), file(std::make_shared<support::SourceFile>(name, text)), diagnostics(diagnostics),
        handler(&context, [this](mlir::Diagnostic &mlirDiagnostic) { return take(mlirDiagnostic); }) {
    diagnostics.keep(file);
  }

  void report(uint32_t offset, std::string text) {
    diagnostics.report(diag::InvalidIr, {file.get(), {offset, offset}}, text);
  }

  /// Reports the errors; false where there is none.
  bool reportAll() {
    std::vector<Message> errors = std::move(messages);
    if (llvm::any_of(errors, [&](const Message &error) { return !rangeOf(error.where, error.text); }))
      locateOps();
    for (const Message &error : errors)
      reportOne(error);
    return !errors.empty();
  }

private:
  struct Message {
    mlir::Location where;
    std::string text;
    std::vector<std::pair<std::string, mlir::Location>> notes;
  };

  mlir::LogicalResult take(mlir::Diagnostic &mlirDiagnostic) {
    if (mlirDiagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::success();
    Message &error = messages.emplace_back(mlirDiagnostic.getLocation(), mlirDiagnostic.str());
    for (mlir::Diagnostic &note : mlirDiagnostic.getNotes())
      error.notes.emplace_back(note.str(), note.getLocation());
    return mlir::success();
  }

  /// Finds where the text has the ops of its own locations, which name the source that it was made from. Ops may
  /// share a location.
  void locateOps() {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(file->text(), file->name()), {});
    mlir::AsmParserState state;
    mlir::Block block;
    (void)mlir::parseAsmSourceFile(sources, &block, mlir::ParserConfig(&context, /*verifyAfterParse=*/false), &state);
    const char *start = sources.getMemoryBuffer(1)->getBufferStart();
    for (const auto &op : state.getOpDefs())
      ops[op.op->getLoc()].push_back(
          {("'" + op.op->getName().getStringRef() + "'").str(), uint32_t(op.loc.Start.getPointer() - start)});
  }

  /// The op of this location that the message names, or the only one.
  std::optional<uint32_t> offsetOf(mlir::Location loc, llvm::StringRef message) const {
    const auto entries = ops.find(loc);
    if (entries == ops.end())
      return std::nullopt;
    for (const auto &[name, offset] : entries->second)
      if (message.contains(name) || entries->second.size() == 1)
        return offset;
    return std::nullopt;
  }

  support::FileRange rangeOf(mlir::Location loc, llvm::StringRef message) const {
    support::FileRange where;
    if (const std::optional<uint32_t> offset = offsetOf(loc, message))
      return {file.get(), {*offset, *offset}};
    loc->walk([&](mlir::Location inner) {
      auto range = llvm::dyn_cast<mlir::FileLineColRange>(inner);
      if (!range || range.getFilename() != file->name())
        return mlir::WalkResult::advance();
      if (auto offset = file->offset({range.getStartLine(), range.getStartColumn()}))
        where = {file.get(), {*offset, *offset}};
      return mlir::WalkResult::interrupt();
    });
    return where;
  }

  void reportOne(const Message &error) {
    const support::FileRange where = rangeOf(error.where, error.text);
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!where && !llvm::isa<mlir::UnknownLoc>(error.where))
      os << error.where << ": ";
    os << error.text;
    auto &diagnostic = diagnostics.report(diag::InvalidIr, where, text);
    for (const auto &[note, location] : error.notes)
      diagnostic.note(note, rangeOf(location, note));
  }

  mlir::MLIRContext &context;
  std::shared_ptr<support::SourceFile> file;
  support::DiagnosticEngine &diagnostics;
  std::vector<Message> messages;
  llvm::DenseMap<mlir::Location, std::vector<std::pair<std::string, uint32_t>>> ops;
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

// --- assumptions of later phases -----------------------------------------------------------

static bool isScalar(mlir::Type type) { return tt::isElement(type) || type.isIndex(); }

/// Whether later phases support values of such a type.
static bool isKnown(mlir::Type type) {
  if (auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type)) {
    int64_t elements = 1;
    for (int64_t extent : tile.getShape()) {
      if (extent < 1 || extent > maxTileElements / elements)
        return false;
      elements *= extent;
    }
    return tile.getRank() > 0 && tt::isElement(tile.getElementType());
  }
  if (auto pointer = llvm::dyn_cast<tt::PointerType>(type);
      pointer && llvm::isa<mlir::ShapedType>(pointer.getPointee()))
    return isKnown(pointer.getPointee());
  // Descriptors, buffers and similar types verify themselves.
  return isScalar(type) || llvm::StringRef("tt ttg").contains(type.getDialect().getNamespace());
}

static mlir::LogicalResult checkType(mlir::Location loc, mlir::Type type) {
  if (isKnown(type))
    return mlir::success();
  return mlir::emitError(loc) << "a value has type " << type
                              << "; kernels have numbers, pointers and tiles of them, of at most " << maxTileElements
                              << " elements";
}

static mlir::LogicalResult checkOp(mlir::Operation *op) {
  for (mlir::Type type : op->getResultTypes())
    if (mlir::failed(checkType(op->getLoc(), type)))
      return mlir::failure();
  for (mlir::Region &region : op->getRegions())
    for (mlir::Block &block : region)
      for (mlir::BlockArgument argument : block.getArguments())
        if (mlir::failed(checkType(op->getLoc(), argument.getType())))
          return mlir::failure();
  auto function = llvm::dyn_cast<tt::FuncOp>(op);
  if (!function)
    return mlir::success();
  if (function.isExternal())
    return mlir::emitError(op->getLoc()) << "`" << function.getSymName() << "` has no body";
  if (!function.isPublic())
    return mlir::success();
  if (!function.getResultTypes().empty())
    return mlir::emitError(op->getLoc()) << "kernel `" << function.getSymName() << "` returns a value";
  for (mlir::Type type : function.getArgumentTypes())
    if (auto pointer = llvm::dyn_cast<tt::PointerType>(type);
        llvm::isa<mlir::ShapedType, mlir::IndexType>(type) || (pointer && !tt::isElement(pointer.getPointee())))
      return mlir::emitError(op->getLoc()) << "kernel `" << function.getSymName() << "` takes " << type
                                           << "; a kernel takes numbers, pointers and descriptors";
  return mlir::success();
}

/// A module that later phases can run on; null after an error.
static mlir::OwningOpRef<mlir::ModuleOp> parseChecked(mlir::MLIRContext &context, const std::string &text,
                                                      const std::string &name) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), name);
  auto check = [](mlir::Operation *op) {
    return mlir::failed(checkOp(op)) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  if (module && module->walk(check).wasInterrupted())
    return nullptr;
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> driver::parse(mlir::MLIRContext &context, const std::string &text,
                                                const std::string &name, support::DiagnosticEngine &diagnostics) {
  const support::MemoryReserve reserve;
  Reader reader(context, text, name, diagnostics);
  if (!checkCompiler(diagnostics))
    return nullptr;
  if (support::isMemoryShort()) {
    reportOutOfMemory(name, diagnostics);
    return nullptr;
  }
  if (const auto fault = findFault(text)) {
    reader.report(fault->offset, fault->message);
    return nullptr;
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool isReported = false;
  auto read = [&] {
    module = parseChecked(context, text, name);
    isReported = !module && reader.reportAll();
  };
  const support::GuardedEnd end = support::runGuarded(read, nullptr);
  if (end.isOutOfMemory)
    reportOutOfMemory(name, diagnostics);
  else if (end.failure)
    diagnostics.report(support::diag::InternalError, {}, "parse", *end.failure);
  else if (!module && !isReported)
    reader.report(0, "the text holds no module");
  return module;
}
