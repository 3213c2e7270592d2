# The two libraries that users link, and where everything is installed. In the tree the layers stay static libraries of
# their own, so that a wrong include is a link error; what is shipped is made of the same objects, without compiling
# them again. redlock::testing uses public names alone and is a library of its own, static always: it is for unit tests,
# which nobody deploys.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Before 1.0 any minor version may change what programs were compiled against; see docs/versioning.md.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(redlock_abi "0.${PROJECT_VERSION_MINOR}")
  set(redlock_compatibility SameMinorVersion)
else()
  set(redlock_abi "${PROJECT_VERSION_MAJOR}")
  set(redlock_compatibility SameMajorVersion)
endif()

set(shipped "")
foreach(layer core client redis uv blocking async admin)
  list(APPEND shipped "$<TARGET_OBJECTS:redlock_${layer}>")
endforeach()
foreach(kind shared static)
  string(TOUPPER ${kind} kind_of_library)
  add_library(redlock_${kind} ${kind_of_library} ${shipped})
  set_target_properties(redlock_${kind} PROPERTIES OUTPUT_NAME redlock EXPORT_NAME redlock LINKER_LANGUAGE CXX)
  target_compile_features(redlock_${kind} INTERFACE cxx_std_20)
  target_link_libraries(redlock_${kind} INTERFACE tl::expected
    PRIVATE PkgConfig::hiredis PkgConfig::libuv OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
  install(TARGETS redlock_${kind} EXPORT redlock-${kind}
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
    ARCHIVE COMPONENT development
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endforeach()

configure_file(cmake/libredlock.map.in cmake/libredlock.map @ONLY)
set_target_properties(redlock_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${redlock_abi}
  LINK_DEPENDS "${PROJECT_BINARY_DIR}/cmake/libredlock.map")
target_link_options(redlock_shared PRIVATE "LINKER:--version-script=${PROJECT_BINARY_DIR}/cmake/libredlock.map")
if(NOT REDLOCK_SANITIZE) # whose runtime is in the program alone
  target_link_options(redlock_shared PRIVATE LINKER:-z,defs)
endif()

# What it needs, redlock-config.cmake says, which knows whether that is the shared or the static library.
add_library(redlock_testing_shipped STATIC $<TARGET_OBJECTS:redlock_testing>)
set_target_properties(redlock_testing_shipped PROPERTIES OUTPUT_NAME redlock-testing EXPORT_NAME testing LINKER_LANGUAGE CXX)
install(TARGETS redlock_testing_shipped EXPORT redlock-testing ARCHIVE COMPONENT development)

install(DIRECTORY include/redlock TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.h")

# find_package(redlock). tl::expected is in the headers; the rest is asked for by the static library alone.
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")
foreach(set shared static testing)
  install(EXPORT redlock-${set} NAMESPACE redlock:: DESTINATION "${package_dir}" FILE redlock-${set}.cmake COMPONENT development)
endforeach()
configure_package_config_file(cmake/redlock-config.cmake.in redlock-config.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/redlock-config-version.cmake" COMPATIBILITY ${redlock_compatibility})
install(FILES "${PROJECT_BINARY_DIR}/redlock-config.cmake" "${PROJECT_BINARY_DIR}/redlock-config-version.cmake"
  DESTINATION "${package_dir}" COMPONENT development)

# pkg-config. The path to the headers is from where the file lies, so that the tree can be moved.
file(RELATIVE_PATH include_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
foreach(pc redlock redlock-testing)
  configure_file(cmake/${pc}.pc.in ${pc}.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endforeach()

if(REDLOCK_BUILD_CLI)
  install(TARGETS redlock_program RUNTIME COMPONENT tools)
  find_program(REDLOCK_GZIP gzip REQUIRED)
  set(page "${PROJECT_BINARY_DIR}/redlock.1.gz")
  add_custom_command(OUTPUT "${page}" DEPENDS docs/man/redlock.1 VERBATIM
    COMMAND "${REDLOCK_GZIP}" -9nc "${PROJECT_SOURCE_DIR}/docs/man/redlock.1" > "${page}")
  add_custom_target(redlock_man_page ALL DEPENDS "${page}")
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools)

  # Completions, as the program itself writes them, where each shell looks for them. Debian keeps zsh's apart.
  set(place_bash bash-completion/completions)
  set(place_zsh zsh/site-functions)
  set(place_fish fish/vendor_completions.d)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(place_zsh zsh/vendor-completions)
  endif()
  foreach(file bash/redlock zsh/_redlock fish/redlock.fish)
    get_filename_component(shell "${file}" DIRECTORY)
    set(completion "${PROJECT_BINARY_DIR}/completions/${file}")
    add_custom_command(OUTPUT "${completion}" DEPENDS redlock_program VERBATIM
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/completions/${shell}"
      COMMAND redlock_program completion ${shell} > "${completion}")
    list(APPEND completions "${completion}")
    install(FILES "${completion}" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/${place_${shell}}" COMPONENT tools)
  endforeach()
  add_custom_target(redlock_completions ALL DEPENDS ${completions})
endif()
