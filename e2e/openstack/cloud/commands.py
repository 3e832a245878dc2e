"""Runs commands of one of OpenStack's programs, one after another, each in a process of its own; a third of what such a command takes
is to load what it is made of, and that is done once. The commands are lists of arguments, one line each; the first that fails is the
last.

    commands.py nova.cmd.manage <<<"db sync"
"""
import importlib
import os
import shlex
import sys

program = importlib.import_module(sys.argv[1])
for line in sys.stdin:
    child = os.fork()
    if not child:
        sys.argv = [sys.argv[1], *shlex.split(line)]
        try:
            sys.exit(program.main())
        finally:
            sys.stdout.flush()
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f'{line.strip()}: exit code {os.waitstatus_to_exitcode(status)}')
