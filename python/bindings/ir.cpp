// The `ir` submodule: a read-only walk over modules, with which PyTorch determines what a kernel writes.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "python/bindings/IrModule.h"
#include "python/bindings/PyDiagnostics.h"
#include "python/bindings/StackRoom.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <fstream>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <sstream>

using namespace nereid;
using namespace nereid::python;

mlir::MLIRContext &IrContext::context() {
  if (!created)
    created = driver::createContext();
  return *created;
}

namespace {
/// A part of a module that Python refers to; the module lives as long as any of its parts.
template <typename Part> struct InModule {
  std::shared_ptr<IrModule> module;
  Part part;
};
using Operation = InModule<mlir::Operation *>;
using Region = InModule<mlir::Region *>;
using Block = InModule<mlir::Block *>;
using IrValue = InModule<mlir::Value>;
} // namespace

/// Unique per part, as long as the module lives.
static uint64_t idOf(const void *part) { return reinterpret_cast<uint64_t>(part); }

static void checkIndex(unsigned index, size_t count, const char *what) {
  if (index >= count)
    raise(PyExc_IndexError, std::string(what) + " " + std::to_string(index) + " of " + std::to_string(count));
}

//--- Operations --------------------------------------------------------------------------------

static IrValue operandOf(const Operation &op, unsigned index) {
  checkIndex(index, op.part->getNumOperands(), "operand");
  return {op.module, op.part->getOperand(index)};
}

static IrValue resultOf(const Operation &op, unsigned index) {
  checkIndex(index, op.part->getNumResults(), "result");
  return {op.module, op.part->getResult(index)};
}

static Region regionOf(const Operation &op, unsigned index) {
  checkIndex(index, op.part->getNumRegions(), "region");
  return {op.module, &op.part->getRegion(index)};
}

static std::optional<Block> blockOf(const Operation &op) {
  mlir::Block *block = op.part->getBlock();
  return block ? std::optional(Block{op.module, block}) : std::nullopt;
}

template <typename Attribute> static Attribute attributeOf(const Operation &op, const std::string &name) {
  return llvm::dyn_cast_if_present<Attribute>(op.part->getAttr(name));
}

static nb::object stringAttribute(const Operation &op, const std::string &name) {
  auto attribute = attributeOf<mlir::StringAttr>(op, name);
  return attribute ? textOf(attribute.getValue()) : nb::none();
}

static nb::object symbolAttribute(const Operation &op, const std::string &name) {
  auto attribute = attributeOf<mlir::FlatSymbolRefAttr>(op, name);
  return attribute ? textOf(attribute.getValue()) : nb::none();
}

static nb::object boolAttribute(const Operation &op, const std::string &name) {
  auto attribute = attributeOf<mlir::BoolAttr>(op, name);
  return attribute ? nb::borrow(attribute.getValue() ? Py_True : Py_False) : nb::none();
}

static nb::object intAttribute(const Operation &op, const std::string &name) {
  auto attribute = attributeOf<mlir::IntegerAttr>(op, name);
  return attribute ? checked(PyLong_FromLongLong(attribute.getInt())) : nb::none();
}

/// The value of a constant integer; None for any other operation.
static nb::object constantValue(const Operation &op) {
  llvm::APInt value;
  if (!mlir::matchPattern(op.part, mlir::m_ConstantInt(&value)))
    return nb::none();
  if (value.getBitWidth() == 1)
    return nb::borrow(value.getBoolValue() ? Py_True : Py_False);
  return checked(PyLong_FromLongLong(value.getSExtValue()));
}

static nb::list shapeOf(const IrValue &value) {
  nb::list extents;
  if (auto shaped = llvm::dyn_cast<mlir::RankedTensorType>(value.part.getType()))
    for (int64_t extent : shaped.getShape())
      extents.append(extent);
  return extents;
}

/// Types nest as deeply as text does.
static std::string textOfType(mlir::Type type) {
  std::string text;
  support::runWithStackRoom([&] { llvm::raw_string_ostream(text) << type; });
  return text;
}

/// The types of the entry function's parameters as in the text; "nvTmaDesc" for the address of a tensor map.
static nb::list parameterTypes(const IrModule &module) {
  nb::list types;
  for (auto function : module.op.get().getOps<mlir::FunctionOpInterface>()) {
    if (!function.isPublic())
      continue;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      types.append(textOf(function.getArgAttr(index, "tt.nv_tma_desc") ? "nvTmaDesc" : textOfType(type)));
    }
    break;
  }
  return types;
}

static void bindOperation(nb::module_ &ir) {
  nb::class_<Operation>(ir, "operation", "An operation.")
      .def("get_name", [](const Operation &op) { return textOf(op.part->getName().getStringRef()); })
      .def("get_num_operands", [](const Operation &op) { return op.part->getNumOperands(); })
      .def("get_operand", &operandOf, nb::arg("index"))
      .def("get_num_results", [](const Operation &op) { return op.part->getNumResults(); })
      .def("get_result", &resultOf, nb::arg("index"))
      .def("get_num_regions", [](const Operation &op) { return op.part->getNumRegions(); })
      .def("get_region", &regionOf, nb::arg("index"))
      .def("get_block", &blockOf)
      .def("get_str_attr", &stringAttribute, nb::arg("name"))
      .def("get_flat_symbol_ref_attr", &symbolAttribute, nb::arg("name"))
      .def("get_bool_attr", &boolAttribute, nb::arg("name"))
      .def("get_int_attr", &intAttribute, nb::arg("name"))
      .def("get_constant_value", &constantValue)
      .def("id", [](const Operation &op) { return idOf(op.part); });
}

static void bindParts(nb::module_ &ir) {
  nb::class_<IrValue>(ir, "value", "A result or an argument of a block.")
      .def("id", [](const IrValue &value) { return idOf(value.part.getAsOpaquePointer()); })
      .def("get_shape", &shapeOf)
      .def("get_type", [](const IrValue &value) { return textOf(textOfType(value.part.getType())); });
  nb::class_<Region>(ir, "region", "A list of blocks.")
      .def("id", [](const Region &region) { return idOf(region.part); })
      .def("size", [](const Region &region) { return region.part->getBlocks().size(); })
      .def("empty", [](const Region &region) { return region.part->empty(); })
      .def("get_parent_region", [](const Region &region) -> std::optional<Region> {
        mlir::Region *parent = region.part->getParentRegion();
        return parent ? std::optional(Region{region.module, parent}) : std::nullopt;
      });
  nb::class_<Block>(ir, "block", "A list of operations with arguments.")
      .def("id", [](const Block &block) { return idOf(block.part); })
      .def("get_num_arguments", [](const Block &block) { return block.part->getNumArguments(); })
      .def(
          "get_argument",
          [](const Block &block, unsigned index) {
            checkIndex(index, block.part->getNumArguments(), "argument");
            return IrValue{block.module, block.part->getArgument(index)};
          },
          nb::arg("index"))
      .def("get_parent", [](const Block &block) { return Region{block.module, block.part->getParent()}; });
}

//--- Modules -----------------------------------------------------------------------------------

static bool verify(const IrModule &module) {
  mlir::ScopedDiagnosticHandler quiet(module.op.get()->getContext(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  return mlir::succeeded(mlir::verify(module.op.get()));
}

/// Calls `callback` for every operation, inner operations before the enclosing one.
static void walk(std::shared_ptr<IrModule> module, nb::callable callback) {
  // The walk is compiled without exceptions: an exception of the callback is kept until it has stopped.
  std::exception_ptr raised;
  module->op.get()->walk<mlir::WalkOrder::PostOrder>([&](mlir::Operation *op) {
    try {
      callback(Operation{module, op});
      return mlir::WalkResult::advance();
    } catch (...) {
      raised = std::current_exception();
      return mlir::WalkResult::interrupt();
    }
  });
  if (raised)
    std::rethrow_exception(raised);
}

/// The name of the public function.
static nb::object entryName(const IrModule &module) {
  for (mlir::Operation &op : module.op.get().getOps())
    if (auto name = op.getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
        name && mlir::SymbolTable::getSymbolVisibility(&op) == mlir::SymbolTable::Visibility::Public)
      return textOf(name.getValue());
  return nb::none();
}

static std::shared_ptr<IrModule> parseModule(const Path &location, std::shared_ptr<IrContext> context) {
  const std::string &path = location.bytes;
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    raise(PyExc_OSError, "cannot read " + path);
  support::DiagnosticEngine diagnostics;
  auto op = driver::parse(context->context(), text.str(), path, diagnostics);
  if (!op)
    raiseDiagnostics(diagnostics, nullptr);
  return std::make_shared<IrModule>(std::move(context), std::move(op));
}

static void bindModule(nb::module_ &ir) {
  nb::class_<IrModule>(ir, "module", "A module of IR.")
      .def("verify", &WithStackRoom<verify>::call)
      .def("walk", &WithStackRoom<walk>::call, nb::arg("callback"))
      .def("str", [](const IrModule &module) { return textOf(driver::printModule(module.op.get())); })
      .def("__str__", [](const IrModule &module) { return textOf(driver::printModule(module.op.get(), false)); })
      .def("str_nodebug",
           [](const IrModule &module) { return textOf(driver::printModule(module.op.get(), false, false)); })
      .def("dump", [](const IrModule &module) { llvm::errs() << driver::printModule(module.op.get()); })
      .def("get_entry_func_name", &entryName)
      .def("parameter_types", &parameterTypes)
      .def(
          "get_int_attr",
          [](std::shared_ptr<IrModule> module, const std::string &name) {
            return intAttribute({module, module->op.get().getOperation()}, name);
          },
          nb::arg("name"))
      .def_prop_ro("context", [](const IrModule &module) { return module.context; });
}

void nereid::python::bindIr(nb::module_ &module) {
  nb::module_ ir = module.def_submodule("ir", "Modules of IR, to be looked at.");
  nb::class_<IrContext>(ir, "context", "Owns the types and attributes of modules.").def(nb::init<>());
  bindOperation(ir);
  bindParts(ir);
  bindModule(ir);
  ir.def(
      "load_dialects", [](IrContext &context) { context.context(); }, nb::arg("context"), "Makes the context ready.");
  ir.def(
      "optimise",
      [](IrModule &module, bool fusesFloats) {
        support::DiagnosticEngine diagnostics;
        if (!driver::optimise(*module.op, fusesFloats, diagnostics))
          raiseDiagnostics(diagnostics, nullptr);
      },
      nb::arg("module"), nb::arg("enable_fp_fusion"),
      "Inlines calls and simplifies a module in place, as every target does first.");
  ir.def("parse_mlir_module", &parseModule, nb::arg("path"), nb::arg("context"), "Reads a module from a file.");
}
