// Tests the parsing of assembler output; a stub for nvJitLink shows which tool runs with which options.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/PtxAssembler.h"

#include "compiler/lowering/asm/AssemblyLines.h"

#include "mlir/IR/MLIRContext.h"

#include "test/unit/target_nvidia/NamedArch.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nereid::nvidia {
namespace {

const Tools library = {.ptxas = "", .nvJitLink = NEREID_STUB_NVJITLINK};

/// A program that stands in for ptxas: it writes its arguments as the cubin, or fails with a text.
class FakePtxas {
public:
  explicit FakePtxas(const std::string &body)
      : path(std::filesystem::temp_directory_path() / ("ptxas" + std::to_string(getpid()))) {
    std::ofstream(path) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 97.2, V97'; exit 0; fi\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  ~FakePtxas() { std::filesystem::remove(path); }
  const std::filesystem::path path;
};

TEST(Assemble, ResourcesAreTheLargestOfAllFunctions) {
  Assembled result;
  readResources("ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
                "    16 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
                "ptxas info    : Used 14 registers, used 1 barriers, 368 bytes cmem[0]\n"
                "    8 bytes stack frame, 24 bytes spill stores, 0 bytes spill loads\n"
                "ptxas info    : Used 255 registers\n"
                "nothing of use, Used by nobody\n",
                result);
  EXPECT_EQ(result.registers, 255u);
  EXPECT_EQ(result.spillBytes, 24u);
  EXPECT_EQ(result.stackBytes, 16u);
  EXPECT_EQ(result.serialisationNote, "");
}

TEST(Assemble, WaitsForTheMatrixUnitAreKept) {
  Assembled result;
  readResources(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to x\n"
      "ptxas info    : (C7514) Potential Performance Loss: another\n",
      result);
  EXPECT_EQ(result.serialisationNote,
            "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to x");
}

TEST(Assemble, ErrorsHaveTheirLine) {
  const AssemblyError error =
      readError("ptxas info : fine\nptxas /proc/self/fd/3, line 81; error   : Unknown symbol 'x'\n");
  EXPECT_EQ(error.message, "Unknown symbol 'x'");
  EXPECT_EQ(error.line, 81u);
  EXPECT_EQ(readError("ptxas fatal   : Value 'x' is wrong").message, "Value 'x' is wrong");
  EXPECT_EQ(readError(" anything else \n").message, "anything else");
}

TEST(Assemble, NvJitLinkGetsTheGenerationAndTheOptions) {
  AssemblyError error;
  const auto made = assemble("// a kernel\n", arch("80"), library, "--maxrregcount=40  -v", error);
  ASSERT_TRUE(made) << error.message;
  EXPECT_EQ(made->cubin, "-arch=sm_80\n-lineinfo\n-verbose\n-O3\n-Xptxas=--maxrregcount=40\n-Xptxas=-v\n");
  EXPECT_EQ(made->tool, "nvjitlink");
  EXPECT_EQ(made->toolVersion, "98.7");
  EXPECT_EQ(made->registers, 40u);
  EXPECT_EQ(made->spillBytes, 8u);
}

TEST(Assemble, TheFirstToolIsTheCallersChoice) {
  AssemblyError error;
  const FakePtxas ptxas("cat /proc/self/fd/3 >&4\n");
  const Tools both = {ptxas.path, library.nvJitLink};
  const auto toolFor = [&](const char *ptx, const Tools &tools, FirstTool first) {
    const auto made = assemble(ptx, arch(), tools, "", error, first);
    return made ? made->tool : "none";
  };
  EXPECT_EQ(toolFor("// a kernel\n", both, FirstTool::NvJitLink), "nvjitlink");
  EXPECT_EQ(toolFor("// a kernel\n", both, FirstTool::Ptxas), "ptxas");
  EXPECT_EQ(toolFor("// a kernel\n", library, FirstTool::Ptxas), "nvjitlink") << "there is no ptxas";
  EXPECT_EQ(toolFor("// setmaxnreg\n", both, FirstTool::NvJitLink), "ptxas");
}

TEST(Assemble, WrongPtxIsAnErrorAndAnOldLibraryIsNot) {
  AssemblyError error;
  EXPECT_FALSE(assemble("// says: error : Unexpected instruction\n", arch(), library, "", error));
  EXPECT_EQ(error.message, "Unexpected instruction");
  const char *tooNew = "// says: fatal : Unsupported .version 9.0; current version is '8.4'\n";
  const auto byDriver = assemble(tooNew, arch(), library, "", error);
  ASSERT_TRUE(byDriver);
  EXPECT_EQ(byDriver->tool, "driver");
  const FakePtxas ptxas("cat /proc/self/fd/3 >&4; echo 'Used 20 registers'\n");
  const auto made = assemble(tooNew, arch(), {ptxas.path, library.nvJitLink}, "", error);
  ASSERT_TRUE(made) << error.message;
  EXPECT_EQ(made->tool, "ptxas");
  EXPECT_EQ(made->cubin, tooNew);
  EXPECT_EQ(made->registers, 20u);
}

TEST(Assemble, PtxasHasATimeLimit) {
  const FakePtxas ptxas("exec sleep 100\n");
  AssemblyError error;
  EXPECT_FALSE(assemble("x", arch(), {ptxas.path, "", /*secondsLimit=*/1}, "", error));
  EXPECT_TRUE(error.isLate);
}

TEST(Assemble, PtxasThatIsKilledIsAnError) {
  const FakePtxas ptxas("kill -9 $$\n");
  AssemblyError error;
  EXPECT_FALSE(assemble("x", arch(), {ptxas.path, ""}, "", error));
  EXPECT_NE(error.message.find("was ended by signal 9"), std::string::npos) << error.message;
}

TEST(Assemble, ProgramsThatDoNotStartAreAbsent) {
  AssemblyError error;
  const auto made = assemble("x", arch(), {"/no/such/ptxas", ""}, "", error);
  ASSERT_TRUE(made) << error.message;
  EXPECT_EQ(made->tool, "driver");
}

TEST(Assemble, OptionsGoToPtxasFirst) {
  const FakePtxas ptxas("echo \"$@\" >&4\n");
  const Tools both = {ptxas.path, library.nvJitLink};
  AssemblyError error;
  const auto usual = assemble("x", arch(), both, "", error), asked = assemble("x", arch(), both, "-O1 --def", error);
  ASSERT_TRUE(usual && asked);
  EXPECT_EQ(usual->tool, "nvjitlink");
  EXPECT_EQ(asked->tool, "ptxas");
  EXPECT_NE(asked->cubin.find(" -O1 --def\n"), std::string::npos) << asked->cubin;
}

TEST(Assemble, OptionsThatNobodyTakesAreAnError) {
  AssemblyError error;
  EXPECT_FALSE(assemble("x", arch(), {}, "-O1", error));
  EXPECT_FALSE(error.isRefusal) << error.message;
  EXPECT_FALSE(assemble("x", arch(), library, "--unknown", error));
  EXPECT_TRUE(assemble("x", arch(), {}, "", error));
}

TEST(Assemble, LibrariesThatAreNoneAreAbsent) {
  AssemblyError error;
  const auto made = assemble("x", arch(), {"", "/proc/self/exe"}, "", error);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->tool, "driver");
}

TEST(PtxLines, ALineIsWhatTheDirectiveBeforeItSays) {
  mlir::MLIRContext context;
  const mlir::Location otherwise = mlir::FileLineColLoc::get(&context, "kernel.py", 1, 1);
  const char *ptx = ".version 8.0\n"
                    "\t.loc\t1 14 24\n"
                    "\tadd.s32 %r1, %r2, %r3;\n"
                    "\t.loc\t2 7 3, function_name $L__info, inlined_at 1 20 5\n"
                    "\tmul.lo.s32 %r4, %r1, %r1;\n"
                    "\t.loc\t2 0 3\n"
                    "\tret;\n"
                    "\t.file\t1 \"/folder/kernel.py\"\n"
                    "\t.file\t2 \"/folder/other.py\"\n";
  auto at = [&](const char *file, unsigned line, unsigned column) {
    return mlir::Location(mlir::FileLineColLoc::get(&context, file, line, column));
  };
  EXPECT_EQ(lowering::locationOfLine(ptx, 3, otherwise), at("/folder/kernel.py", 14, 24));
  EXPECT_EQ(lowering::locationOfLine(ptx, 5, otherwise), at("/folder/other.py", 7, 3));
  EXPECT_EQ(lowering::locationOfLine(ptx, 7, otherwise), at("/folder/other.py", 7, 3)); // line 0 is not a source line
  EXPECT_EQ(lowering::locationOfLine(ptx, 1, otherwise), otherwise);
  EXPECT_EQ(lowering::locationOfLine(ptx, 0, otherwise), otherwise);
  EXPECT_EQ(lowering::locationOfLine("no directive", 1, otherwise), otherwise);
}

} // namespace
} // namespace nereid::nvidia
