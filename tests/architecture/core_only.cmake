# SPDX-License-Identifier: GPL-3.0-or-later
# Configures and builds the preset core-only into BINARY with Qt, LibTorch and Graphviz out of reach: `core` needs none
# of them. Called with -DSOURCE=... -DBINARY=...
# -DTYPE=... -P. It goes without precompiled headers, so that each file must include what it uses.
execute_process(COMMAND ${CMAKE_COMMAND} --preset core-only -B ${BINARY} -DCMAKE_DISABLE_FIND_PACKAGE_Qt6=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_BUILD_TYPE=${TYPE} WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE configured)
if(configured)
    message(FATAL_ERROR "configuring core-only did not succeed")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} RESULT_VARIABLE built)
if(built)
    message(FATAL_ERROR "building core-only did not succeed")
endif()
if(NOT EXISTS ${BINARY}/core/libcore.a)
    message(FATAL_ERROR "core-only did not make ${BINARY}/core/libcore.a")
endif()
