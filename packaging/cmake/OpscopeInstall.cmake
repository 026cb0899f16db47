# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts beside the programs: desktop integration, man pages, completion, the CPU libraries.
include(GNUInstallDirs)
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
install(FILES ${packaging}/man/opscope-cli.1 ${packaging}/man/opscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${packaging}/completions/opscope-cli.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME opscope-cli)
install(FILES ${packaging}/desktop/opscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${packaging}/desktop/org.opscope.Opscope.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${packaging}/desktop/opscope.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
    RENAME opscope.xml)
install(FILES ${packaging}/desktop/opscope.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The sample: its model and source, and the trace that packaging/run.sh captured of it, if it did.
set(samples ${CMAKE_SOURCE_DIR}/resources/samples)
install(FILES ${samples}/masked_attention.pt2 ${samples}/masked_attention.pt ${samples}/masked_attention.py
    ${samples}/tokens.npy ${samples}/padding.npy ${samples}/inputs.json DESTINATION ${CMAKE_INSTALL_DATADIR}/opscope/samples)
install(FILES ${CMAKE_BINARY_DIR}/share/opscope/samples/masked_attention.opscope
    DESTINATION ${CMAKE_INSTALL_DATADIR}/opscope/samples OPTIONAL)
