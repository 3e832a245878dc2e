"""nova-compute, as its package starts it, with the driver of steerable.py.

Nova loads drivers from nova.virt only (compute_driver = steerable.SteerableDriver): so the module is found under that name.
"""
import os
import sys

from nova.cmd.compute import main  # has to be first: it patches the standard library

import importlib.util


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == 'nova.virt.steerable':
            here = os.path.dirname(os.path.abspath(__file__))
            return importlib.util.spec_from_file_location(name, os.path.join(here, 'steerable.py'))


sys.argv[0] = 'nova-compute'
sys.meta_path.append(Finder)
sys.exit(main())
