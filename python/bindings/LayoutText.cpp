// Formats linear layouts as tables of bases, of elements and of threads.
// SPDX-License-Identifier: MIT
#include "python/bindings/LayoutText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::python;
using layout::LinearLayout;
using Coordinates = LinearLayout::Coordinates;

static std::string joined(const Coordinates &values, const char *separator) {
  std::string text;
  for (auto [index, value] : llvm::enumerate(values))
    text += (index == 0 ? "" : separator) + std::to_string(value);
  return text;
}

std::string nereid::python::layoutText(const LinearLayout &layout) {
  if (layout.numInputs() == 0 && layout.numOutputs() == 0)
    return "\n(empty layout)";
  std::string text = "\n";
  for (llvm::StringRef in : layout.inputNames()) {
    if (layout.inBits(in) == 0)
      text += " - " + in.str() + " is a size 1 dimension\n";
    for (unsigned bit = 0; bit < layout.inBits(in); ++bit)
      text += (bit == 0 ? " - " : "   ") + in.str() + "=" + std::to_string(1 << bit) + " -> (" +
              joined(layout.basis(in, bit), ", ") + ")\n";
  }
  text += "where out dims are: [";
  for (auto [index, output] : llvm::enumerate(layout.outputs()))
    text += (index == 0 ? "" : ", ") + output.name + " (size " + std::to_string(output.size) + ")";
  return text + "]";
}

//--- Tables of elements --------------------------------------------------------------------------

/// The holders of each element, indexed with the last output running fastest.
using Holders = std::vector<std::vector<std::string>>;

/// The holders of one element, each padded to the widest of all.
static std::string cell(const std::vector<std::string> &holders, size_t width) {
  std::string text;
  for (const std::string &holder : holders)
    text += (text.empty() ? "" : "|") + std::string(width - holder.size(), ' ') + holder;
  return text;
}

/// Elements in nested brackets, a row of the last output per line.
static std::string bracketed(const LinearLayout &layout, const Holders &elements, const char *separator) {
  const auto outputs = layout.outputs();
  size_t width = 0;
  for (const std::vector<std::string> &holders : elements)
    for (const std::string &holder : holders)
      width = std::max(width, holder.size());
  std::string text;
  for (size_t number = 0; number < elements.size(); ++number) {
    size_t opened = 0, closed = 0; // brackets that open or close here
    uint64_t extent = 1;
    for (const LinearLayout::Output &output : llvm::reverse(outputs)) {
      extent *= output.size;
      opened += number % extent == 0;
      closed += (number + 1) % extent == 0;
    }
    if (opened > 0)
      text += std::string(opened, '[') + std::string(outputs.size() - opened, ' ');
    text += cell(elements[number], width) + (closed > 0 ? std::string(closed, ']') + "\n" : separator);
  }
  return text;
}

static void requireInputs(const LinearLayout &layout, std::initializer_list<llvm::StringRef> names) {
  for (llvm::StringRef name : names)
    if (!layout.hasInput(name))
      raise(PyExc_ValueError, "the view needs a layout with the input `" + name.str() + "`");
}

std::string nereid::python::sharedView(const LinearLayout &layout, bool byHardware) {
  requireInputs(layout, {layout::kOffset, layout::kBlock});
  const int32_t blocks = layout.inSize(layout::kBlock), offsets = layout.inSize(layout::kOffset);
  Holders elements(size_t(1) << layout.totalOutBits());
  std::string text;
  for (int32_t block = 0; block < blocks; ++block) {
    text += "Block: " + std::to_string(block) + ":\n";
    for (int32_t offset = 0; offset < offsets; ++offset) {
      const Coordinates at = layout.apply({{layout::kOffset, offset}, {layout::kBlock, block}});
      text += "Offset: " + std::to_string(offset) + " -> (" + joined(at, ",") + ")\n";
      elements[layout.applyFlat({{layout::kOffset, offset}, {layout::kBlock, block}})].push_back(
          "(" + (blocks > 1 ? std::to_string(block) + ":" : std::string()) + std::to_string(offset) + ")");
    }
  }
  return byHardware ? text : bracketed(layout, elements, ",");
}

std::string nereid::python::distributedView(const LinearLayout &layout, bool byHardware) {
  requireInputs(layout, {layout::kRegister, layout::kLane, layout::kWarp, layout::kBlock});
  const int32_t registers = layout.inSize(layout::kRegister), lanes = layout.inSize(layout::kLane),
                warps = layout.inSize(layout::kWarp), blocks = layout.inSize(layout::kBlock);
  Holders elements(size_t(1) << layout.totalOutBits());
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int32_t block = 0; block < blocks; ++block) {
    if (blocks > 1)
      stream << "Block" << block << ":\n";
    for (int32_t warp = 0; warp < warps; ++warp) {
      stream << "Warp" << warp << ":\n";
      for (int32_t reg = 0; reg < registers; ++reg)
        for (int32_t lane = 0; lane < lanes; ++lane) {
          const std::initializer_list<LinearLayout::Named> input = {
              {layout::kRegister, reg}, {layout::kLane, lane}, {layout::kWarp, warp}, {layout::kBlock, block}};
          stream << "(";
          const auto outputs = layout.outputs();
          for (auto [index, value] : llvm::enumerate(layout.apply(input)))
            stream << (index == 0 ? "" : ",")
                   << llvm::format_decimal(value, std::to_string(outputs[index].size - 1).size());
          stream << (lane + 1 < lanes ? "), " : ")\n");
          elements[layout.applyFlat(input)].push_back((blocks > 1 ? "B" + std::to_string(block) + ":" : std::string()) +
                                                      "T" + std::to_string(warp * lanes + lane) + ":" +
                                                      std::to_string(reg));
        }
    }
  }
  return byHardware ? text : bracketed(layout, elements, ", ");
}
