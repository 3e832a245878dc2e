"""The WSGI application in the file that the variable APPLICATION names, for a server that has real threads.

oslo.utils loads eventlet where there is one. Then oslo.log has eventlet's locks for logging, and these cannot go from one real thread to
another: two threads that log for the first time at once would wait for ever, and soon all the others behind them.
"""
import os
import runpy

import oslo_log.log

oslo_log.log._fix_eventlet_logging = lambda: None  # setup calls it

application = runpy.run_path(os.environ['APPLICATION'])['application']
