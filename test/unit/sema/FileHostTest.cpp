// Tests kernel files: their names' meanings, and their lifetime, which is that of host, functions and messages.
// SPDX-License-Identifier: MIT
#include "compiler/sema/FileHost.h"

#include "gtest/gtest.h"

using namespace nereid;

static const char text[] = "import triton\n\n\n@triton.jit\ndef helper(x):\n    return x\n\n\n"
                           "@triton.jit\ndef kernel(x_ptr, n):\n    helper(n)\n";

TEST(FileHost, a_file_goes_with_the_host_and_the_functions_that_it_gave) {
  std::weak_ptr<support::SourceFile> file;
  std::shared_ptr<sema::JitFunction> kernel;
  {
    support::DiagnosticEngine diagnostics;
    auto host = sema::FileHost::fromText("kernel.py", text, diagnostics);
    ASSERT_TRUE(host) << diagnostics.render();
    kernel = host->function("kernel");
    ASSERT_TRUE(kernel);
    ASSERT_TRUE(std::holds_alternative<sema::Value>(*host->lookup(*kernel, "helper")));
    file = kernel->file;
  }
  EXPECT_FALSE(file.expired());
  EXPECT_EQ(kernel->definition->name, "kernel");
  kernel.reset();
  EXPECT_TRUE(file.expired());
}

TEST(FileHost, messages_of_a_file_that_is_refused_can_be_shown) {
  support::DiagnosticEngine diagnostics;
  EXPECT_FALSE(sema::FileHost::fromText("kernel.py", "import triton\ndef kernel(x:\n    pass\n", diagnostics));
  const std::string shown = diagnostics.render();
  EXPECT_NE(shown.find("kernel.py:2:"), std::string::npos) << shown;
  EXPECT_NE(shown.find("\ndef kernel(x:\n"), std::string::npos) << shown;
}

TEST(FileHost, messages_about_a_function_outlive_the_host) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText("kernel.py", text, diagnostics);
  ASSERT_TRUE(host) << diagnostics.render();
  static constexpr support::DiagnosticKind kind = {"Test", "test", "about {0}", support::Severity::Error,
                                                   support::PythonError::ValueError};
  {
    std::shared_ptr<sema::JitFunction> kernel = host->function("kernel");
    diagnostics.report(kind, {kernel->file.get(), kernel->definition->nameRange}, "the kernel");
  }
  host.reset();
  EXPECT_EQ(diagnostics.render(), "kernel.py:10:5: error: about the kernel [test]\n"
                                  "def kernel(x_ptr, n):\n"
                                  "    ^~~~~~\n");
}

static std::string numbersOf(sema::FileHost &host, std::initializer_list<const char *> names) {
  std::string text;
  std::shared_ptr<sema::JitFunction> kernel = host.function("kernel");
  for (const char *name : names) {
    std::optional<sema::HostResult> found = host.lookup(*kernel, name);
    auto *value = found ? std::get_if<sema::Value>(&*found) : nullptr;
    text += value ? value->repr() : found ? std::get<sema::HostError>(*found).message : "nothing";
    text += " ";
  }
  return text;
}

TEST(FileHost, an_if_leaves_the_names_that_it_does_not_bind_alone) {
  static constexpr llvm::StringLiteral head = "import triton\nimport triton.language as tl\nFLAG = tl.constexpr(1)\n"
                                              "Z = tl.constexpr(FLAG)\nif Z:\n    ";
  for (llvm::StringRef body : {"OTHER = tl.constexpr(3)", "import other", "from math import *", "class C: pass",
                               "def f(): pass", "from other import a as b"})
    for (const char *first : {"tl", "FLAG", "Z"}) {
      support::DiagnosticEngine diagnostics;
      auto host = sema::FileHost::fromText(
          "kernel.py", (head + body + "\n@triton.jit\ndef kernel(x):\n    pass\n").str(), diagnostics);
      ASSERT_TRUE(host) << diagnostics.render();
      numbersOf(*host, {first});
      EXPECT_EQ(numbersOf(*host, {"FLAG", "Z"}), "1 1 ") << body.str() << ", after " << first;
    }
}

TEST(FileHost, an_if_binds_names_of_the_branch_that_its_test_chooses) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText("kernel.py",
                                       "import triton\nimport triton.language as tl\nOFF = tl.constexpr(0)\n"
                                       "A = tl.constexpr(5)\nif OFF:\n    A = B = tl.constexpr(1)\n"
                                       "else:\n    B, C = tl.constexpr(2), tl.constexpr(3)\n"
                                       "@triton.jit\ndef kernel(x):\n    pass\n",
                                       diagnostics);
  ASSERT_TRUE(host) << diagnostics.render();
  EXPECT_EQ(numbersOf(*host, {"A", "B", "C"}), "5 2 3 ");
}

/// The value of `X` after these statements.
static std::string valueOfX(llvm::StringRef statements) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText(
      "kernel.py",
      ("import triton\nimport triton.language as tl\n" + statements + "\n@triton.jit\ndef kernel(x):\n    pass\n")
          .str(),
      diagnostics);
  return host ? numbersOf(*host, {"X"}) : diagnostics.render();
}

TEST(FileHost, a_statement_that_reads_the_name_it_binds_takes_the_meaning_before_it) {
  EXPECT_EQ(valueOfX("X = 16\nif X > 8:\n    X = tl.constexpr(8)"), "8 ");
  EXPECT_EQ(valueOfX("X = 4\nif X > 8:\n    X = tl.constexpr(8)\nelse:\n    X = tl.constexpr(X + 1)"), "5 ");
  EXPECT_EQ(valueOfX("X = 4\nif X > 8:\n    X = 8\nelif X > 2:\n    X = 3\nX = tl.constexpr(X)"), "3 ");
  EXPECT_EQ(valueOfX("X = 2\nX += 3\nX = tl.constexpr(X * 2)"), "10 ");
  EXPECT_EQ(valueOfX("X = tl.constexpr(1)\nX = tl.constexpr(X + 1)\nX = tl.constexpr(X + 1)"), "3 ");
  EXPECT_EQ(valueOfX("Y = 3\nX = Y\nif X == Y:\n    X = tl.constexpr(X + Y)"), "6 ");
  EXPECT_EQ(valueOfX("with open('f') as f:\n    X = tl.constexpr(7)"), "7 ");
  EXPECT_EQ(valueOfX("try:\n    import triton\n    X = tl.constexpr(1)\nexcept ImportError:\n    X = tl.constexpr(2)"),
            "1 ");
  EXPECT_EQ(valueOfX("X = X"), "`X` is defined by itself ");
}

TEST(FileHost, many_statements_that_read_the_name_they_bind_take_no_time) {
  std::string text = "X = 0\n";
  for (int i = 0; i < 60; ++i)
    text += "if X >= 0:\n    X = X + 1\n";
  EXPECT_EQ(valueOfX(text + "X = tl.constexpr(X)"), "60 ");
}

TEST(FileHost, statements_that_need_python_are_named) {
  auto says = [](llvm::StringRef statements, llvm::StringRef part) {
    const std::string text = valueOfX(statements);
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("which needs Python"), std::string::npos) << text;
  };
  says("X = 1\nfor i in range(3):\n    X = X * 2", "`X` is assigned by the loop at kernel.py:4");
  says("X = 1\nwhile X < 9:\n    X += 1", "`X` is assigned by the loop at kernel.py:4");
  says("X = tl.constexpr(1)\ndel X", "`X` is deleted by the statement at kernel.py:4");
  says("X = [1, 2]\nX[0] = 5", "`X` is changed by the assignment at kernel.py:4");
  says("import os\nX = tl.constexpr(1)\nif os.environ:\n    X = tl.constexpr(2)",
       "`X` depends on the condition of the `if` at kernel.py:5");
  says("try:\n    import apex\n    X = tl.constexpr(1)\nexcept ImportError:\n    X = tl.constexpr(2)",
       "`X` depends on an import in the `try` at kernel.py:3");
}
