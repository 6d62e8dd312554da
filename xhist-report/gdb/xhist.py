# The command `xhist` inside gdb: the history of the program that gdb has halted.
#
#     (gdb) source xhist-report/gdb/xhist.py
#     (gdb) xhist --last 20
#
# Dumps the ring of a bare-metal program from its symbol XHIST_RING, and has xhist-report print it; arguments are
# xhist-report's. XHIST_REPORT in the environment names another xhist-report.

import os
import subprocess
import tempfile

import gdb


class Xhist(gdb.Command):
    """Print the statements that ran last: xhist [options of xhist-report]"""

    def __init__(self):
        super().__init__("xhist", gdb.COMMAND_DATA)

    def invoke(self, arguments, from_tty):
        report = os.environ.get("XHIST_REPORT", "xhist-report")
        elf = gdb.current_progspace().filename
        if elf is None:
            raise gdb.GdbError("no program: name its ELF file with `file`")
        told = subprocess.run([report, "--how-to-dump", elf], capture_output=True, text=True)
        if told.returncode != 0:
            raise gdb.GdbError(told.stderr.strip())
        # The line for gdb has first and last address.
        start, end = next(line for line in told.stdout.splitlines() if line.startswith("gdb")).split("dump.bin ")[1].split("'")[0].split()
        with tempfile.TemporaryDirectory() as directory:
            dump = os.path.join(directory, "dump.bin")
            with open(dump, "wb") as file:
                file.write(gdb.selected_inferior().read_memory(int(start, 0), int(end, 0) - int(start, 0)))
            done = subprocess.run([report, dump] + gdb.string_to_argv(arguments), capture_output=True, text=True)
        gdb.write(done.stderr, gdb.STDERR)
        gdb.write(done.stdout)


Xhist()
