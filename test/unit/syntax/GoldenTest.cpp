// Compares trees and messages with test/golden/syntax: each section of a .in file has a section in its .out file.
// SPDX-License-Identifier: MIT
//
// A line `#---` ends a section. With NEREID_UPDATE_GOLDEN=1 in the environment the .out files are written instead.
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace nereid;

static constexpr llvm::StringLiteral separator = "#---\n";

// The nearest folder at or above `start` with the golden files; empty where there is none.
static std::string goldenFolderAbove(llvm::StringRef start) {
  for (; !start.empty(); start = llvm::sys::path::parent_path(start)) {
    llvm::SmallString<128> folder = start;
    llvm::sys::path::append(folder, "test", "golden", "syntax");
    if (llvm::sys::fs::is_directory(folder))
      return std::string(folder);
  }
  return {};
}

// The program is in the build folder of the tree, or is started inside of the tree.
static std::string goldenFolder() {
  static int anchor;
  llvm::SmallString<128> start(llvm::sys::fs::getMainExecutable(nullptr, &anchor));
  if (std::string folder = goldenFolderAbove(start); !folder.empty())
    return folder;
  if (llvm::sys::fs::current_path(start))
    return {};
  return goldenFolderAbove(start);
}

static std::vector<std::string> goldenFiles(llvm::StringRef extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(goldenFolder(), error), end; it != end && !error; it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(extension))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

static std::string readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

// The tree, or the messages where the section has errors.
static std::string parseSection(llvm::StringRef section) {
  support::SourceFile file("k.py", section.str());
  syntax::AstContext context;
  support::DiagnosticEngine diagnostics;
  std::string result;
  llvm::raw_string_ostream os(result);
  if (const syntax::Module *module = syntax::parseModule(file, context, diagnostics))
    syntax::print(*module, os);
  EXPECT_NE(result.empty(), diagnostics.all().empty()) << "neither or both of tree and messages";
  return result + diagnostics.render();
}

static std::string parseSections(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> sections;
  text.split(sections, separator);
  return llvm::join(llvm::map_range(sections, parseSection), separator);
}

TEST(SyntaxGolden, TreesAndMessages) {
  std::vector<std::string> inputs = goldenFiles(".in");
  ASSERT_FALSE(inputs.empty()) << "no golden files in " << goldenFolder();
  for (const std::string &input : inputs) {
    llvm::SmallString<128> output(input);
    llvm::sys::path::replace_extension(output, "out");
    std::string actual = parseSections(readFile(input));
    if (std::getenv("NEREID_UPDATE_GOLDEN")) {
      std::error_code error;
      llvm::raw_fd_ostream(output, error) << actual;
      ASSERT_FALSE(error) << error.message();
    }
    EXPECT_EQ(actual, readFile(output)) << input;
  }
}

TEST(SyntaxGolden, SectionsThatFailAreNamedSo) {
  for (const std::string &output : goldenFiles(".out")) {
    bool shouldFail = llvm::sys::path::filename(output).starts_with("fail_");
    std::string text = readFile(output);
    llvm::SmallVector<llvm::StringRef> sections;
    llvm::StringRef(text).split(sections, separator);
    for (llvm::StringRef section : sections)
      EXPECT_EQ(section.starts_with("(Module"), !shouldFail) << output << "\n" << section.str();
  }
}

// LimitsTest.cpp tests those that a text file cannot represent.
TEST(SyntaxGolden, EveryCodeIsTested) {
  llvm::StringSet<> inLimitsTest;
  inLimitsTest.insert_range(llvm::ArrayRef<llvm::StringRef>{
      "text-too-long", "nul-byte", "invalid-utf8", "too-many-errors", "number-too-long", "expression-too-deep",
      "expression-too-long", "block-too-deep", "expected-function", "text-after-function"});
  std::string all;
  for (const std::string &output : goldenFiles(".out"))
    all += readFile(output);
  static const support::DiagnosticKind *kinds[] = {
#define DIAG(name, severity, code, format, pythonError) &syntax::diag::name,
#include "compiler/syntax/Diagnostics.def"
  };
  for (const support::DiagnosticKind *kind : kinds) {
    bool isGolden = llvm::StringRef(all).contains(("[" + kind->code + "]\n").str());
    EXPECT_NE(isGolden, inLimitsTest.contains(kind->code)) << kind->code.str();
  }
}
