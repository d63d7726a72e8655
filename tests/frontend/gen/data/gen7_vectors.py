#!/usr/bin/env python3
"""Prints "32 hex digits, assembly" for each word of the Gen7 vectors, from FOLDER/*.asm and *.expected.

An instruction of the .asm ends with a semicolon, perhaps lines later; labels become distances in bytes.
Usage: gen7_vectors.py FOLDER
"""
import pathlib
import re
import sys

for asm in sorted(pathlib.Path(sys.argv[1]).glob("*.asm")):
    words = [line.replace(" ", "") for line in asm.with_suffix(".expected").read_text().split("\n") if line.strip()]
    instructions, labels, text = [], {}, ""
    for line in asm.read_text().split("\n"):
        label = re.fullmatch(r"\s*(\w+):\s*", line)
        if label:
            labels[label[1]] = len(instructions)
            continue
        text += " " + line
        if text.rstrip().endswith(";"):
            instructions.append(" ".join(text.split()))
            text = ""
    if len(instructions) != len(words):
        sys.exit(f"{asm}: {len(instructions)} instructions, {len(words)} words")
    for at, (word, instruction) in enumerate(zip(words, instructions)):
        resolved = re.sub(r"(?<=IP: )(\w+)", lambda label: str(16 * (labels[label[1]] - at)), instruction)
        print(word, resolved)
