// Layouts as values of kernels: one class for each encoding of `ttg`, with its fields as parts.
// SPDX-License-Identifier: MIT
//
// A class is a row of a table: its constructor's parameters are its fields. `encode` makes the attribute, `decode`
// gives the fields back. Tables: Distributed.cpp, Shared.cpp, AmdLayouts.cpp.
#pragma once

#include "compiler/sema/Builtin.h"

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::sema {

/// Gets the text of an error.
using LayoutError = llvm::function_ref<void(std::string)>;

/// The fields of a layout, for `encode`. After the first error all results are empty, and `failed` is set.
class LayoutFields {
public:
  LayoutFields(mlir::MLIRContext *context, const RecordClass &record, llvm::ArrayRef<Value> parts, LayoutError error)
      : context(context), record(record), parts(parts), error(error) {}

  mlir::MLIRContext *context;
  bool failed = false;

  const Value &operator[](llvm::StringRef field) const;
  unsigned number(llvm::StringRef field);
  bool flag(llvm::StringRef field);
  llvm::SmallVector<unsigned> numbers(llvm::StringRef field);
  /// A list of bases, each with one number per dimension.
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>> bases(llvm::StringRef field);
  /// The same, one after the other.
  llvm::SmallVector<unsigned> flatBases(llvm::StringRef field);
  /// The encoding of a field that is a layout itself.
  mlir::Attribute layout(llvm::StringRef field);
  /// Reports an error; null.
  mlir::Attribute fail(std::string message);
  /// `make(emitError)`, whose errors are reported as those of this layout.
  mlir::Attribute
  checked(llvm::function_ref<mlir::Attribute(llvm::function_ref<mlir::InFlightDiagnostic()> emitError)> make);

private:
  std::nullptr_t wrong(llvm::StringRef field, llvm::StringRef expected);

  const RecordClass &record;
  llvm::ArrayRef<Value> parts;
  LayoutError error;
};

enum class LayoutKind { Distributed, Shared };

/// A class of layouts.
struct LayoutClass {
  RecordClass record;
  LayoutKind kind;
  llvm::SmallVector<BuiltinParam, 8> params; ///< of the constructor, named as the fields
  llvm::StringRef doc;
  mlir::Attribute (*encode)(LayoutFields &fields);
  /// The fields of an encoding of this class; nothing for other encodings.
  std::optional<std::vector<Value>> (*decode)(mlir::Attribute encoding);
  llvm::StringRef module = ""; ///< that of the constructor; empty: Gluon's own
};

llvm::ArrayRef<const LayoutClass *> layoutClasses();
const LayoutClass *findLayoutClass(llvm::StringRef name);
/// The class of a value that is a layout; null for others.
const LayoutClass *layoutClassOf(const Value &value);

/// The layout with these fields, in the constructor's order; poison after an error.
Value makeLayout(mlir::MLIRContext *context, const LayoutClass &layout, std::vector<Value> fields, LayoutError error);
/// The encoding of a layout; null after an error.
mlir::Attribute encodingOf(mlir::MLIRContext *context, const Value &layout, LayoutError error);
/// The layout of an encoding; None where no class has it.
Value layoutValue(mlir::Attribute encoding);
/// As a kernel writes it: "BlockedLayout([1], [32], [4], [0])".
std::string layoutText(mlir::Attribute encoding);

// --- layouts that follow from others (AmdPadding.cpp); poison after an error ---
/// Of the scales, a tile of `shape`, for an operand of `mfma_scaled`.
Value amdScaleLayout(mlir::MLIRContext *context, const Value &operandLayout, llvm::ArrayRef<int64_t> shape,
                     int64_t factor, LayoutError error);
/// A padded layout in LDS of an operand of elements of `bits` bits; None where there is none.
Value amdPaddedLayout(mlir::MLIRContext *context, const Value &operandLayout, llvm::ArrayRef<int64_t> shape,
                      unsigned bits, bool isKContiguous, LayoutError error);

/// The encoding that a text of the host names: "NVMMASharedLayout(swizzle_byte_width=128, ...)"; null for others.
mlir::Attribute descriptorLayout(mlir::MLIRContext *context, llvm::StringRef text);

// --- helpers of the tables ---
/// A list of numbers, or of bases, as a value.
Value numbersValue(llvm::ArrayRef<unsigned> numbers);
Value basesValue(llvm::ArrayRef<llvm::SmallVector<int32_t, 4>> bases);
/// Numbers that follow one another as bases of `rank` numbers.
Value flatBasesValue(llvm::ArrayRef<unsigned> numbers, unsigned rank);

// --- the tables ---
llvm::ArrayRef<LayoutClass> distributedLayouts();
llvm::ArrayRef<LayoutClass> sharedLayouts();
llvm::ArrayRef<LayoutClass> amdLayouts();

} // namespace nereid::sema
