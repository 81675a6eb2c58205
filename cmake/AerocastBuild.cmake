# Compiler settings, once for everything, and the words the folders use:
#   aerocast_need(REMEDY packages...)          find packages, or stop and tell the remedy
#   aerocast_library(NAME)                     declare a library; folders add sources to it
#   aerocast_sources(LIBRARY files...)         add this folder's sources
#   aerocast_test(NAME LIBRARY files...)       one test program of this folder's *_test.cc
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# No contraction into FMA behind our back and no reassociation: the same bits on every compiler.
# Square roots need no errno, which lets the compiler use the instruction.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -ffp-contract=off
                    -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # misfires on std::string's operator+ (GCC bug 105651)
endif()
if(AEROCAST_WERROR)
  add_compile_options(-Werror)
endif()
if(AEROCAST_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
if(AEROCAST_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(AEROCAST_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # also what is within a vector's spare room
endif()

macro(aerocast_need remedy)  # a macro: what a package sets is the caller's
  foreach(package ${ARGN})
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "${package} was not found: ${remedy}")
    endif()
  endforeach()
endmacro()

function(aerocast_library name)
  add_library(${name} STATIC)
  target_compile_features(${name} PUBLIC cxx_std_20)  # the headers need it of whoever links
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_definitions(${name} PRIVATE AEROCAST_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PUBLIC Threads::Threads)
endfunction()

function(aerocast_sources library)
  foreach(file ${ARGN})
    target_sources(${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
endfunction()

# Lets a program use the precompiled headers of a library. They hold for one kind of position-
# independent code, and a library's is the stricter one.
function(aerocast_reuse_headers target library)
  target_precompile_headers(${target} REUSE_FROM ${library})
  target_compile_options(${target} PRIVATE -fPIC)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Bug 105651 again; from precompiled headers it is not known that the system's are to blame.
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

# What most tests include, compiled once: it is most of what their compiler reads.
if(AEROCAST_TESTS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "// Only headers.\n")
endif()
function(aerocast_test_headers target)
  if(NOT TARGET aerocast_test_headers)
    add_library(aerocast_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cc)
    target_link_libraries(aerocast_test_headers PRIVATE rapidcheck GTest::gtest GTest::gmock
                                                        Threads::Threads)
    target_precompile_headers(aerocast_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>
                              <rapidcheck.h>)
  endif()
  aerocast_reuse_headers(${target} aerocast_test_headers)
endfunction()

function(aerocast_test name library)
  if(NOT AEROCAST_TESTS)
    return()
  endif()
  add_executable(${name}_test ${ARGN})
  if(NOT library STREQUAL aerocast_train)  # libtorch has flags of its own
    aerocast_test_headers(${name}_test)
  endif()
  target_link_libraries(${name}_test PRIVATE ${library} rapidcheck GTest::gtest GTest::gmock
                                             GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE
    AEROCAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
