# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts beside the programs: desktop integration, man pages, completion, the CPU libraries.
include(GNUInstallDirs)
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
install(FILES ${packaging}/man/opscope-cli.1 ${packaging}/man/opscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${packaging}/completions/opscope-cli.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME opscope-cli)
install(FILES ${packaging}/desktop/org.opscope.Opscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${packaging}/desktop/org.opscope.Opscope.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${packaging}/desktop/org.opscope.Opscope.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
    RENAME org.opscope.Opscope.xml)
install(FILES ${packaging}/desktop/org.opscope.Opscope.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
