// Translates MLIR locations to LLVM debug locations (line tables).
// SPDX-License-Identifier: MIT
#include "compiler/lowering/DebugInfo.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nereid::lowering;

FileLineColRange nereid::lowering::sourcePosition(Location location) {
  // Names wrap positions; call sites name the callee's position first; fused locations hold several.
  if (auto range = dyn_cast<FileLineColRange>(location))
    return range;
  if (auto named = dyn_cast<NameLoc>(location))
    return sourcePosition(named.getChildLoc());
  if (auto site = dyn_cast<CallSiteLoc>(location))
    return sourcePosition(site.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      if (auto found = sourcePosition(inner))
        return found;
  return {};
}

/// The call site of a location, found through names and fusions.
static CallSiteLoc callSite(Location location) {
  if (auto site = dyn_cast<CallSiteLoc>(location))
    return site;
  if (auto named = dyn_cast<NameLoc>(location))
    return callSite(named.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      if (auto found = callSite(inner))
        return found;
  return {};
}

llvm::DIFile *DebugInfo::fileOf(llvm::StringRef path) {
  llvm::DIFile *&file = files[path];
  if (!file)
    file = builder->createFile(llvm::sys::path::filename(path), llvm::sys::path::parent_path(path));
  return file;
}

llvm::DISubprogram *DebugInfo::subprogram(llvm::StringRef name, llvm::StringRef path, unsigned line) {
  llvm::DIFile *file = fileOf(path);
  auto *type = builder->createSubroutineType(builder->getOrCreateTypeArray({}));
  return builder->createFunction(file, name, name, file, line, type, line, llvm::DINode::FlagZero,
                                 llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
}

void DebugInfo::describeUnit(llvm::StringRef path) {
  builder = std::make_unique<llvm::DIBuilder>(module);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  unit = builder->createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C), fileOf(path), "nereid",
                                    /*isOptimized=*/true, "", 0, "", kind);
}

void DebugInfo::begin(llvm::Function &function, Location location) {
  known.clear();
  scope = nullptr;
  FileLineColRange position = sourcePosition(location);
  if (!position)
    return;
  if (!builder)
    describeUnit(position.getFilename());
  scope = subprogram(function.getName(), position.getFilename().getValue(), position.getStartLine());
  function.setSubprogram(scope);
}

llvm::DILocation *DebugInfo::locate(Location location, llvm::DILocation *inlinedAt) {
  if (CallSiteLoc site = callSite(location)) {
    llvm::DILocation *caller = locate(site.getCaller(), inlinedAt);
    FileLineColRange callee = sourcePosition(site.getCallee());
    // Directives alone cannot tell of inlined calls: what a library function does is at the line that calls it.
    const bool hasNoCalls = kind == llvm::DICompileUnit::DebugEmissionKind::DebugDirectivesOnly;
    if (!callee || !caller || (hasNoCalls && callee.getFilename().strref().starts_with("<nereid>/")))
      return caller;
    llvm::DISubprogram *&function = inlined[callee.getFilename().getValue()];
    if (!function)
      function = subprogram("inlined", callee.getFilename().getValue(), callee.getStartLine());
    return llvm::DILocation::get(module.getContext(), callee.getStartLine(), callee.getStartColumn(), function, caller);
  }
  FileLineColRange position = sourcePosition(location);
  if (!position)
    return nullptr;
  llvm::DIScope *lexicalScope = scope;
  if (fileOf(position.getFilename()) != scope->getFile())
    lexicalScope = builder->createLexicalBlockFile(scope, fileOf(position.getFilename()));
  return llvm::DILocation::get(module.getContext(), position.getStartLine(), position.getStartColumn(), lexicalScope,
                               inlinedAt);
}

void DebugInfo::setLocation(llvm::IRBuilderBase &ir, Location location) {
  if (!scope)
    return;
  auto [entry, isNew] = known.try_emplace(LocationAttr(location), nullptr);
  if (isNew)
    entry->second = locate(location, nullptr);
  if (!entry->second) // a position unknown inside a described function is line 0
    entry->second = llvm::DILocation::get(module.getContext(), 0, 0, scope);
  ir.SetCurrentDebugLocation(entry->second);
}

void DebugInfo::finish() {
  if (builder)
    builder->finalize();
}
