// Parses layout text recursively; slices nest at most a few levels deep.
// SPDX-License-Identifier: MIT
//
//   layout := `#ttg.`? name open key `=` value (`,` key `=` value)* close      open, close: `(` `)` or `<{` `}>`
//   value  := number | `[` value, ... `]` | layout
#include "tools/nereid-layout/LayoutText.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <memory>

using namespace nereid;
using layout::LinearLayout;

namespace {

struct Node;

/// A number, a list or a nested layout.
struct Value {
  int64_t number = 0;
  bool isNumber = false;
  std::vector<Value> list;
  std::shared_ptr<Node> node;
};

struct Node {
  std::string name;
  std::map<std::string, Value> fields;
};

class Reader {
public:
  explicit Reader(llvm::StringRef text) : whole(text), rest(text) {}

  std::optional<Node> readAll() {
    std::optional<Node> node = readNode(0);
    if (node && !(rest = rest.ltrim()).empty())
      return fail("nothing more is expected");
    return node;
  }
  std::string reason;

private:
  std::nullopt_t fail(llvm::StringRef what) {
    if (reason.empty())
      reason = "at column " + std::to_string(whole.size() - rest.size() + 1) + ": " + what.str();
    return std::nullopt;
  }

  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::string readName() {
    rest = rest.ltrim();
    const llvm::StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    return name.str();
  }

  std::optional<Node> readNode(unsigned depth) {
    if (depth > 16)
      return fail("layouts nest too deep");
    take("#ttg.");
    Node node;
    node.name = readName();
    if (node.name.empty())
      return fail("a layout's name is expected, as in `blocked(...)`");
    const bool isAttribute = take("<{");
    if (!isAttribute && !take("("))
      return fail("`(` is expected");
    const llvm::StringRef close = isAttribute ? "}>" : ")";
    if (take(close))
      return node;
    do {
      const std::string key = readName();
      if (key.empty() || !take("="))
        return fail("`key = value` is expected");
      std::optional<Value> value = readValue(depth);
      if (!value)
        return std::nullopt;
      if (!node.fields.emplace(key, std::move(*value)).second)
        return fail("`" + key + "` is given twice");
    } while (take(","));
    if (!take(close))
      return fail(close == ")" ? "`,` or `)` is expected" : "`,` or `}>` is expected");
    return node;
  }

  std::optional<Value> readValue(unsigned depth) {
    if (depth > 16)
      return fail("values nest too deep");
    Value value;
    if (take("[")) {
      if (take("]"))
        return value;
      do {
        std::optional<Value> element = readValue(depth + 1);
        if (!element)
          return std::nullopt;
        value.list.push_back(std::move(*element));
      } while (take(","));
      if (!take("]"))
        return fail("`,` or `]` is expected");
      return value;
    }
    rest = rest.ltrim();
    if (!rest.empty() && (llvm::isDigit(rest.front()) || rest.front() == '-')) {
      if (rest.consumeInteger(10, value.number))
        return fail("a number is expected");
      value.isNumber = true;
      return value;
    }
    std::optional<Node> node = readNode(depth + 1);
    if (!node)
      return std::nullopt;
    value.node = std::make_shared<Node>(std::move(*node));
    return value;
  }

  llvm::StringRef whole, rest;
};

/// Builds layouts from parsed text; the first error is kept.
class Builder {
public:
  std::optional<LinearLayout> build(const Node &node, llvm::ArrayRef<int64_t> shape) {
    if (node.name == "blocked")
      return blocked(node, shape);
    if (node.name == "slice")
      return slice(node, shape);
    if (node.name == "linear")
      return linear(node, shape);
    return fail("there is no layout `" + node.name + "`; there are blocked, slice, linear");
  }
  std::string reason;

private:
  std::nullopt_t fail(const std::string &what) {
    if (reason.empty())
      reason = what;
    return std::nullopt;
  }

  bool hasOnly(const Node &node, llvm::ArrayRef<llvm::StringRef> keys) {
    for (const auto &[key, value] : node.fields)
      if (!llvm::is_contained(keys, key)) {
        fail("`" + node.name + "` has no `" + key + "`");
        return false;
      }
    return true;
  }

  /// One number per dimension.
  std::optional<llvm::SmallVector<unsigned, 4>> numbers(const Node &node, llvm::StringRef key, size_t rank) {
    const auto field = node.fields.find(key.str());
    if (field == node.fields.end())
      return fail("`" + node.name + "` needs `" + key.str() + "`");
    llvm::SmallVector<unsigned, 4> result;
    for (const Value &value : field->second.list)
      if (value.isNumber && value.number >= 0 && value.number <= 1 << 30)
        result.push_back(value.number);
    if (result.size() != rank || field->second.list.size() != rank)
      return fail("`" + key.str() + "` must be a list of " + std::to_string(rank) + " numbers");
    return result;
  }

  std::optional<LinearLayout> blocked(const Node &source, llvm::ArrayRef<int64_t> shape) {
    Node node = source;
    if (auto capital = node.fields.find("warpsPerCTA"); capital != node.fields.end())
      node.fields.emplace("warpsPerCta", capital->second);
    if (!hasOnly(node, {"sizePerThread", "threadsPerWarp", "warpsPerCta", "warpsPerCTA", "order"}))
      return std::nullopt;
    const auto size = numbers(node, "sizePerThread", shape.size()),
               threads = numbers(node, "threadsPerWarp", shape.size()),
               warps = numbers(node, "warpsPerCta", shape.size()), order = numbers(node, "order", shape.size());
    if (!size || !threads || !warps || !order)
      return std::nullopt;
    unsigned bits = 0;
    for (const auto *extents : {&*size, &*threads, &*warps})
      for (unsigned extent : *extents) {
        if (!llvm::isPowerOf2_32(extent))
          return fail("an extent is " + std::to_string(extent) + "; it must be a power of two");
        bits += llvm::Log2_32(extent);
      }
    if (bits > 30)
      return fail("the layout has more than 2^30 entries");
    llvm::SmallVector<unsigned, 4> sorted = *order;
    llvm::sort(sorted);
    for (unsigned dim = 0; dim < sorted.size(); ++dim)
      if (sorted[dim] != dim)
        return fail("`order` must name each dimension once");
    return layout::blockedLayout(*size, *threads, *warps, *order, shape);
  }

  std::optional<LinearLayout> slice(const Node &node, llvm::ArrayRef<int64_t> shape) {
    if (!hasOnly(node, {"dim", "parent"}))
      return std::nullopt;
    const auto dim = node.fields.find("dim"), parent = node.fields.find("parent");
    if (dim == node.fields.end() || !dim->second.isNumber || dim->second.number < 0 ||
        dim->second.number > int64_t(shape.size()))
      return fail("`dim` must be a number from 0 to " + std::to_string(shape.size()));
    if (parent == node.fields.end() || !parent->second.node)
      return fail("`slice` needs `parent`, a layout");
    llvm::SmallVector<int64_t, 4> parentShape(shape);
    parentShape.insert(parentShape.begin() + dim->second.number, 1);
    const std::optional<LinearLayout> whole = build(*parent->second.node, parentShape);
    if (!whole)
      return std::nullopt;
    return layout::sliceLayout(*whole, dim->second.number);
  }

  std::optional<LinearLayout> linear(const Node &node, llvm::ArrayRef<int64_t> shape) {
    if (!hasOnly(node, {"register", "lane", "warp", "block"}))
      return std::nullopt;
    std::vector<LinearLayout::Input> inputs;
    // Bases may exceed the shape: they wrap around, as a blocked layout's do.
    llvm::SmallVector<int32_t, 4> largest(shape.size(), 0);
    for (llvm::StringRef name : {"register", "lane", "warp", "block"}) {
      LinearLayout::Input &input = inputs.emplace_back();
      input.name = name.str();
      const auto field = node.fields.find(input.name);
      if (field == node.fields.end())
        continue;
      for (const Value &basis : field->second.list) {
        LinearLayout::Coordinates &coordinates = input.bases.emplace_back();
        for (const Value &value : basis.list)
          coordinates.push_back(value.isNumber && value.number >= 0 && value.number < 1 << 30 ? value.number : -1);
        if (coordinates.size() != shape.size() || llvm::is_contained(coordinates, -1))
          return fail("a basis of `" + input.name + "` must be a list of " + std::to_string(shape.size()) + " numbers");
        for (auto [most, value] : llvm::zip(largest, coordinates))
          most = std::max(most, value);
      }
    }
    std::vector<LinearLayout::Output> outputs;
    llvm::SmallVector<unsigned, 4> order;
    for (auto [dim, most] : llvm::enumerate(largest)) {
      outputs.push_back({layout::dimName(dim), int32_t(llvm::PowerOf2Ceil(uint64_t(most) + 1))});
      order.insert(order.begin(), dim);
    }
    std::optional<LinearLayout> layout = LinearLayout::tryFromBases(inputs, outputs, reason);
    if (!layout)
      return std::nullopt;
    layout = layout::fitToShape(*layout, order, shape);
    return layout->isSurjective() ? layout : fail("the bases do not reach every element");
  }
};

} // namespace

std::optional<LinearLayout> tools::parseLayout(llvm::StringRef text, llvm::ArrayRef<int64_t> shape,
                                               std::string &reason) {
  Reader reader(text);
  const std::optional<Node> node = reader.readAll();
  if (!node) {
    reason = reader.reason;
    return std::nullopt;
  }
  Builder builder;
  std::optional<LinearLayout> layout = builder.build(*node, shape);
  reason = builder.reason;
  return layout;
}

std::optional<llvm::SmallVector<int64_t, 4>> tools::parseShape(llvm::StringRef text, std::string &reason) {
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  text.split(parts, 'x');
  unsigned bits = 0;
  for (llvm::StringRef part : parts) {
    int64_t extent = 0;
    if (part.getAsInteger(10, extent) || extent <= 0 || !llvm::isPowerOf2_64(extent)) {
      reason = "a shape is extents that are powers of two, as in `16x64`; this one is `" + text.str() + "`";
      return std::nullopt;
    }
    bits += llvm::Log2_64(extent);
    shape.push_back(extent);
  }
  if (bits > 20 || shape.size() > 16) {
    reason = "a shape of at most 2^20 elements and 16 dimensions can be shown";
    return std::nullopt;
  }
  return shape;
}
