"""Runs firmware in LabWired, instruction by instruction: steps.py ELF SYSTEM BEGIN START LENGTH COUNT.

When it comes to BEGIN for the second time, COUNT records go to standard output: R0, LR, PC as 32-bit words, and a byte. It is 1
when the memory at START has changed, and the memory follows.
"""

import struct
import sys
from pathlib import Path

import labwired

R0, LR, PC = 0, 14, 15

elf, system = sys.argv[1:3]
begin, start, length, count = (int(number) for number in sys.argv[3:])
system = Path(labwired.__file__).parent / "configs" / "systems" / f"{system}.yaml"
machine = labwired.Machine(elf, str(system))
for _ in range(2):
    machine.step(1)
    while machine.get_pc() & ~1 != begin:
        machine.step(1)
known = None
for _ in range(count):
    memory = bytes(machine.read_memory(start, length))
    registers = (machine.read_register(number) for number in (R0, LR, PC))
    sys.stdout.buffer.write(struct.pack("<3IB", *registers, memory != known))
    if memory != known:
        sys.stdout.buffer.write(memory)
    known = memory
    machine.step(1)
