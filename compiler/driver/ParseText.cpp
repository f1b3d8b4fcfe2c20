// Parses and verifies a module's text and checks the assumptions of later phases. Every error gets its position in the
// text.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/MemoryReserve.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace nereid;
using namespace nereid::driver;

/// Parser and verifier recurse over the text.
static constexpr unsigned maxNesting = 500;
/// Equals the front end's limit of a tile.
static constexpr int64_t maxTileElements = 1 << 20;

//--- messages ------------------------------------------------------------------------------

namespace {
/// Reports MLIR's diagnostics at positions in the text.
class Reader {
public:
  Reader(mlir::MLIRContext &context, const std::string &text, const std::string &name,
         support::DiagnosticEngine &diagnostics)
      : file(std::make_shared<support::SourceFile>(name, text)), diagnostics(diagnostics),
        handler(&context, [this](mlir::Diagnostic &mlirDiagnostic) { return take(mlirDiagnostic); }) {
    diagnostics.keep(file);
  }

  void report(uint32_t offset, std::string text) {
    diagnostics.report(diag::InvalidIr, {file.get(), {offset, offset}}, text);
  }
  bool hasReported() const { return reported; }

private:
  support::FileRange rangeOf(mlir::Location loc) const {
    support::FileRange where;
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

  mlir::LogicalResult take(mlir::Diagnostic &mlirDiagnostic) {
    if (mlirDiagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::success();
    reported = true;
    const support::FileRange where = rangeOf(mlirDiagnostic.getLocation());
    std::string text;
    llvm::raw_string_ostream os(text);
    if (!where && !llvm::isa<mlir::UnknownLoc>(mlirDiagnostic.getLocation()))
      os << mlirDiagnostic.getLocation() << ": "; // the text's own locations name another file
    os << mlirDiagnostic;
    auto &diagnostic = diagnostics.report(diag::InvalidIr, where, text);
    for (mlir::Diagnostic &note : mlirDiagnostic.getNotes())
      diagnostic.note(note.str(), rangeOf(note.getLocation()));
    return mlir::success();
  }

  std::shared_ptr<support::SourceFile> file;
  support::DiagnosticEngine &diagnostics;
  mlir::ScopedDiagnosticHandler handler;
  bool reported = false;
};
} // namespace

// --- assumptions of later phases -----------------------------------------------------------

/// The first bracket that is nested more than `maxNesting` deep.
static std::optional<uint32_t> tooDeep(llvm::StringRef text) {
  unsigned depth = 0;
  for (uint32_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      while (++at < text.size() && text[at] != '"' && text[at] != '\n')
        at += text[at] == '\\';
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      at = std::min<size_t>(text.find('\n', at), text.size());
    } else if (llvm::StringRef("([{<").contains(c)) {
      if (++depth > maxNesting)
        return at;
    } else if (llvm::StringRef(")]}>").contains(c) && depth && !(c == '>' && at && text[at - 1] == '-')) {
      --depth;
    }
  }
  return std::nullopt;
}

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

mlir::OwningOpRef<mlir::ModuleOp> driver::parse(mlir::MLIRContext &context, const std::string &text,
                                                const std::string &name, support::DiagnosticEngine &diagnostics) {
  const support::MemoryReserve reserve;
  Reader reader(context, text, name, diagnostics);
  if (support::isMemoryShort()) {
    diagnostics.report(support::diag::OutOfMemory, {}, name);
    return {};
  }
  if (const auto offset = tooDeep(text)) {
    reader.report(*offset, "brackets stand more than " + std::to_string(maxNesting) + " deep");
    return {};
  }
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), name);
  const bool isGood =
      module && !module
                     ->walk([](mlir::Operation *op) {
                       return mlir::failed(checkOp(op)) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
                     })
                     .wasInterrupted();
  if (isGood)
    return module;
  if (!reader.hasReported())
    reader.report(0, "the text holds no module");
  return {};
}
