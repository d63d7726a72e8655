#!/usr/bin/env python3
"""Fills the `code` lines of the lowering cases from their `asm` lines with iga64.

Usage: tests/frontend/eu/assemble.py [file.gen ...]     default: every file of tests/frontend/eu/cases

Each case gets the message that ends the thread behind its last instruction. Run it after editing a case; the bytes
are committed, so that tests need no assembler.
"""
import pathlib
import subprocess
import sys
import tempfile

END_OF_THREAD = "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}"


def assemble(name, lines):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "k.asm")
        target = pathlib.Path(folder, "k.bin")
        source.write_text("\n".join(lines + [END_OF_THREAD]) + "\n")
        done = subprocess.run(["iga64", "-a", "-p", "9", str(source), "-o", str(target)],
                              capture_output=True, text=True)
        if not target.exists():
            sys.exit(f"case {name}: {done.stdout}{done.stderr}")
        return target.read_bytes()


def fill(path):
    out, asm, name = [], [], ""

    def flush():
        if asm:
            code = assemble(name, asm)
            while out and not out[-1].strip():
                out.pop()
            for i in range(0, len(code), 32):
                out.append("  code " + " ".join(code[j:j + 16].hex() for j in range(i, min(i + 32, len(code)), 16)))
            out.append("")
            asm.clear()

    for line in path.read_text().splitlines():
        words = line.split(None, 1)
        if words and words[0] == "case":
            flush()
            name = words[1]
        if words and words[0] == "code":
            continue
        if words and words[0] == "asm":
            asm.append(words[1])
        out.append(line)
    flush()
    path.write_text("\n".join(out).rstrip() + "\n")


folder = pathlib.Path(__file__).parent / "cases"
for path in [pathlib.Path(p) for p in sys.argv[1:]] or sorted(folder.glob("*.gen")):
    fill(path)
