#!/usr/bin/env bash
# Remakes data/NAME.dat from data/NAME.visaasm with the vendor's finaliser (GenX_IR of Debian libigc-tools), and with
# `random FIRST COUNT` makes random kernels there first (random_kernels.py). Usage: make_data.sh [random FIRST COUNT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = random ]; then
  python3 "$here/random_kernels.py" "$here/data" "$2" "$3"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for text in "$here"/data/*.visaasm; do
  name=$(basename "$text" .visaasm)
  cp "$text" "$work/"
  # The finaliser waits for ever on some texts.
  (cd "$work" && timeout 20 GenX_IR "$name.visaasm" -platform BXT -binary -output -noschedule >"$name.log" 2>&1) || true
  if [ ! -f "$work/$name.dat" ]; then
    echo "$name: the finaliser refuses it:"
    cat "$work/$name.log"
    exit 1
  fi
  mv "$work/$name.dat" "$here/data/"
done
