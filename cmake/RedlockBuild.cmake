# How every target of this project is compiled, in one place.
add_library(redlock_flags INTERFACE)
target_compile_features(redlock_flags INTERFACE cxx_std_20)
set(CMAKE_CXX_EXTENSIONS OFF)
# The same objects go into the static layers and into the shared library; REDLOCK_API marks what may leave it.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

option(REDLOCK_WERROR "Warnings are errors" OFF)
target_compile_options(redlock_flags INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${REDLOCK_WERROR}>:-Werror>)
# g++ 12 at -O3 sees overlaps in "text" + std::string that are not there (GCC bug 105651).
target_compile_options(redlock_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

set(REDLOCK_SANITIZE "" CACHE STRING "Sanitizers for the whole build, e.g. address,undefined")
if(REDLOCK_SANITIZE)
  add_compile_options(-fsanitize=${REDLOCK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${REDLOCK_SANITIZE})
  # Several sources at once take less than half the time. Not in other builds, where a source that forgot to include
  # something is to fail.
  set(CMAKE_UNITY_BUILD ON)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>) # it takes an included source for a header
endif()

# redlock_layer(name [LINK target...]): the static library of one folder of src, made of all its .cpp files. It sees the
# folders it links and nothing else by linking; scripts/check-layers holds the includes to the same.
function(redlock_layer name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  add_library(redlock_${name} STATIC ${sources})
  target_include_directories(redlock_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
  target_link_libraries(redlock_${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:redlock_flags>)
  target_compile_features(redlock_${name} PUBLIC cxx_std_20)
endfunction()
