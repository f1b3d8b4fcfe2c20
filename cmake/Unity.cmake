# Unity builds: several files of a folder are compiled as one, which halves the time of a clean build.
# SPDX-License-Identifier: MIT

option(NEREID_UNITY "compile the files of a folder in groups; OFF for quick rebuilds of single files" ON)
set(NEREID_UNITY_FILES 8)

# Files with names of their own on purpose: both tables of phases, the constants of each function.
set(NEREID_UNITY_ALONE "^compiler/driver/(Cpu|Cuda|Hip)Backend.cpp$|^compiler/math/")

# The path of a launch is one group, so that its calls are inlined.
set(NEREID_UNITY_LAUNCH "^python/bindings/(BoundLaunch|ComputedLaunch|LaunchCall|LaunchKey|Streams|TunedLaunch|TunedTypes|Warmup|launch).cpp$")

# Groups the sources of `target`. Files in a group have the same using-directives: `Value` means one thing in it.
function(nereid_unity target)
  if(NOT NEREID_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    if(NOT EXISTS ${source} OR path MATCHES "^build/" OR path MATCHES ${NEREID_UNITY_ALONE})
      continue()
    endif()
    if(path MATCHES ${NEREID_UNITY_LAUNCH})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP launch)
      continue()
    endif()
    file(STRINGS ${source} usings REGEX "^using namespace ")
    string(MD5 key "${usings}")
    string(SUBSTRING ${key} 0 6 key)
    math(EXPR filled_${key} "0${filled_${key}} + 1")
    math(EXPR group "(${filled_${key}} - 1) / ${NEREID_UNITY_FILES}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${key}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
