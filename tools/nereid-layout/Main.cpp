// `nereid-layout`: shows a layout's table, draws it, and prints how a tile would be converted or reduced.
// SPDX-License-Identifier: MIT
#include "tools/nereid-layout/Drawing.h"
#include "tools/nereid-layout/LayoutText.h"
#include "tools/nereid-layout/PlanText.h"

#include <CLI/CLI.hpp>

using namespace nereid;
using layout::LinearLayout;

namespace {
struct Arguments {
  std::string layout, shape, svgFile, htmlFile, target;
  bool threads = false, bases = false;
  int reduceAxis = -1;
  unsigned elemBits = 32;
  bool hasMatrices = false;

  bool wantsTable() const {
    return svgFile.empty() && htmlFile.empty() && target.empty() && !threads && !bases && reduceAxis < 0;
  }
};
} // namespace

static int fail(const std::string &what) {
  llvm::errs() << "nereid-layout: error: " << what << "\n";
  return 2;
}

static int writeFile(const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (path.empty())
    return 0;
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    write(file);
    file.close();
    code = file.error();
    file.clear_error();
  }
  return code ? fail("cannot write " + path + ": " + code.message()) : 0;
}

static int showConversion(const LinearLayout &layout, llvm::ArrayRef<int64_t> shape, const Arguments &arguments) {
  std::string reason;
  const std::optional<LinearLayout> target = tools::parseLayout(arguments.target, shape, reason);
  if (!target)
    return fail("--convert: " + reason);
  for (llvm::StringRef in : {"lane", "warp"})
    if (target->inSize(in) != layout.inSize(in))
      return fail("the layouts have " + std::to_string(layout.inSize(in)) + " and " +
                  std::to_string(target->inSize(in)) + " " + in.str() + "s; they must agree");
  layout::SwizzleOptions options;
  options.hasLdmatrix = options.hasStmatrix = arguments.hasMatrices;
  tools::printConversion(layout, *target, arguments.elemBits, options, llvm::outs());
  return 0;
}

static int run(const Arguments &arguments) {
  std::string reason;
  const auto shape = tools::parseShape(arguments.shape, reason);
  if (!shape)
    return fail(reason);
  const std::optional<LinearLayout> layout = tools::parseLayout(arguments.layout, *shape, reason);
  if (!layout)
    return fail(reason);
  if (arguments.reduceAxis >= int(shape->size()))
    return fail("--reduce: there is no dimension " + std::to_string(arguments.reduceAxis));
  int code = writeFile(arguments.svgFile, [&](llvm::raw_ostream &os) { tools::drawSvg(*layout, os); });
  if (!code)
    code = writeFile(arguments.htmlFile, [&](llvm::raw_ostream &os) {
      tools::drawHtml(*layout, arguments.layout + " of " + arguments.shape, os);
    });
  if (code)
    return code;
  if (arguments.bases)
    llvm::outs() << layout->toString() << "\n";
  if (arguments.threads)
    tools::printThreads(*layout, llvm::outs());
  if (arguments.wantsTable())
    tools::printElements(*layout, llvm::outs());
  if (arguments.reduceAxis >= 0)
    tools::printReduction(*layout, arguments.reduceAxis, arguments.elemBits, llvm::outs());
  return arguments.target.empty() ? 0 : showConversion(*layout, *shape, arguments);
}

int main(int argc, char **argv) {
  CLI::App app{"Shows which thread holds which element of a tile.", "nereid-layout"};
  app.footer("LAYOUT is blocked(sizePerThread=[1,4], threadsPerWarp=[8,4], warpsPerCta=[4,1], order=[1,0]),\n"
             "slice(dim=1, parent=LAYOUT), linear(register=[[0,1]], lane=[...], warp=[...]),\n"
             "or the same as an attribute of ttg.");
  Arguments arguments;
  app.add_option("layout", arguments.layout, "LAYOUT")->required();
  app.add_option("shape", arguments.shape, "the tile's extents, as in 16x64")->required();
  app.add_flag("--threads", arguments.threads, "list the elements of each thread");
  app.add_flag("--bases", arguments.bases, "print the layout's bases");
  app.add_option("--svg", arguments.svgFile, "draw the tile into a file");
  app.add_option("--html", arguments.htmlFile, "draw the tile into a page");
  app.add_option("--convert", arguments.target, "print the plan of a conversion to this layout");
  app.add_option("--reduce", arguments.reduceAxis, "print the plan of a reduction along this dimension");
  app.add_option("--elem-bits", arguments.elemBits, "an element's bits, for plans")
      ->check(CLI::Range(1, 128))
      ->capture_default_str();
  app.add_flag("--matrices", arguments.hasMatrices, "plan conversions with ldmatrix and stmatrix");
  CLI11_PARSE(app, argc, argv);
  return run(arguments);
}
