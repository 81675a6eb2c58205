# LibTorch::LibTorch: headers and libraries of libtorch, for src/train alone.
#
# libtorch's own package file sets compiler flags for everybody and looks for CUDA; all that is
# needed are three libraries and two include directories. OpenBLAS in its OpenMP flavour shares
# libtorch's threads instead of fighting them; an RPATH (not a RUNPATH, which would not reach
# libtorch's own dependencies) selects it for our programs whatever flavour the system prefers.
find_path(LibTorch_INCLUDE_DIR torch/types.h)
find_path(LibTorch_API_INCLUDE_DIR torch/torch.h PATH_SUFFIXES torch/csrc/api/include)
find_library(LibTorch_LIBRARY torch)
find_library(LibTorch_CPU_LIBRARY torch_cpu)
find_library(LibTorch_C10_LIBRARY c10)
find_library(LibTorch_OPENBLAS_LIBRARY NAMES libopenblas.so.0 PATH_SUFFIXES openblas-openmp
             NO_CACHE NO_DEFAULT_PATH PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch DEFAULT_MSG LibTorch_LIBRARY LibTorch_CPU_LIBRARY
                                  LibTorch_C10_LIBRARY LibTorch_API_INCLUDE_DIR)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_API_INCLUDE_DIR LibTorch_LIBRARY
                 LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${LibTorch_API_INCLUDE_DIR})
  target_compile_definitions(LibTorch::LibTorch INTERFACE USE_C10D_GLOO)
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_LIBRARY} ${LibTorch_CPU_LIBRARY}
                                                     ${LibTorch_C10_LIBRARY} OpenMP::OpenMP_CXX)
  if(LibTorch_OPENBLAS_LIBRARY)
    get_filename_component(LibTorch_OPENBLAS_DIR ${LibTorch_OPENBLAS_LIBRARY} DIRECTORY)
    target_link_options(LibTorch::LibTorch INTERFACE
                        -Wl,--disable-new-dtags,-rpath,${LibTorch_OPENBLAS_DIR})
  else()
    message(WARNING "OpenBLAS in its OpenMP flavour is not installed (libopenblas0-openmp): "
                    "training will be slower")
  endif()
endif()
