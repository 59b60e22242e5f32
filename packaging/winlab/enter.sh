#!/bin/sh
# Run a command where Wine is.  usage: enter.sh COMMAND ARGUMENTS...
# Runs as root in mount and process namespaces of its own (session.py), so nothing mounted here outlives it.
#
# LAB_ROOT  "/", or a Debian 13 tree: the host's other top-level folders appear in it under their own names, so a path
#           outside the system folders means the same inside and outside
# LAB_COPY  a folder: WINEPREFIX is covered by a copy that is thrown away; what is written there lands in memory
set -eu

if [ -n "${LAB_COPY:-}" ]; then
    mount -t tmpfs -o size=6g gpumon-lab "$LAB_COPY"
    mkdir "$LAB_COPY/written" "$LAB_COPY/work"
    mount -t overlay -o "lowerdir=$WINEPREFIX,upperdir=$LAB_COPY/written,workdir=$LAB_COPY/work" overlay "$WINEPREFIX" \
        2>/dev/null || {
        cp -a "$WINEPREFIX" "$LAB_COPY/copy" # no overlayfs here
        mount --bind "$LAB_COPY/copy" "$WINEPREFIX"
    }
fi

[ "$LAB_ROOT" != / ] || exec "$@"

for folder in /*; do
    case $folder in
        /bin | /boot | /dev | /etc | /lib* | /lost+found | /proc | /run | /sbin | /sys | /usr | /var) continue ;;
    esac
    [ -d "$folder" ] && [ ! -L "$folder" ] || continue
    mkdir -p "$LAB_ROOT$folder"
    mount --rbind "$folder" "$LAB_ROOT$folder"
done
mount --rbind /dev "$LAB_ROOT/dev"
mount --rbind /sys "$LAB_ROOT/sys" # Wine reads the processor's topology there
mount -t proc proc "$LAB_ROOT/proc" 2>/dev/null || mount --rbind /proc "$LAB_ROOT/proc"
# The current folder is named: a shell started by chroot begins in /.
exec chroot "$LAB_ROOT" /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" "$@"
