# SPDX-License-Identifier: GPL-3.0-or-later
# Builds libcudart.so.13 and libcupti.so.13 with the symbols that libtorch_cpu.so names and no CUDA behind them.
function(opscope_add_cuda_absent out_dir libtorch_dir)
    foreach(name cudart cupti)
        set(source ${CMAKE_SOURCE_DIR}/packaging/cuda_absent/${name}.c)
        set(map ${CMAKE_SOURCE_DIR}/packaging/cuda_absent/${name}.map)
        add_library(${name}_absent SHARED ${source})
        set_target_properties(${name}_absent PROPERTIES OUTPUT_NAME ${name} SUFFIX ".so.13" NO_SONAME ON
            LIBRARY_OUTPUT_DIRECTORY ${out_dir} LINK_DEPENDS ${map})
        target_link_options(${name}_absent PRIVATE "-Wl,--version-script=${map}" "-Wl,-soname,lib${name}.so.13")
    endforeach()
endfunction()
