# SPDX-License-Identifier: GPL-3.0-or-later
# What every target of the project shares: warnings, sanitizers, ccache, and how a library or a program is declared.

find_program(OPSCOPE_CCACHE ccache)
if(OPSCOPE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${OPSCOPE_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${OPSCOPE_CCACHE})
endif()

find_program(OPSCOPE_LLD ld.lld)
if(OPSCOPE_LLD)
    add_link_options(-fuse-ld=lld)
endif()

# LibTorch files take over 1 GB of memory each to compile.
cmake_host_system_information(RESULT opscope_memory QUERY TOTAL_PHYSICAL_MEMORY) # MiB
math(EXPR opscope_torch_jobs "${opscope_memory} / 3000")
if(opscope_torch_jobs LESS 1)
    set(opscope_torch_jobs 1)
elseif(opscope_torch_jobs GREATER 16)
    set(opscope_torch_jobs 16)
endif()
set_property(GLOBAL PROPERTY JOB_POOLS torch_pool=${opscope_torch_jobs})

add_library(opscope_options INTERFACE)
# Off: warnings that GCC 12 gives for right code inlined from the standard library (std::string, std::variant, also
# through a precompiled header) and from simdjson.
target_compile_options(opscope_options INTERFACE
    -Wall -Wextra -Werror -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
target_compile_definitions(opscope_options INTERFACE QT_NO_KEYWORDS QT_NO_CAST_FROM_BYTEARRAY
    QT_DISABLE_DEPRECATED_BEFORE=0x060400)
target_include_directories(opscope_options INTERFACE ${CMAKE_SOURCE_DIR})
if(OPSCOPE_SANITIZE)
    target_compile_options(opscope_options INTERFACE -fsanitize=${OPSCOPE_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=undefined)
    target_link_options(opscope_options INTERFACE -fsanitize=${OPSCOPE_SANITIZE})
endif()

# A static library of all sources of one folder. Files are globbed so that a new file needs no second edit.
function(opscope_library name folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.h)
    if(NOT sources)
        add_library(${name} INTERFACE)
        target_link_libraries(${name} INTERFACE opscope_options ${ARGN})
        return()
    endif()
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC opscope_options ${ARGN})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# Precompiled headers: what a file includes costs most of its compile time. The core-only build goes without them, so
# that a missing include shows there.
option(OPSCOPE_PRECOMPILE "Precompile the headers of the standard library, Qt and LibTorch" ON)
set(opscope_std_headers <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <filesystem> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <unordered_map>
    <unordered_set> <utility> <variant> <vector>)
function(opscope_precompile target)
    if(OPSCOPE_PRECOMPILE AND TARGET ${target})
        target_precompile_headers(${target} PRIVATE ${opscope_std_headers} ${ARGN})
        # ccache reads from the preprocessed text what a precompiled header was made of.
        if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            target_compile_options(${target} PRIVATE -fpch-preprocess)
        endif()
    endif()
endfunction()
