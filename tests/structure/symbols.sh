#!/usr/bin/env bash
# What the archives ask of other libraries: memory and frontend nothing of asmjit, none of the four anything of
# mimalloc, which interposes malloc on whoever links it; only the command-line program does. And they have no mutable
# globals, so that two devices in one process are independent; but for the runner of user MSR programs, which is one a
# process, as its signal handler is.
# usage: tests/structure/symbols.sh FOLDER_WITH_ARCHIVES PROGRAM_THAT_LINKS_RUNTIME
set -euo pipefail
folder=$1
embedder=$2

failed=0
fail() {
  echo "$1"
  failed=1
}
# wanted ARCHIVE PATTERN: the undefined symbols of the archive that match.
wanted() { nm --demangle --undefined-only "$folder/libeumulate_$1.a" | grep -E "$2" | sort -u || true; }

[[ -n $(wanted jit 'asmjit::') ]] || fail "this check does not see what it should: jit must ask for asmjit symbols"
for name in memory frontend; do
  found=$(wanted $name 'asmjit::')
  [[ -z $found ]] || fail "$name asks for asmjit symbols:"$'\n'"$found"
done
for name in memory frontend jit runtime; do
  found=$(wanted $name ' U mi_')
  [[ -z $found ]] || fail "$name asks for mimalloc symbols:"$'\n'"$found"
done
if readelf --dynamic "$embedder" | grep 'NEEDED.*mimalloc'; then
  fail "$embedder, which links the runtime library, loads mimalloc"
fi

# Objects of project code in writable sections; constants that a function makes on first use have a guard variable.
objects=$(for name in memory frontend jit runtime; do
  objdump --syms --demangle "$folder/libeumulate_$name.a" |
    sed -nE 's/^[0-9a-f]+ .{7} \.t?(data|bss)(\.rel)?(\._Z\S*)?\t[0-9a-f]+ (.*eum::.*)$/\4/p'
done | sort -u)
while read -r object; do
  [[ -z $object || $object == 'guard variable for '* || $object == 'eum::rt::native::'* ]] || grep -qxF "guard variable for $object" <<<"$objects" ||
    fail "mutable global: $object"
done <<<"$objects"
exit $failed
