#!/bin/bash
set -eu

SOURCE="${1:-}"
OPTIONS=$(getopt -o 'hs:' -- "$@") || exit 2
WORK=$(mktemp -d) || { echo "no room" >&2; exit 1; }

vary() {
    local var="$1"
    for skipped in $skip; do
        if [ "$skipped" = "$var" ] || [[ -n "$all" && "$var" != time ]]; then
            return
        fi
    done
    echo "${command:-dpkg-buildpackage -b $flags} ${prefix:+faketime now}"
}

build ()
{
    export which="$1"
    if ! vary path > "$WORK/build.sh"; then
        exit 1
    fi
    cp -r "$SOURCE" "$WORK/$which" || true
}

if [ -n "$WORK" ]; then
    cleanup () {
        rm -rf "$WORK"
    }
    trap cleanup EXIT
fi

build first && build second
