# The contents of a wheel: the folder nereid_triton with the packages, libnereid, the programs and the headers, and the
# .pth file that registers the finder. `cmake --install DIR --component wheel` makes them of any build.
# SPDX-License-Identifier: MIT

set(folder nereid_triton)
set(libraries ${folder}/triton/_C)

set(python_files FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/nereid_triton/ DESTINATION ${folder} COMPONENT wheel ${python_files})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/triton ${PROJECT_SOURCE_DIR}/python/nereid DESTINATION ${folder} COMPONENT wheel
        ${python_files})
install(DIRECTORY ${PROJECT_BINARY_DIR}/python/triton/language DESTINATION ${folder}/triton COMPONENT wheel
        FILES_MATCHING PATTERN "*.pyi" PATTERN "__pycache__" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/python/nereid/_version.py DESTINATION ${folder}/nereid COMPONENT wheel)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/wheel/nereid_triton.pth DESTINATION . COMPONENT wheel)
# A file of the wheel, so that it goes with it: `nereid off` replaces it.
install(FILES ${CMAKE_CURRENT_LIST_DIR}/wheel/switch DESTINATION ${folder} COMPONENT wheel)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nereid DESTINATION ${libraries}/include COMPONENT wheel)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/wheel/NereidConfig.cmake DESTINATION ${libraries}/lib/cmake/Nereid COMPONENT wheel)

set(programs nereid-tool nereid-opt nereid-layout)
# A release has LLVM inside.
if(NOT NEREID_STATIC_LLVM)
  set(llvm_rpath ";${LLVM_LIBRARY_DIR}")
endif()
set_target_properties(nereid triton_xla PROPERTIES INSTALL_RPATH "$ORIGIN${llvm_rpath}")
if(TARGET libtriton)
  set_target_properties(libtriton PROPERTIES INSTALL_RPATH "$ORIGIN${llvm_rpath}")
  install(TARGETS libtriton LIBRARY DESTINATION ${libraries} COMPONENT wheel)
endif()
set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/..${llvm_rpath}")
install(TARGETS nereid triton_xla LIBRARY DESTINATION ${libraries} COMPONENT wheel)
install(TARGETS ${programs} RUNTIME DESTINATION ${libraries}/bin COMPONENT wheel)
if(NOT NEREID_TBB_SOURCE)
  get_target_property(tbb_file TBB::tbb LOCATION)
  install(FILES ${tbb_file} RENAME libtbb.so.12 DESTINATION ${libraries} COMPONENT wheel)
endif()
