#!/usr/bin/env bash
#
# Builds a release and puts it on a server.

set -euo pipefail

readonly PROGRAM="${0##*/}"
VERSION=1.4
declare -i verbose=0
export DEPLOY_ROOT=/srv/releases
declare -A SERVERS=([north]=n1.example.com [south]=s1.example.com)
KEEP=5; RETRIES=3
tmp_dir=$(mktemp -d)
targets=()

source "$(dirname "$0")/lib/log.sh"
. ./lib/colours.sh

# Prints a message when asked to talk.
say() {
    if (( verbose > 0 )); then
        printf '%s: %s\n' "$PROGRAM" "$*" >&2
    fi
}

die() {
    local status=${2:-1}
    echo "$PROGRAM: $1" >&2
    exit "$status"
}

usage() {
    cat <<EOF
usage: $PROGRAM [-v] [-n COUNT] TARGET...
keeps $KEEP releases
EOF
}

# Removes what is left over.
function cleanup {
    local code=$?
    rm -rf -- "$tmp_dir"
    unset tmp_dir
    return "$code"
}

function require-tools() {
    local tool
    for tool in git tar "$@"; do
        command -v "$tool" > /dev/null || die "no $tool here" 2
    done
}

parse_options() {
    while getopts ':vn:' option; do
        case "$option" in
            v) verbose=$((verbose + 1)) ;;
            n) KEEP=$OPTARG ;;
            \?|:) usage; die "bad option" ;;
        esac
    done
    shift $((OPTIND - 1))
    targets+=("$@")
}

checksum() {
    sha256sum "$1" | cut -d ' ' -f 1
}

build::archive() {
    local source=$1 archive
    archive="$tmp_dir/$(basename "$source").tar.gz"
    tar -C "$source" -czf "$archive" . || return 1
    echo "$archive"
}

build::manifest() (
    cd "$1"
    find . -type f -print0 | while IFS= read -r -d '' file; do
        [[ $file == *.log ]] && continue
        printf '%s  %s\n' "$(checksum "$file")" "$file"
    done > MANIFEST
)

retry() {
    local -i attempt=0
    until "$@"; do
        attempt+=1
        if [ "$attempt" -ge "$RETRIES" ]; then
            say "giving up"
            return 1
        elif [[ -n ${NO_RETRY:-} || $attempt -gt 9 ]]; then
            break
        fi
        sleep "$attempt"
    done
}

upload() {
    local host=${SERVERS[$1]} archive=$2
    say "uploading to $host"
    retry scp -q "$archive" "deploy@${host}:${DEPLOY_ROOT}/" && SERVERS[$1]=done
    LC_ALL=C ssh "$host" "tar -xzf ${archive##*/}"
}

prune() {
    local -a old
    mapfile -t old < <(ls -1t "$DEPLOY_ROOT")
    for (( i = KEEP; i < ${#old[@]}; i++ )); do
        rm -rf -- "${DEPLOY_ROOT:?}/${old[i]}"
    done
}

confirm() {
    local answer
    read -r -p "Go on? " answer
    case $answer in
        [yY]*) return 0 ;;
        *) return 1 ;;
    esac
}

choose() {
    select name in "${!SERVERS[@]}"; do
        [ -n "$name" ] || continue
        chosen=$name
        break
    done
}

with_lock() {
    exec 9> "$tmp_dir/lock"
    flock 9
    "$@"
    eval "$AFTER_LOCK"
}

stamp() { date -u +%Y%m%dT%H%M%SZ; }

export_settings() {
    export STAMP="$(stamp)" LANG
    export -f say
    declare -g LAST_RUN=$STAMP
    let COUNT=COUNT+1
}

announce() {
    trap 'say "interrupted"' INT
    for target; do
        say "$target ${SERVERS[$target]}"
    done
    inner_note() { echo "note: $1"; }
    inner_note "$VERSION"
}

report() {
    awk '{ total += $1 } END { print total }' "$1" \
        | tee -a report.txt
    wait
    ! grep -q failed report.txt
}

main() {
    trap cleanup EXIT
    require-tools ssh scp
    parse_options "$@"
    if [[ ${#targets[@]} -eq 0 ]]; then usage; exit 2; fi
    local archive target
    archive=$(build::archive src) || die "no archive"
    for target in "${targets[@]}"; do
        confirm && with_lock upload "$target" "$archive"
    done
    prune; report "$tmp_dir/times"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    main "$@"
fi

# What a person may type after the program.
complete_targets() {
    local word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=( $(compgen -W "${!SERVERS[*]}" -- "$word") )
}

is_number() { [[ $1 =~ ^[0-9]+$ ]]; }

join_by() {
    local separator=$1; shift
    local IFS=$separator
    printf '%s' "$*"
}

sum() {
    local -i total=0 number
    for number in "$@"; do
        is_number "$number" || continue
        (( total += number ))
    done
    echo $(( total * 2 ))
}

latest() { ls -t "$DEPLOY_ROOT" | head -n 1; }
alias_of() { local -n ref=$1; copy=$ref; unset -f old; }
