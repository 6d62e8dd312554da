# The command `xhist` inside gdb: the history of the program that gdb has halted, or of the core that it has open.
#
#     (gdb) source xhist.py
#     (gdb) xhist --last 20
#     (gdb) xhist calls
#
# `xhist-report --gdb-script > xhist.py` writes this file. Arguments of `xhist` are xhist-report's: a report and its options;
# without a report it is `history`. On an operating system it dumps the rings of all threads; on bare metal the ring at the
# symbol XHIST_RING. `xhist-report` prints them, or `cargo-xhist`, which has the same reports. XHIST_REPORT in the
# environment names another xhist-report.

import os
import re
import shutil
import struct
import subprocess
import tempfile

import gdb

MAGIC = b"\x7exHist\xa7\x1d"
HEADER_LENGTHS = (64, 4096, 8192, 16384, 32768, 65536)
PIECE = 1 << 20
MISSING = (
    "`%s` cannot be started (%s). This command needs cargo-xhist or xhist-report: install one with "
    "`cargo install --path cargo-xhist` in a checkout of xhist, or name the file of an xhist-report in the variable "
    "XHIST_REPORT before gdb starts"
)


def report(word, arguments):
    """Runs a report of xhist-report, and waits for it."""
    command = [program(), word]
    try:
        # Outside of gdb's own environment nothing of it may be changed, and nothing is read from its terminal.
        return subprocess.run(
            command + arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
    except OSError as error:
        raise gdb.GdbError(MISSING % (command[0], error.strerror))


def program():
    """The program that has the reports."""
    installed = [name for name in ("xhist-report", "cargo-xhist") if shutil.which(name)]
    return os.environ.get("XHIST_REPORT") or (installed + ["xhist-report"])[0]


def core_file():
    """The path of the core that gdb has open, if it has one."""
    found = re.search(r"core dump file:\s+`(.*)', file type", gdb.execute("info files", to_string=True))
    return found.group(1) if found else None


def program_file():
    return gdb.current_progspace().filename


def bare_ring():
    """First address of the ring of firmware and the one behind it; None where an operating system is below."""
    elf = program_file()
    if elf is None:
        return None
    printed = report("history", ["--how-to-dump", elf])
    found = re.search(r"dump binary memory dump\.bin (0x[0-9a-f]+) (0x[0-9a-f]+)", printed.stdout)
    return (int(found.group(1), 16), int(found.group(2), 16)) if found else None


def mappings():
    """Memory that the program may write, as pairs of addresses."""
    try:
        text = gdb.execute("info proc mappings", to_string=True)
    except gdb.error as error:
        raise gdb.GdbError("its memory is not known (%s); start the program, or attach to it" % error)
    for line in text.splitlines():
        words = line.split()
        if len(words) < 4 or not words[0].startswith("0x"):
            continue
        permissions = next((word for word in words[4:6] if re.fullmatch(r"[r-][w-][x-][ps]", word)), "rw")
        if permissions.startswith("rw"):
            yield int(words[0], 16), int(words[1], 16)


def rings(memory):
    """Each ring in memory: its first address and its length."""
    ranges = list(mappings())
    behind = dict(ranges)
    for start, end in ranges:
        # A ring may lie in several mappings, one behind the other.
        room = end
        while room in behind:
            room = behind[room]
        at = start
        while at < end:
            try:
                found = memory.search_memory(at, end - at, MAGIC)
                header = found is not None and memory.read_memory(found, 24).tobytes()
            except gdb.error:
                break
            if found is None:
                break
            order = "<" if header[8:12] == b"\x0d\x0c\x0b\x0a" else ">"
            mark, header_length, size = struct.unpack(order + "8xI4xH2xI", header)
            header_length = header_length or 65536
            at = found + len(MAGIC)
            if mark == 0x0A0B0C0D and header_length in HEADER_LENGTHS and found + header_length + size <= room:
                yield found, header_length + size
                at = found + header_length + size


def dump(memory, start, length, file):
    for at in range(start, start + length, PIECE):
        file.write(memory.read_memory(at, min(PIECE, start + length - at)))


def temporary_directory():
    """Beside the program, so that xhist-report finds the map above it; elsewhere if nothing can be written there."""
    elf = program_file()
    try:
        return tempfile.TemporaryDirectory(prefix=".xhist-", dir=os.path.dirname(os.path.abspath(elf)))
    except (OSError, TypeError):
        return tempfile.TemporaryDirectory(prefix="xhist-")


def history(arguments):
    has_word = arguments and not arguments[0].startswith("-")
    word = arguments.pop(0) if has_word else "history"
    core = core_file()
    if core is not None:
        return report(word, [core] + arguments)
    memory = gdb.selected_inferior()
    if memory.pid == 0:
        raise gdb.GdbError("no program runs here, and no core is open: `run`, `attach PID`, `target remote` or `core FILE` first")
    bare = bare_ring()
    with temporary_directory() as directory:
        path = os.path.join(directory, "dump.bin")
        with open(path, "wb") as file:
            found = [(bare[0], bare[1] - bare[0])] if bare else list(rings(memory))
            if not found:
                raise gdb.GdbError(
                    "no ring of xhist is in its memory: was the program instrumented and built with the feature `trace`, "
                    "and has a statement run?"
                )
            for start, length in found:
                dump(memory, start, length, file)
        return report(word, [path] + arguments)


class Xhist(gdb.Command):
    """Print the statements that ran last, or another report: xhist [calls|tasks|hot|...] [its options]"""

    def __init__(self):
        super().__init__("xhist", gdb.COMMAND_DATA)

    def invoke(self, arguments, from_tty):
        try:
            done = history(gdb.string_to_argv(arguments))
        except (gdb.error, OSError) as error:
            raise gdb.GdbError("the rings cannot be read: %s" % error)
        gdb.write(done.stderr, gdb.STDERR)
        gdb.write(done.stdout)


Xhist()
