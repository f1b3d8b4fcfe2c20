// Built-ins about the launch grid: program_id, num_programs.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

template <typename Op> static Value emitGridQuery(const CallSite &site) {
  const SourceRange range = site.rangeOf("axis");
  std::optional<int64_t> axis = intArgument(site, "axis");
  if (!axis)
    return Value::poison();
  std::optional<tt::ProgramDim> dim;
  if (0 <= *axis && *axis <= 2)
    dim = tt::symbolizeProgramDim(static_cast<uint32_t>(*axis));
  if (!dim)
    return site.emitter.error(diag::GridAxis, range, site.builtin.name, *axis);
  return emitOp<Op>(site, Scalar::Int32, *dim);
}

llvm::ArrayRef<Builtin> programBuiltins() {
  static const Builtin table[] = {
      {"program_id",
       languageModule,
       {{"axis"}},
       "Index of this program along an axis of the grid.",
       emitGridQuery<tt::GetProgramIdOp>},
      {"num_programs",
       languageModule,
       {{"axis"}},
       "Number of programs along an axis of the grid.",
       emitGridQuery<tt::GetNumProgramsOp>},
  };
  return table;
}

} // namespace nereid::sema
