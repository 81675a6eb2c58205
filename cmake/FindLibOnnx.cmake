# LibOnnx::LibOnnx: ONNX's message types and checker, for src/export alone.
#
# Debian's own package file names libraries that Debian does not ship, so it cannot be used.
find_path(LibOnnx_INCLUDE_DIR onnx/onnx-ml.pb.h)
find_library(LibOnnx_LIBRARY onnx)
find_library(LibOnnx_PROTO_LIBRARY onnx_proto)
find_library(LibOnnx_PROTOBUF_LIBRARY protobuf)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibOnnx
  REASON_FAILURE_MESSAGE "install libonnx-dev and libprotobuf-dev (scripts/setup.sh does)"
  REQUIRED_VARS LibOnnx_LIBRARY LibOnnx_PROTO_LIBRARY LibOnnx_PROTOBUF_LIBRARY LibOnnx_INCLUDE_DIR)
mark_as_advanced(LibOnnx_INCLUDE_DIR LibOnnx_LIBRARY LibOnnx_PROTO_LIBRARY LibOnnx_PROTOBUF_LIBRARY)

if(LibOnnx_FOUND AND NOT TARGET LibOnnx::LibOnnx)
  add_library(LibOnnx::LibOnnx INTERFACE IMPORTED)
  target_include_directories(LibOnnx::LibOnnx SYSTEM INTERFACE ${LibOnnx_INCLUDE_DIR})
  target_compile_definitions(LibOnnx::LibOnnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
  target_link_libraries(LibOnnx::LibOnnx INTERFACE ${LibOnnx_LIBRARY} ${LibOnnx_PROTO_LIBRARY}
                                                   ${LibOnnx_PROTOBUF_LIBRARY})
endif()
