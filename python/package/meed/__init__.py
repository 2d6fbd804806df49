"""Long-term fair scheduling: who is served next on a shared cluster.

>>> import meed
>>> slot = {"slot": 1}
>>> cluster = {"resources": ["slot"], "node": [{"capacity": {"slot": 2}}]}
>>> jobs = [{"queue": "ads", "tasks": 4, "duration": "1h", "demand": slot}]
>>> results = meed.simulate({"cluster": cluster, "queue": [{"name": "ads"}], "job": jobs}, "fair")
>>> float(results.tenants["mean_job_s"][0])
7200.0

``read`` gives the jobs of any log as a frame. ``simulate`` runs a scenario (a dict, a file, a
trace, a frame) under policies; ``Results`` has what came of it as tables. ``advise``, ``sweep`` and
``rivals`` run it many times and compare, ``audit`` searches for counterexamples to properties.
``explain`` says why somebody waited in a recorded run, ``replay`` runs it otherwise, ``verify``
looks whether it would be decided as it was. A ``Policy`` is an order of your own, in Python;
``meed.gym`` is an environment for learned ones, ``meed.plot`` draws. ``allocate`` shares a pool of
unequal servers exactly. Whatever is wrong raises ``Error``, with the sentence that the program
would say.
"""

from meed._allocate import Allocation, allocate, allocate_document
from meed._answers import Advice, Audit, Rivals, Sweep
from meed._experiments import advise, audit, rivals, sweep
from meed._jobs import Jobs
from meed._native import VERSION as __version__
from meed._native import Error
from meed._policy import Policy, Ranks, View
from meed._read import Log, read
from meed._recorded import Explanation, Verified, explain, replay, verify
from meed._remark import Remark
from meed._results import Results
from meed._simulate import Scenario, simulate
from meed._table import Table

__all__ = [
    "Advice",
    "Allocation",
    "Audit",
    "Error",
    "Explanation",
    "Jobs",
    "Log",
    "Policy",
    "Ranks",
    "Remark",
    "Results",
    "Rivals",
    "Scenario",
    "Sweep",
    "Table",
    "Verified",
    "View",
    "__version__",
    "advise",
    "allocate",
    "allocate_document",
    "audit",
    "explain",
    "read",
    "replay",
    "rivals",
    "simulate",
    "sweep",
    "verify",
]
