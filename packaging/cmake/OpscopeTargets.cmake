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

# Files compiled together: what they include and instantiate is then worked on once, which halves the time of a build
# from nothing; a change of one file costs its whole batch. A file's batch follows from its name and the SALT of its
# target, so that a new file moves no other. Names in unnamed namespaces must differ within a batch: the salts were
# chosen for that, the files in EXCEPT compile alone. BY_FOLDER: only files of one folder share a batch.
option(OPSCOPE_BATCHES "Compile files in batches" OFF)
function(opscope_batch target salt)
    if(NOT OPSCOPE_BATCHES OR NOT TARGET ${target})
        return()
    endif()
    cmake_parse_arguments(batch "BY_FOLDER" "" "EXCEPT" ${ARGN})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set(folders)
    foreach(source IN LISTS sources)
        set(folder all)
        if(batch_BY_FOLDER)
            get_filename_component(folder ${source} DIRECTORY)
            get_filename_component(folder ${folder} NAME)
        endif()
        list(APPEND folders ${folder})
        list(APPEND files_${folder} ${source})
    endforeach()
    list(REMOVE_DUPLICATES folders)
    foreach(folder IN LISTS folders)
        list(LENGTH files_${folder} count)
        math(EXPR batches "(${count} + 7) / 8")
        foreach(source IN LISTS files_${folder})
            get_filename_component(name ${source} NAME_WE)
            if(name IN_LIST batch_EXCEPT)
                set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
                continue()
            endif()
            string(MD5 hash "${salt}${name}")
            string(SUBSTRING ${hash} 0 6 hash)
            math(EXPR batch "0x${hash} % ${batches}")
            set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${batch}")
        endforeach()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
