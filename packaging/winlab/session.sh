#!/bin/sh
# One session, started by enter.sh: a virtual screen, Wine on it, one command, then the end of everything.
# usage: session.sh COMMAND ARGUMENTS...       The exit code is the command's; 124: out of time; 125: no screen.
# From session.py: LAB_FOLDER (of this session), LAB_SECONDS, LAB_SIZE (WxH), LAB_DPI, LAB_WINDOWS (win10, win11),
# LAB_DLLS (folder of DLLs to put into system32).
set -u
stop() {
    trap - TERM INT HUP
    timeout 10 wineserver -k 2>/dev/null
    [ -z "${screen:-}" ] || kill "$screen" 2>/dev/null
}
trap 'stop; exit 124' TERM INT HUP

Xvfb -displayfd 5 -screen 0 "${LAB_SIZE}x24" -nolisten tcp -noreset -fbdir "$LAB_FOLDER" \
    5>"$LAB_FOLDER/display" >"$LAB_FOLDER/xvfb.log" 2>&1 </dev/null &
screen=$!
n=0
while [ ! -s "$LAB_FOLDER/display" ]; do
    n=$((n + 1))
    if [ $n -gt 100 ] || ! kill -0 $screen 2>/dev/null; then
        echo "lab: no X server: $(tail -n 3 "$LAB_FOLDER/xvfb.log")" >&2
        exit 125
    fi
    sleep 0.1
done
DISPLAY=:$(cat "$LAB_FOLDER/display")
export DISPLAY

system32=$WINEPREFIX/drive_c/windows/system32
for dll in "$LAB_DLLS"/*.dll; do
    [ -e "$dll" ] || continue
    name=${dll##*/}
    [ ! -e "$system32/$name" ] || mv "$system32/$name" "$system32/$name.wine"
    cp "$dll" "$system32/$name"
done

# Read when Wine starts, so they are set before; the disk is made with the first line's values.
if [ -e "$WINEPREFIX/system.reg" ] && [ "$LAB_SIZE $LAB_DPI $LAB_WINDOWS" != "1600x1000 96 win10" ]; then
    dpi=$(printf '%08x' "$LAB_DPI")
    cat >"$LAB_FOLDER/screen.reg" <<REG
REGEDIT4

[HKEY_CURRENT_USER\\Software\\Wine]
"Version"="$LAB_WINDOWS"

[HKEY_CURRENT_USER\\Software\\Wine\\Explorer\\Desktops]
"shell"="$LAB_SIZE"

[HKEY_CURRENT_USER\\Control Panel\\Desktop]
"LogPixels"=dword:$dpi

[HKEY_CURRENT_USER\\Software\\Wine\\Fonts]
"LogPixels"=dword:$dpi
REG
    timeout 60 wine regedit /S "$LAB_FOLDER/screen.reg" </dev/null >/dev/null 2>&1
    timeout 30 wineserver -k
    timeout 30 wineserver -w
fi

# In the background and waited for, so that a signal to this script is heard at once; a background job would lose
# its standard input, hence 3.
exec 3<&0
timeout -k 5 "$LAB_SECONDS" "$@" 0<&3 3<&- &
wait $!
code=$?
[ $code -ne 137 ] || code=124
exec 3<&-
[ "${LAB_KEEP:-0}" = 0 ] || timeout 30 wineserver -k 15 # the registry is written
stop
exit $code
