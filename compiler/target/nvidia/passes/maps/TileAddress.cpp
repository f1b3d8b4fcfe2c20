// Splits the affine form of a tile's pointers into dimensions of an array.
//
//   p + row * stride + column + program * pitch   ->   dimensions: columns, rows of `stride`, slices of `pitch`
//
// A term with factors that the host knows is a coordinate along the dimension with these factors as its stride; what
// remains of it is known to the program alone. Masks give extents.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/TileAddress.h"

#include "compiler/analysis/PointerBases.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using artifact::LaunchOp;
using index::AffineForm;
using index::Polynomial;

static constexpr unsigned kMostDims = 5;
/// A constant multiple beyond this is a dimension of its own, so that coordinates stay small.
static constexpr int64_t kLargeMultiple = 1 << 16;

namespace {
class AddressReader {
public:
  AddressReader(tt::LoadOp load, KernelTiles &tiles, std::string &reason)
      : load(load), tile(cast<RankedTensorType>(load.getPtr().getType())), tiles(tiles), reason(reason),
        elemBytes(tt::storageBytes(getElementTypeOrSelf(load.getType()))) {}

  std::optional<TileAddress> read();

private:
  /// A dimension while its terms are collected; strides are in elements.
  struct Dim {
    Polynomial stride, coordinate;
    std::optional<Polynomial> extent;
  };

  bool fail(const char *why) {
    reason = why;
    return false;
  }
  bool chooseDims(const AffineForm &form);
  bool split(const Polynomial &start);
  bool addTerm(Dim &dim, const Polynomial &term);
  bool readMask(Value mask, ArrayRef<unsigned> dimOf);
  bool readComparison(arith::CmpIOp op, ArrayRef<unsigned> dimOf);
  bool limit(unsigned tileDim, const Polynomial &below);
  bool finish(const AffineForm &form);

  tt::LoadOp load;
  RankedTensorType tile;
  KernelTiles &tiles;
  std::string &reason;
  const int64_t elemBytes;
  unsigned fastest = 0;           ///< of the tile's two dimensions
  SmallVector<Dim, 4> dims;       ///< columns, rows, others
  Polynomial fixed;               ///< offset of the base in elements, known to the host
  SmallVector<LaunchCode> bounds; ///< conditions on masks
  TileAddress result;
};
} // namespace

/// With distances in elements in place of bytes.
static std::optional<AffineForm> inElements(const AffineForm &form, int64_t elemBytes) {
  auto start = form.start.dividedBy(elemBytes);
  if (!start)
    return std::nullopt;
  AffineForm result{form.base, std::move(*start), {}, {}};
  for (const Polynomial &bytes : form.steps) {
    auto step = bytes.dividedBy(elemBytes);
    if (!step)
      return std::nullopt;
    result.steps.push_back(std::move(*step));
  }
  return result;
}

bool AddressReader::chooseDims(const AffineForm &form) {
  const Polynomial one = Polynomial::ofConstant(1);
  if (form.steps[1] == one)
    fastest = 1;
  else if (form.steps[0] == one)
    fastest = 0;
  else
    return fail("no dimension is known to be contiguous");
  const Polynomial &stride = form.steps[1 - fastest];
  if (stride.terms().size() != 1 || !launchCodeOf(stride, tiles.affine()))
    return fail("the distance of rows is not a product of the kernel's arguments");
  dims = {{one, {}, {}}, {stride, {}, {}}};
  return true;
}

bool AddressReader::addTerm(Dim &dim, const Polynomial &term) {
  auto sum = dim.coordinate.plus(term);
  if (!sum)
    return fail("the address has too many terms");
  dim.coordinate = std::move(*sum);
  return true;
}

/// The product of these factors.
static Polynomial monomial(ArrayRef<unsigned> factors, int64_t coefficient) {
  Polynomial product = Polynomial::ofConstant(coefficient);
  for (unsigned factor : factors)
    product = *product.times(Polynomial::ofVariable(factor)); // one term never overflows here
  return product;
}

/// Gives each term of the first element's offset to a dimension.
bool AddressReader::split(const Polynomial &start) {
  for (const Polynomial::Term &term : start.terms()) {
    SmallVector<unsigned> host, device;
    for (unsigned factor : term.factors) {
      const auto &variable = tiles.affine().variable(factor);
      (!variable.loop && launchCodeOf(variable.value) ? host : device).push_back(factor);
    }
    if (device.empty()) {
      auto sum = fixed.plus(monomial(host, term.coefficient));
      if (!sum)
        return fail("the address has too many terms");
      fixed = std::move(*sum);
      continue;
    }
    const bool isColumn = host.empty() && term.coefficient < kLargeMultiple;
    Dim *into = nullptr;
    for (Dim &dim : llvm::drop_begin(dims)) {
      const Polynomial::Term &stride = dim.stride.terms().front();
      if (ArrayRef(stride.factors) == ArrayRef(host) && term.coefficient % stride.coefficient == 0) {
        if (!addTerm(dim, monomial(device, term.coefficient / stride.coefficient)))
          return false;
        into = &dim;
        break;
      }
    }
    if (into)
      continue;
    if (isColumn) {
      if (!addTerm(dims[0], monomial(device, term.coefficient)))
        return false;
      continue;
    }
    if (dims.size() == kMostDims)
      return fail("the address has more than five dimensions");
    dims.push_back({monomial(host, term.coefficient), monomial(device, 1), {}});
  }
  return true;
}

//--- masks ---------------------------------------------------------------------------------

/// The box's elements along one dimension of the tile are inside while their index in the tile is less than `below`.
bool AddressReader::limit(unsigned tileDim, const Polynomial &below) {
  Dim &dim = dims[tileDim == fastest ? 0 : 1];
  auto extent = dim.coordinate.plus(below);
  if (!extent || !launchCodeOf(*extent, tiles.affine()))
    return fail("the mask is no bound that the kernel's arguments give");
  if (dim.extent && *dim.extent != *extent)
    return fail("two masks bound one dimension");
  dim.extent = std::move(*extent);
  return true;
}

/// A sum may wrap that is no offset. It does not where it is a coordinate and nothing more, or less: then the array
/// ends where the bound is, or behind it.
bool AddressReader::readComparison(arith::CmpIOp op, ArrayRef<unsigned> dimOf) {
  using Predicate = arith::CmpIPredicate;
  const index::PrefixMask *prefix = tiles.prefix(op);
  if (!prefix)
    return fail("the mask is no bound of one index of the tile");
  const unsigned tileDim = dimOf[prefix->dim];
  if (!limit(tileDim, prefix->bound))
    return false;
  if (!prefix->mayWrap)
    return true;
  const bool isSwapped = op.getPredicate() == Predicate::sgt || op.getPredicate() == Predicate::sge;
  const AffineForm *bound = tiles.of(op->getOperand(isSwapped ? 0 : 1));
  auto code = bound ? launchCodeOf(bound->start, tiles.affine()) : std::nullopt;
  if (!code)
    return fail("an index that the mask compares may wrap around");
  const Dim &dim = dims[tileDim == fastest ? 0 : 1];
  bounds.push_back(combine(LaunchOp::Sub, *launchCodeOf(*dim.extent, tiles.affine()), *code));
  bounds.push_back(combine(LaunchOp::Sub, launchConstant(std::numeric_limits<int32_t>::max()), *code));
  return true;
}

bool AddressReader::readMask(Value mask, ArrayRef<unsigned> dimOf) {
  Operation *op = mask.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op))
    return readMask(op->getOperand(0), dimOf) && readMask(op->getOperand(1), dimOf);
  if (isa_and_nonnull<tt::BroadcastOp>(op))
    return readMask(op->getOperand(0), dimOf);
  if (auto expand = dyn_cast_or_null<tt::ExpandDimsOp>(op)) {
    SmallVector<unsigned> inner(dimOf);
    inner.erase(inner.begin() + expand.getAxis());
    return readMask(expand.getSrc(), inner);
  }
  if (auto comparison = dyn_cast_or_null<arith::CmpIOp>(op))
    return readComparison(comparison, dimOf);
  return matchPattern(mask, m_One()) || fail("the mask is no conjunction of bounds");
}

//--- the whole -----------------------------------------------------------------------------

bool AddressReader::finish(const AffineForm &form) {
  auto code = [&](const Polynomial &polynomial) { return *launchCodeOf(polynomial, tiles.affine()); };
  auto inBytes = [&](LaunchCode elements) {
    return combine(LaunchOp::Mul, std::move(elements), launchConstant(elemBytes));
  };
  result.isTransposed = fastest == 0;
  result.base = combine(LaunchOp::Add, *launchCodeOf(form.base), inBytes(code(fixed)));
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (!tiles.isNonNegative(dim.coordinate))
      return fail("an index may be negative");
    tiles.addConditionsOf(dim.coordinate);
    ArrayDim made;
    made.coordinate = dim.coordinate;
    made.stride = index ? inBytes(code(dim.stride)) : LaunchCode();
    if (dim.extent)
      made.extent = code(*dim.extent);
    made.box = index < 2 ? tile.getShape()[index ? 1 - fastest : fastest] : 1;
    result.dims.push_back(std::move(made));
  }
  result.conditions = tiles.takeConditions();
  llvm::append_range(result.conditions, bounds);
  if (tiles.divisibility(dims[0].coordinate) * elemBytes % ttng::kTensorMapAlignBytes)
    return fail("the first column is not known to be a multiple of 16 bytes");
  return true;
}

std::optional<TileAddress> AddressReader::read() {
  tiles.takeConditions();
  const AffineForm *bytes = tiles.of(load.getPtr());
  const std::optional<AffineForm> form = bytes ? inElements(*bytes, elemBytes) : std::nullopt;
  if (!form) {
    reason = "its addresses are not affine in the tile's indices";
    return std::nullopt;
  }
  if (!form->base || !analysis::functionArgument(form->base)) {
    reason = "its base is no argument of the kernel";
    return std::nullopt;
  }
  const unsigned both[] = {0, 1};
  if (!chooseDims(*form) || !split(form->start) || (load.getMask() && !readMask(load.getMask(), both)) ||
      !finish(*form))
    return std::nullopt;
  return std::move(result);
}

std::optional<TileAddress> nvidia::tileAddressOf(tt::LoadOp load, KernelTiles &tiles, std::string &reason) {
  return AddressReader(load, tiles, reason).read();
}
