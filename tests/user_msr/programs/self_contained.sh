#!/usr/bin/env bash
# The preloaded library goes into any program: it needs glibc alone (clang takes ceil from its libm), and shows only what it stands in for.
# usage: self_contained.sh LIBRARY INTERPOSE_DEF
set -euo pipefail
others=$(readelf --dynamic "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -vxE 'lib[cm]\.so\.6|ld-linux-x86-64\.so\.2' || true)
[[ -z $others ]] || {
  echo "$1 needs $others"
  exit 1
}
diff <(sed -nE 's/^INTERPOSE\( *[^ ]+ +([A-Za-z0-9_]+),.*/\1/p' "$2" | cat - <(printf 'eum_msr_attach\neum_msr_detach\n') | sort) \
  <(nm --dynamic --defined-only "$1" | awk '{print $3}' | sort)
