; GPUMon's installer, made by ../windows_build.py: for one user, without an administrator.
;   setup.exe /S                silent          /AUTOSTART   also start with Windows
;   setup.exe /D=C:\Folder      elsewhere (last, no quotes)
;   uninstall.exe /S            silent; the user's settings, data and logs stay
; A copy that runs from the folder is ended first: after a question, or at once when silent.
Unicode true
Target amd64-unicode
ManifestDPIAware true
RequestExecutionLevel user
Name "GPUMon"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\GPUMon"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\GPUMon"
!define RUN_KEY "Software\Microsoft\Windows\CurrentVersion\Run"
!define PATHS_KEY "Software\Microsoft\Windows\CurrentVersion\App Paths"
!define FILE_TYPE "GPUMon.Recording"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
!ifdef FAST
  SetCompressor zlib
!else
  SetCompressor /SOLID lzma
!endif
!ifdef SIGN
  !uninstfinalize '${SIGN}'
!endif
Icon "${ICON}"
UninstallIcon "${ICON}"
VIProductVersion "${VERSION}.0"
VIAddVersionKey ProductName "GPUMon"
VIAddVersionKey FileDescription "GPUMon setup"
VIAddVersionKey CompanyName "The GPUMon developers"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey LegalCopyright "GNU General Public License, version 3 or later"

!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!include x64.nsh
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_FINISHPAGE_RUN "$INSTDIR\gpumon-gui.exe"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString RUNS ${LANG_ENGLISH} "GPUMon is running. It will be ended to go on."
LangString RUNS ${LANG_SIMPCHINESE} "GPUMon 正在运行。要继续，需要先将其结束。"
LangString STAYS ${LANG_ENGLISH} "GPUMon cannot be ended, so its files cannot be replaced. End it and start again."
LangString STAYS ${LANG_SIMPCHINESE} "无法结束 GPUMon，因此无法替换其文件。请手动结束后重试。"
LangString OLD ${LANG_ENGLISH} "GPUMon needs 64-bit Windows 10 or newer."
LangString OLD ${LANG_SIMPCHINESE} "GPUMon 需要 64 位的 Windows 10 或更高版本。"
LangString MAIN ${LANG_ENGLISH} "GPUMon"
LangString MAIN ${LANG_SIMPCHINESE} "GPUMon"
LangString TYPE ${LANG_ENGLISH} "Open recordings (.gpumon) with GPUMon"
LangString TYPE ${LANG_SIMPCHINESE} "用 GPUMon 打开记录文件（.gpumon）"
LangString AUTOSTART ${LANG_ENGLISH} "Start with Windows"
LangString AUTOSTART ${LANG_SIMPCHINESE} "开机时启动"
LangString DESKTOP ${LANG_ENGLISH} "Shortcut on the desktop"
LangString DESKTOP ${LANG_SIMPCHINESE} "桌面快捷方式"
LangString RECORDING ${LANG_ENGLISH} "GPUMon recording"
LangString RECORDING ${LANG_SIMPCHINESE} "GPUMon 记录"

!include "${__FILEDIR__}\running.nsh"
!insertmacro RUNNING ""
!insertmacro RUNNING "un."

!macro REMOVE_PROGRAM
  Delete "$INSTDIR\gpumon.exe"
  Delete "$INSTDIR\gpumon-gui.exe"
  RMDir /r "$INSTDIR\_internal"
  RMDir /r "$INSTDIR\licences"
!macroend

!macro TELL_SHELL
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)' ; SHCNE_ASSOCCHANGED
!macroend

Function .onInit
  ${IfNot} ${RunningX64}
    MessageBox MB_ICONSTOP "$(OLD)" /SD IDOK
    SetErrorLevel 2
    Abort
  ${EndIf}
FunctionEnd

Section "$(MAIN)"
  SectionIn RO
  Call EndRunning
  ClearErrors
  !insertmacro REMOVE_PROGRAM ; so that nothing of an older version stays behind
  ${If} ${Errors}
    MessageBox MB_ICONSTOP "$(STAYS)" /SD IDOK
    SetErrorLevel 3
    Abort "$(STAYS)"
  ${EndIf}
  SetOutPath "$INSTDIR"
  File /r "${SOURCE}/*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortCut "$SMPROGRAMS\GPUMon.lnk" "$INSTDIR\gpumon-gui.exe"
  WriteRegStr HKCU "${PATHS_KEY}\gpumon.exe" "" "$INSTDIR\gpumon.exe"
  WriteRegStr HKCU "${PATHS_KEY}\gpumon-gui.exe" "" "$INSTDIR\gpumon-gui.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "GPUMon"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\gpumon-gui.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The GPUMon developers"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${KILOBYTES}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

Section "$(TYPE)"
  WriteRegStr HKCU "Software\Classes\.gpumon" "" "${FILE_TYPE}"
  WriteRegStr HKCU "Software\Classes\.gpumon\OpenWithProgids" "${FILE_TYPE}" ""
  WriteRegStr HKCU "Software\Classes\${FILE_TYPE}" "" "$(RECORDING)"
  WriteRegStr HKCU "Software\Classes\${FILE_TYPE}\DefaultIcon" "" "$INSTDIR\gpumon-gui.exe,0"
  WriteRegStr HKCU "Software\Classes\${FILE_TYPE}\shell\open\command" "" '"$INSTDIR\gpumon-gui.exe" --replay "%1"'
  !insertmacro TELL_SHELL
SectionEnd

Section /o "$(AUTOSTART)" AUTOSTART_SECTION
  WriteRegStr HKCU "${RUN_KEY}" "GPUMon" '"$INSTDIR\gpumon-gui.exe" --tray'
SectionEnd

Section /o "$(DESKTOP)"
  CreateShortCut "$DESKTOP\GPUMon.lnk" "$INSTDIR\gpumon-gui.exe"
SectionEnd

Section -autostart-by-switch
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/AUTOSTART" $1
  ${IfNot} ${Errors}
    WriteRegStr HKCU "${RUN_KEY}" "GPUMon" '"$INSTDIR\gpumon-gui.exe" --tray'
  ${EndIf}
SectionEnd

Section Uninstall
  Call un.EndRunning
  ClearErrors
  !insertmacro REMOVE_PROGRAM
  ${If} ${Errors}
    MessageBox MB_ICONSTOP "$(STAYS)" /SD IDOK
    SetErrorLevel 3
    Abort "$(STAYS)"
  ${EndIf}
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR" ; stays when the user put files into it
  Delete "$SMPROGRAMS\GPUMon.lnk"
  Delete "$DESKTOP\GPUMon.lnk"
  ReadRegStr $0 HKCU "Software\Classes\.gpumon" ""
  ${If} $0 == "${FILE_TYPE}"
    DeleteRegValue HKCU "Software\Classes\.gpumon" ""
  ${EndIf}
  DeleteRegValue HKCU "Software\Classes\.gpumon\OpenWithProgids" "${FILE_TYPE}"
  DeleteRegKey /ifempty HKCU "Software\Classes\.gpumon\OpenWithProgids"
  DeleteRegKey /ifempty HKCU "Software\Classes\.gpumon"
  DeleteRegKey HKCU "Software\Classes\${FILE_TYPE}"
  DeleteRegValue HKCU "${RUN_KEY}" "GPUMon"
  DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "GPUMon"
  DeleteRegKey HKCU "${PATHS_KEY}\gpumon.exe"
  DeleteRegKey HKCU "${PATHS_KEY}\gpumon-gui.exe"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  !insertmacro TELL_SHELL
SectionEnd
