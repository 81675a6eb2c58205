# `cmake --install`: what flies (the library, its headers, how CMake and pkg-config find it, the
# bundled networks with their cards), the programs, and the licence; nothing of the laboratory.
#
# The library is static in every build: it is small, and a program that carries it cannot meet
# another version of it in the air. It is position independent, so a shared object may carry it too.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/aerocast)

install(TARGETS aerocast EXPORT aerocastTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/aerocast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h)
install(EXPORT aerocastTargets NAMESPACE aerocast:: DESTINATION ${package_dir})

set(models_dir ${CMAKE_INSTALL_DATADIR}/aerocast/models)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/ DESTINATION ${models_dir}
        FILES_MATCHING PATTERN aerocast-* PATTERN bench EXCLUDE)
if(AEROCAST_LAB)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/aerocast)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/aerocastConfig.cmake.in
  ${PROJECT_BINARY_DIR}/aerocastConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS models_dir
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/aerocastConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/aerocastConfig.cmake
              ${PROJECT_BINARY_DIR}/aerocastConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindHighway.cmake
        DESTINATION ${package_dir})

# Paths relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/aerocast.pc.in ${PROJECT_BINARY_DIR}/aerocast.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/aerocast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

foreach(program aerocast_cli aerocast_train_program)
  if(TARGET ${program})
    # Libraries outside the system's directories (a libtorch of one's own) are found where they are.
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
