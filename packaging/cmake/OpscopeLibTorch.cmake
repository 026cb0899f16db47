# SPDX-License-Identifier: GPL-3.0-or-later
# Imported target `libtorch`: the CPU libraries and headers that packaging/fetch_libtorch.sh put into the user's cache,
# or the folder named by OPSCOPE_LIBTORCH (a full LibTorch or an unpacked wheel: it holds include/ and lib/).

set(OPSCOPE_LIBTORCH "$ENV{OPSCOPE_LIBTORCH}" CACHE PATH "Folder of LibTorch with include/ and lib/")
if(NOT OPSCOPE_LIBTORCH)
    if(DEFINED ENV{XDG_CACHE_HOME})
        set(cache $ENV{XDG_CACHE_HOME})
    else()
        set(cache $ENV{HOME}/.cache)
    endif()
    set(libtorch_dir ${cache}/opscope/libtorch-2.15.0-cp311/torch)
else()
    set(libtorch_dir ${OPSCOPE_LIBTORCH})
endif()
if(NOT EXISTS ${libtorch_dir}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "LibTorch is not at ${libtorch_dir}: run packaging/fetch_libtorch.sh or set OPSCOPE_LIBTORCH")
endif()

# libtorch_cpu.so of the wheel names libcudart.so.13 and libcupti.so.13 as needed. Without CUDA nothing of them is
# used: small libraries of our own with the same symbols and versions take their place.
set(cuda_dir ${CMAKE_BINARY_DIR}/cuda_absent)
set(cuda_libs)
if(NOT EXISTS ${libtorch_dir}/lib/libtorch_cuda.so)
    include(OpscopeCudaAbsent)
    opscope_add_cuda_absent(${cuda_dir} ${libtorch_dir})
    set(cuda_libs cudart_absent cupti_absent)
endif()

foreach(lib torch_cpu c10)
    add_library(libtorch_${lib} SHARED IMPORTED)
    set_target_properties(libtorch_${lib} PROPERTIES IMPORTED_LOCATION ${libtorch_dir}/lib/lib${lib}.so)
    target_include_directories(libtorch_${lib} SYSTEM INTERFACE ${libtorch_dir}/include
        ${libtorch_dir}/include/torch/csrc/api/include)
endforeach()
add_library(libtorch INTERFACE)
# Its headers then include the ops they use instead of all 3,000: 4 s of every file.
target_compile_definitions(libtorch INTERFACE AT_PER_OPERATOR_HEADERS)
# It is built with NDEBUG, without which its headers give some classes more members: a debug build of ours would read
# beside them.
target_compile_definitions(libtorch INTERFACE $<$<NOT:$<CONFIG:Release>>:NDEBUG>)
target_link_libraries(libtorch INTERFACE libtorch_torch_cpu libtorch_c10)
target_link_options(libtorch INTERFACE -Wl,--no-as-needed "-Wl,-rpath-link,${cuda_dir}:${libtorch_dir}/lib"
    -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags "-Wl,-rpath,${libtorch_dir}/lib:${cuda_dir}")
if(cuda_libs)
    add_dependencies(libtorch ${cuda_libs})
endif()
