"""python-openstackclient for many commands: each one is a shell in a process of its own, but not each has to load the client.

Reads commands as lists of arguments, one line of JSON each, and answers each with a line: what it exited with, and what it
printed.
"""
import importlib.metadata
import json
import os
import sys
import tempfile
import traceback

import openstack.connection  # half of what a command takes is to load what it is made of
from openstackclient import shell
from openstackclient.common import versions
import stevedore


def run(args, out, err):
    """In a process of its own: as /usr/bin/openstack does it."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    try:
        code = shell.main(args)
    except SystemExit as e:  # wrong arguments
        code = e.code
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code or 0))


def text(file):
    file.seek(0)
    return file.read().decode(errors='replace')


app = shell.OpenStackShell()  # loads the list of commands
# Every command loads all commands that there are, also those of other services.
for group in importlib.metadata.entry_points().groups:
    if group.startswith('openstack.'):
        stevedore.ExtensionManager(group)
# And it reads about every package of Python which one it is from: its help ends with that.
versions.ShowVersions(app, None).get_parser('openstack')
for line in sys.stdin:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            run(json.loads(line), out, err)
        _, status = os.waitpid(child, 0)
        print(json.dumps({'code': os.waitstatus_to_exitcode(status), 'out': text(out), 'err': text(err)}), flush=True)
