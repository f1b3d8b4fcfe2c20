// Parses a module that replaces a stage, and checks it against the kernel that it replaces.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Replacement.h"

#include "compiler/driver/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace nereid;
using namespace nereid::driver;

static llvm::SmallVector<tt::FuncOp> publicFunctionsOf(mlir::ModuleOp module) {
  llvm::SmallVector<tt::FuncOp> functions;
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    if (function.isPublic())
      functions.push_back(function);
  return functions;
}

tt::FuncOp driver::kernelOf(mlir::ModuleOp module, support::DiagnosticEngine &diagnostics) {
  const llvm::SmallVector<tt::FuncOp> kernels = publicFunctionsOf(module);
  if (kernels.size() == 1)
    return kernels.front();
  diagnostics.report(diag::NoKernel, {}, kernels.size());
  return {};
}

bool driver::checkReplaceable(const Request::Replacement &replacement, const Backend &backend,
                              support::DiagnosticEngine &diagnostics) {
  const std::vector<std::string> replaceable = backend.replaceable();
  if (llvm::is_contained(replaceable, replacement.stage))
    return true;
  diagnostics.report(diag::StageNotReplaceable, {}, replacement.path, backend.info.name,
                     llvm::join(replaceable, ", *."));
  return false;
}

static std::string typesOf(tt::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(kernel.getArgumentTypes(), stream);
  return text;
}

mlir::OwningOpRef<mlir::ModuleOp> driver::readReplacement(const Request::Replacement &replacement, tt::FuncOp kernel,
                                                          support::DiagnosticEngine &diagnostics) {
  auto module = parse(*kernel.getContext(), replacement.text, replacement.path, diagnostics);
  if (!module)
    return nullptr;
  const llvm::SmallVector<tt::FuncOp> kernels = publicFunctionsOf(*module);
  if (kernels.size() != 1) {
    diagnostics.report(diag::ReplacementKernels, {}, replacement.path, kernels.size());
    return nullptr;
  }
  tt::FuncOp own = kernels.front();
  if (own.getArgumentTypes() == kernel.getArgumentTypes())
    return module;
  diagnostics.report(diag::ReplacementDiffers, {}, replacement.path, typesOf(own), kernel.getSymName(),
                     typesOf(kernel));
  return nullptr;
}

/// What the file is, where it is not code for the machine that defines `symbol`; else nothing.
static std::string faultOf(llvm::StringRef code, uint16_t machine, llvm::StringRef symbol) {
  if (!code.starts_with(llvm::StringRef(llvm::ELF::ElfMagic)))
    return "it is no ELF file";
  auto file = llvm::object::ObjectFile::createELFObjectFile({code, ""}, /*InitContent=*/true);
  if (!file)
    return llvm::toString(file.takeError());
  const auto &elf = llvm::cast<llvm::object::ELFObjectFileBase>(**file);
  if (elf.getEMachine() != machine)
    return "it is for another machine";
  const auto isSymbol = [&](const llvm::object::SymbolRef &each) {
    llvm::Expected<llvm::StringRef> name = each.getName();
    llvm::Expected<uint32_t> flags = each.getFlags();
    const bool isDefined = name && flags && !(*flags & llvm::object::SymbolRef::SF_Undefined);
    const bool isNamed = isDefined && *name == symbol;
    llvm::consumeError(name.takeError());
    llvm::consumeError(flags.takeError());
    return isNamed;
  };
  if (llvm::any_of(elf.symbols(), isSymbol) || llvm::any_of(elf.getDynamicSymbolIterators(), isSymbol))
    return "";
  return ("it does not define `" + symbol + "`").str();
}

bool driver::checkBinary(Compilation &work, const Request::Replacement &file, uint16_t machine) {
  const artifact::Artifact &artifact = work.result.artifact;
  const std::string fault = faultOf(file.text, machine, artifact.entry);
  if (fault.empty())
    return true;
  work.diagnostics.report(diag::ReplacementBinary, {}, file.path, file.stage, artifact.name, fault);
  return false;
}

mlir::OwningOpRef<mlir::ModuleOp> driver::declarationOf(mlir::ModuleOp written,
                                                        support::DiagnosticEngine &diagnostics) {
  tt::FuncOp kernel = kernelOf(written, diagnostics);
  if (!kernel)
    return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(written.getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  auto declared = llvm::cast<tt::FuncOp>(builder.insert(kernel->cloneWithoutRegions()));
  llvm::SmallVector<mlir::Location> locs;
  for (mlir::BlockArgument argument : kernel.getArguments())
    locs.push_back(argument.getLoc());
  builder.createBlock(&declared->getRegion(0), {}, kernel.getArgumentTypes(), locs);
  tt::ReturnOp::create(builder, kernel.getLoc(), mlir::ValueRange());
  return module;
}
