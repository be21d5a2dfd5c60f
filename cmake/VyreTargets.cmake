# vyre::vyre and vyre::vyre_static over the libraries in this build tree, under the names that the
# installed package gives them. GLOBAL, so that the project that adds this directory sees them.

add_library(vyre::vyre SHARED IMPORTED GLOBAL)
set_target_properties(vyre::vyre PROPERTIES
  IMPORTED_LOCATION "${vyre_shared}"
  IMPORTED_SONAME "${vyre_soname}"
  INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
add_dependencies(vyre::vyre vyre_cargo)

add_library(vyre::vyre_static STATIC IMPORTED GLOBAL)
set_target_properties(vyre::vyre_static PROPERTIES
  IMPORTED_LOCATION "${vyre_static}"
  INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include"
  INTERFACE_LINK_LIBRARIES "${VYRE_NATIVE_LIBS_LIST}")
add_dependencies(vyre::vyre_static vyre_cargo)

# For vyre/vyre.hpp.
add_library(vyre::cxx INTERFACE IMPORTED GLOBAL)
set_target_properties(vyre::cxx PROPERTIES
  INTERFACE_COMPILE_FEATURES cxx_std_17
  INTERFACE_LINK_LIBRARIES vyre::vyre)
