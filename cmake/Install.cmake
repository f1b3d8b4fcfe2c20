# The contents of a wheel: the package, the module with libnereid next to it, the tool, metadata for the name triton.
# SPDX-License-Identifier: MIT

if(NOT SKBUILD)
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('purelib', 'posix_prefix', {'base': ''}).lstrip('/'))"
                OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(libraries triton/_C)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/triton DESTINATION . COMPONENT wheel
        FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
set_target_properties(nereid libtriton triton_xla PROPERTIES INSTALL_RPATH "$ORIGIN")
# Paths from bin/ of an environment, of a prefix whose compiled packages are in lib64, and of a folder made with pip's
# --target; and from the tool's folder in the wheel, since auditwheel looks there.
string(REGEX REPLACE "^lib/" "lib64/" site_packages_64 ${site_packages})
set_target_properties(nereid-tool PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${site_packages}/${libraries};$ORIGIN/../${site_packages_64}/${libraries};$ORIGIN/../${libraries};$ORIGIN/../../${libraries}")
install(TARGETS nereid libtriton triton_xla LIBRARY DESTINATION ${libraries} COMPONENT wheel)
install(TARGETS nereid-tool RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
if(NOT NEREID_TBB_SOURCE)
  get_target_property(tbb_file TBB::tbb LOCATION)
  install(FILES ${tbb_file} RENAME libtbb.so.12 DESTINATION ${libraries} COMPONENT wheel)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nereid DESTINATION ${libraries}/include COMPONENT wheel)

# PyTorch reads the metadata of a distribution `triton`. The build backend leaves other .dist-info folders out of a
# wheel; importlib reads the older form as well.
file(WRITE ${PROJECT_BINARY_DIR}/triton-metadata/PKG-INFO "Metadata-Version: 2.1\nName: triton\nVersion: 3.9.0\nSummary: provided by nereid-triton\n")
install(FILES ${PROJECT_BINARY_DIR}/triton-metadata/PKG-INFO DESTINATION triton-3.9.0.egg-info COMPONENT wheel)
