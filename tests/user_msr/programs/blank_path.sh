#!/usr/bin/env bash
# A runner in a folder whose name the dynamic loader would split: the program runs under it, and so does its child.
# usage: blank_path.sh EUMULATE LIBRARY CONFIGURATION PROGRAM
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/a b:c \$LIB" "$work/links"
cp "$1" "$2" "$work/a b:c \$LIB"
export XDG_RUNTIME_DIR=$work/links
for _ in 1 2; do "$work/a b:c \$LIB/eumulate" msr run --config "$3" -- bash -c "'$4' child && '$4' child"; done
# One name for each path, however often it is used; none where others could put theirs.
[[ $(find "$work/links" -type l | wc -l) -eq 1 ]]
chmod 777 "$work/links"/*
export TMPDIR=$work/links
! XDG_RUNTIME_DIR='' "$work/a b:c \$LIB/eumulate" msr run --config "$3" -- true 2>"$work/error" || [[ ! -s $work/error ]]
