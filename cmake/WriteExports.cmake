# Writes MAP, the version script BASE with the LLVM and MLIR symbols that OBJECTS leave undefined, and RSP, which makes
# the linker extract them from archives; run as a script at build time.
# SPDX-License-Identifier: MIT

execute_process(COMMAND ${NM} -u --no-demangle -f posix ${OBJECTS} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "_Z[A-Za-z0-9_.]*(4llvm|4mlir)[A-Za-z0-9_.]* " symbols "${text}")
list(REMOVE_DUPLICATES symbols)
list(FILTER symbols EXCLUDE REGEX "^_ZN?K?6nereid")
set(lines "")
set(arguments "")
foreach(symbol IN LISTS symbols)
  string(STRIP ${symbol} symbol)
  string(APPEND lines "    ${symbol};\n")
  string(APPEND arguments "-Wl,-u,${symbol}\n")
endforeach()
file(READ ${BASE} map)
string(REPLACE "  global:\n" "  global:\n${lines}" map "${map}")
file(WRITE ${MAP} "${map}")
file(WRITE ${RSP} "${arguments}")
