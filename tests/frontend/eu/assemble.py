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

JMPI, CALLS = 0x20, (0x2b, 0x2c)
END_OF_THREAD = "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}"


def for_gen7(code):
    """Words of Gen7.5 as Gen7 has them: offsets of jmpi and call count 8 bytes, and a call has 16 bits for its."""
    words = [bytearray(code[i:i + 16]) for i in range(0, len(code), 16)]
    for word in words:
        immediate = word[5] >> 2 & 3 == 3
        if word[0] & 0x7f == JMPI and immediate:
            word[12:16] = (int.from_bytes(word[12:16], "little", signed=True) // 8).to_bytes(4, "little", signed=True)
        elif word[0] & 0x7f in CALLS and immediate:
            offset = int.from_bytes(word[12:16], "little", signed=True) // 8
            word[12:16] = (offset & 0xffff).to_bytes(4, "little")
    return b"".join(words)


def assemble(name, family, lines):
    """Lines in iga64's syntax; `.word HEX` is a word that it cannot say."""
    words = {i: bytes.fromhex(line.removeprefix(".word ")) for i, line in enumerate(lines) if line.startswith(".word ")}
    lines = ["nop" if i in words else line for i, line in enumerate(lines)]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "k.asm")
        target = pathlib.Path(folder, "k.bin")
        source.write_text("\n".join(lines + [END_OF_THREAD]) + "\n")
        done = subprocess.run(["iga64", "-a", "-p", "7p5" if family == "7" else family, str(source), "-o", str(target)],
                              capture_output=True, text=True)
        if not target.exists():
            sys.exit(f"case {name}: {done.stdout}{done.stderr}")
        code = bytearray(target.read_bytes())
        for i, word in words.items():
            code[16 * i:16 * i + 16] = word
        return for_gen7(code) if family == "7" else bytes(code)


def fill(path):
    out, asm, name, family = [], [], "", "9"

    def flush():
        if asm:
            code = assemble(name, family, asm)
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
            name, family = words[1], "9"
        if words and words[0] == "family":
            family = words[1]
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
