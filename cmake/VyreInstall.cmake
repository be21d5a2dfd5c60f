# What `cmake --install` puts where. No installed file names an absolute path unless the install
# directories themselves were given as absolute ones.

install(FILES "${vyre_shared}"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Symbolic links are installed as links.
install(FILES "${vyre_lib_dir}/${vyre_soname}" "${vyre_lib_dir}/libvyre.so" "${vyre_static}"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/vyre"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES
    "${PROJECT_SOURCE_DIR}/README.md"
    "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
    "${PROJECT_SOURCE_DIR}/LICENSE-MIT"
    "${PROJECT_SOURCE_DIR}/LICENSE-APACHE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# The CMake package. Before 1.0 a minor version may change the API.
set(vyre_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/vyre")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/vyreConfig.cmake.in" "${PROJECT_BINARY_DIR}/vyreConfig.cmake"
  INSTALL_DESTINATION "${vyre_cmake_dir}"
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/vyreConfig.cmake" "${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake"
  DESTINATION "${vyre_cmake_dir}")

# pkg-config finds the prefix from where the file lies.
set(vyre_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(VYRE_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(VYRE_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH vyre_pc_up "/prefix/${vyre_pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" vyre_pc_up "${vyre_pc_up}")
  set(VYRE_PC_PREFIX "\${pcfiledir}/${vyre_pc_up}")
  set(VYRE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(VYRE_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(VYRE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/vyre.pc.in" "${PROJECT_BINARY_DIR}/vyre.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/vyre.pc" DESTINATION "${vyre_pc_dir}")
