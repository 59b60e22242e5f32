; EndRunning: end the processes whose program lies in $INSTDIR, but this one. First their windows are closed, after three
; seconds they are terminated (a recording is whole up to that moment). Asks before, unless silent.
; Look: closes windows ($R8 = 1) or terminates ($R8 = 2) or only counts ($R8 = 0); the number of processes in $R9.
!macro RUNNING UN
Function ${UN}Look
  StrCpy $R9 0
  System::Call 'kernel32::GetCurrentProcessId() i .r8'
  System::Alloc 65536
  Pop $0
  System::Call 'kernel32::K32EnumProcesses(p r0, i 65536, *i .r1)'
  IntOp $1 $1 / 4
  StrCpy $2 0
  StrLen $7 "$INSTDIR\"
  ${DoWhile} $2 < $1
    IntOp $3 $2 * 4
    IntPtrOp $3 $0 + $3
    System::Call '*$3(i .r4)'
    IntOp $2 $2 + 1
    ${If} $4 = $8
    ${OrIf} $4 = 0
      ${Continue}
    ${EndIf}
    ; PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_TERMINATE
    System::Call 'kernel32::OpenProcess(i 0x1001, i 0, i r4) p .r5'
    ${If} $5 P= 0
      ${Continue}
    ${EndIf}
    StrCpy $6 ""
    System::Call 'kernel32::QueryFullProcessImageNameW(p r5, i 0, w .r6, *i ${NSIS_MAX_STRLEN})'
    StrCpy $6 $6 $7
    ${If} $6 == "$INSTDIR\"
      IntOp $R9 $R9 + 1
      ${If} $R8 = 1
        Push $0
        Push $1
        System::Call 'user32::GetTopWindow(p 0) p .r0'
        ${DoWhile} $0 P<> 0
          System::Call 'user32::GetWindowThreadProcessId(p r0, *i .r1)'
          System::Call 'user32::IsWindowVisible(p r0) i .r3'
          ${If} $1 = $4
          ${AndIf} $3 <> 0
            System::Call 'user32::PostMessageW(p r0, i 0x10, p 0, p 0)' ; WM_CLOSE
          ${EndIf}
          System::Call 'user32::GetWindow(p r0, i 2) p .r0' ; GW_HWNDNEXT
        ${Loop}
        Pop $1
        Pop $0
      ${ElseIf} $R8 = 2
        System::Call 'kernel32::TerminateProcess(p r5, i 1)'
      ${EndIf}
    ${EndIf}
    System::Call 'kernel32::CloseHandle(p r5)'
  ${Loop}
  System::Free $0
FunctionEnd

Function ${UN}EndRunning
  StrCpy $R8 0
  Call ${UN}Look
  ${If} $R9 = 0
    Return
  ${EndIf}
  MessageBox MB_OKCANCEL|MB_ICONEXCLAMATION "$(RUNS)" /SD IDOK IDOK go_on
  SetErrorLevel 1
  Quit
go_on:
  StrCpy $R8 1
  Call ${UN}Look
  StrCpy $R8 0
  StrCpy $R7 0
  ${Do}
    Sleep 100
    IntOp $R7 $R7 + 1
    ${If} $R7 = 30
      StrCpy $R8 2
    ${EndIf}
    Call ${UN}Look
    StrCpy $R8 0
    ${If} $R7 > 100
      MessageBox MB_ICONSTOP "$(STAYS)" /SD IDOK
      SetErrorLevel 3
      Abort "$(STAYS)"
    ${EndIf}
  ${LoopUntil} $R9 = 0
FunctionEnd
!macroend
