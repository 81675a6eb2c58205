# Highway::hwy: Google Highway (Debian libhwy-dev), static or shared, whichever is installed.
#
# Installed beside aerocastConfig.cmake: the library that flies is static, so whoever links it links
# Highway too. Highway's own package file is not always packaged, and differs between versions.
find_path(Highway_INCLUDE_DIR hwy/highway.h)
find_library(Highway_LIBRARY hwy)
if(Highway_INCLUDE_DIR)
  file(STRINGS ${Highway_INCLUDE_DIR}/hwy/highway.h Highway_VERSION_LINES
       REGEX "#define HWY_(MAJOR|MINOR|PATCH) [0-9]+")
  string(REGEX REPLACE "[^;0-9]" "" Highway_VERSION "${Highway_VERSION_LINES}")
  string(REPLACE ";" "." Highway_VERSION "${Highway_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Highway REQUIRED_VARS Highway_LIBRARY Highway_INCLUDE_DIR
                                  VERSION_VAR Highway_VERSION)
mark_as_advanced(Highway_INCLUDE_DIR Highway_LIBRARY)

if(Highway_FOUND AND NOT TARGET Highway::hwy)
  add_library(Highway::hwy UNKNOWN IMPORTED)
  set_target_properties(Highway::hwy PROPERTIES
    IMPORTED_LOCATION ${Highway_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Highway_INCLUDE_DIR})
  if(NOT Highway_LIBRARY MATCHES "\\${CMAKE_STATIC_LIBRARY_SUFFIX}$")
    target_compile_definitions(Highway::hwy INTERFACE HWY_SHARED_DEFINE)
  endif()
endif()
