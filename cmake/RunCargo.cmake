# Run by the target vyre_cargo: builds the crate, then puts the libraries in place if they changed.

# Beside what cargo makes: build trees that share a target directory give cargo the same flags, so that
# they don't make each other build the crate again.
set(log "${MADE}/vyre-native-static-libs")
file(MAKE_DIRECTORY "${LIB_DIR}" "${MADE}")

execute_process(
  COMMAND "${CARGO}" rustc --lib ${FLAGS} --profile "${PROFILE}" --manifest-path "${MANIFEST}"
    --target-dir "${TARGET_DIR}" -- --print "native-static-libs=${log}"
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cargo failed (${result}); its messages are above")
endif()

# A library that is not on the list means that vyre.pc and the CMake package name the wrong libraries.
file(READ "${log}" needed)
string(STRIP "${needed}" needed)
separate_arguments(needed_list UNIX_COMMAND "${needed}")
separate_arguments(found_list UNIX_COMMAND "${NATIVE_LIBS}")
# A dependency may name a library that is there anyway.
list(REMOVE_ITEM needed_list ${found_list})
if(needed_list)
  message(FATAL_ERROR "libvyre.a needs \"${needed}\", but \"${NATIVE_LIBS}\" was found when configuring; "
    "a dependency links a library of its own: say so in cmake/VyreCargo.cmake")
endif()

# Copies only what differs, so that nothing is linked again without need.
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${MADE}/libvyre.so" "${LIB_DIR}/${SHARED_NAME}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${MADE}/libvyre.a" "${LIB_DIR}/libvyre.a"
  COMMAND_ERROR_IS_FATAL ANY)
file(CREATE_LINK "${SHARED_NAME}" "${LIB_DIR}/${SONAME}" SYMBOLIC)
file(CREATE_LINK "${SONAME}" "${LIB_DIR}/libvyre.so" SYMBOLIC)
