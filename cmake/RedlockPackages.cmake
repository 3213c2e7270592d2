# cpack: Debian packages for who runs a program that uses the library, who compiles one, and who locks from the shell.
# Configure with the preset `package`, or at least with CMAKE_INSTALL_PREFIX=/usr: the folders of libraries depend on it.
set(CPACK_GENERATOR DEB)
# Who distributes the packages to others puts himself here, by -D CPACK_PACKAGE_CONTACT="name <address>".
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "The redlock authors <redlock@localhost>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# What Debian's tools make of "uses libredlock.so" when they pack a program of somebody's.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# redlock_package(component NAME name SECTION section TITLE title TEXT what-it-has): each file of the component goes in.
function(redlock_package component)
  cmake_parse_arguments(ARG "" "NAME;SECTION;TITLE;TEXT" "" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${ARG_NAME}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${ARG_SECTION}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "distributed lock on a majority of Redis masters (${ARG_TITLE})
Whoever has a majority of several independent Redis masters has the lock, so
no single Redis is a point of failure.

${ARG_TEXT}" PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  install(FILES "${PROJECT_BINARY_DIR}/copyright" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${ARG_NAME}" COMPONENT ${component})
endfunction()

set(CPACK_COMPONENTS_ALL "")
redlock_package(runtime NAME libredlock${redlock_abi} SECTION libs TITLE library TEXT "This package has the shared library.")
redlock_package(development NAME libredlock-dev SECTION libdevel TITLE development
  TEXT "This package has the headers, the static library, the library for unit
tests, and what CMake and pkg-config need to find them.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libredlock${redlock_abi} (= ${PROJECT_VERSION}), libexpected-dev, libhiredis-dev (>= 0.14), libssl-dev, libuv1-dev (>= 1.40)")
if(REDLOCK_BUILD_CLI)
  redlock_package(tools NAME redlock SECTION admin TITLE program
    TEXT "This package has the program redlock, which runs commands under a lock and
shows who holds one.")
endif()

# The licence as such a file wants it: indented, and a dot for each empty line.
file(READ LICENSE license_text)
string(REGEX REPLACE "^.*authors\n\n" "" license_text "${license_text}")
string(REGEX REPLACE "\n$" "" license_text "${license_text}")
string(REPLACE "\n\n" "\n.\n" license_text "${license_text}")
string(REPLACE "\n" "\n " license_text " ${license_text}")
configure_file(cmake/copyright.in copyright @ONLY)

include(CPack)
