"""Runs firmware of an ESP32-C3 in LabWired for a while, and writes its RAM: esp32c3.py ELF DUMP.

LabWired has no ROM of the chip, which is not free, and no registers of its analogue parts. What esp-hal calls of the ROM is
here, as short as it can be, and the registers are memory.
"""

import os
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import labwired

RETURN = 0x00008067
# By the address of a function: its instructions. Some jump to the loops behind them.
ROM = {
    # rtc_get_reset_reason: power-on.
    0x018: [0x00100513, RETURN],
    # ets_delay_us, ets_update_cpu_frequency, rom_i2c_writeReg.
    0x050: [RETURN],
    0x588: [RETURN],
    0x195C: [RETURN],
    # memset, memcpy.
    0x354: [0x4AD0006F],
    0x358: [0x4C50006F],
    # __udivdi3 of small numbers.
    0x8AC: [0x02C55533, 0x00000593, RETURN],
    # esp_rom_regi2c_read: 0.
    0x1954: [0x00000513, RETURN],
    # mv t0,a0; 1: beqz a2,2f; sb a1,0(t0); addi t0,t0,1; addi a2,a2,-1; j 1b; 2: ret
    0x1000: [0x00050293, 0x00060A63, 0x00B28023, 0x00128293, 0xFFF60613, 0xFF1FF06F, RETURN],
    # mv t0,a0; 1: beqz a2,2f; lb t1,0(a1); sb t1,0(t0); addi t0,t0,1; addi a1,a1,1; addi a2,a2,-1; j 1b; 2: ret
    0x101C: [0x00050293, 0x00060E63, 0x00058303, 0x00628023, 0x00128293, 0x00158593, 0xFFF60613, 0xFE9FF06F, RETURN],
}
ROM_SIZE = 0x60000
# The registers of the analogue parts, which set the clock.
REGISTERS = """memory_regions:
  - name: "analogue"
    base: 0x6000E000
    size: "4KB"
"""
RAM, RAM_SIZE = 0x3FC80000, 400 * 1024
# Enough for some milliseconds.
INSTRUCTIONS = 500_000

elf, dump = sys.argv[1:]
with tempfile.TemporaryDirectory() as directory:
    rom = bytearray(ROM_SIZE)
    for address, instructions in ROM.items():
        struct.pack_into(f"<{len(instructions)}I", rom, address, *instructions)
    os.environ["LABWIRED_ESP32C3_ROM"] = f"{directory}/rom.bin"
    Path(directory, "rom.bin").write_bytes(rom)
    configs = Path(directory, "configs")
    shutil.copytree(Path(labwired.__file__).parent / "configs", configs)
    chip = configs / "chips/esp32c3.yaml"
    chip.write_text(chip.read_text().replace("memory_regions:\n", REGISTERS, 1))
    machine = labwired.Machine(elf, str(configs / "systems/esp32c3-devkit.yaml"))
    machine.step(INSTRUCTIONS)
    Path(dump).write_bytes(bytes(machine.read_memory(RAM, RAM_SIZE)))
