// Assembles AMD's assembly in this process.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/codegen/Codegen.h"

#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;

/// Keeps the first error.
static void keepError(const llvm::SMDiagnostic &diagnostic, void *first) {
  auto &error = *static_cast<amd::AssemblyError *>(first);
  if (error.line || diagnostic.getKind() != llvm::SourceMgr::DK_Error)
    return;
  error.line = diagnostic.getLineNo();
  error.text = diagnostic.getMessage().str() + ": " + diagnostic.getLineContents().trim().str();
}

std::vector<char> amd::assemble(llvm::StringRef text, const llvm::TargetMachine &machine, AssemblyError &error) {
  const llvm::Target &target = machine.getTarget();
  const llvm::Triple &triple = machine.getTargetTriple();
  llvm::SourceMgr sources;
  sources.setDiagHandler(keepError, &error);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "kernel.s"), llvm::SMLoc());
  const llvm::MCTargetOptions options;
  const std::unique_ptr<llvm::MCRegisterInfo> registers(target.createMCRegInfo(triple));
  const std::unique_ptr<llvm::MCAsmInfo> syntax(target.createMCAsmInfo(*registers, triple, options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(target.createMCInstrInfo());
  const std::unique_ptr<llvm::MCSubtargetInfo> processor(
      target.createMCSubtargetInfo(triple, machine.getTargetCPU(), machine.getTargetFeatureString()));
  llvm::MCContext context(triple, syntax.get(), registers.get(), processor.get(), &sources, &options);
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  std::unique_ptr<llvm::MCAsmBackend> backend(target.createMCAsmBackend(*processor, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  const std::unique_ptr<llvm::MCStreamer> object(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::unique_ptr<llvm::MCCodeEmitter>(target.createMCCodeEmitter(*instructions, context)), *processor));
  const std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *object, *syntax));
  const std::unique_ptr<llvm::MCTargetAsmParser> statements(
      target.createMCAsmParser(*processor, *parser, *instructions, options));
  parser->setTargetParser(*statements);
  if (parser->Run(/*NoInitialTextSection=*/false) || error.line)
    return {};
  return {bytes.begin(), bytes.end()};
}
