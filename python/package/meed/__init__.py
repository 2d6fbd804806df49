"""Long-term fair scheduling: who is served next on a shared cluster.

>>> import meed
>>> slot = {"slot": 1}
>>> cluster = {"resources": ["slot"], "node": [{"capacity": {"slot": 2}}]}
>>> jobs = [{"queue": "ads", "tasks": 4, "duration": "1h", "demand": slot}]
>>> results = meed.simulate({"cluster": cluster, "queue": [{"name": "ads"}], "job": jobs}, "fair")
>>> float(results.tenants["mean_job_s"][0])
7200.0

``simulate`` runs a scenario (a dict, a file, a trace, or jobs in a frame) under policies; ``Results``
has what came of it as tables. A ``Policy`` is an order of your own, in Python; ``meed.gym`` is an
environment for learned ones. ``allocate`` shares a pool of unequal servers exactly. Whatever is
wrong raises ``Error``, with the sentence that the program would say.
"""

from meed._allocate import Allocation, allocate, allocate_document
from meed._jobs import Jobs
from meed._native import VERSION as __version__
from meed._native import Error
from meed._policy import Policy, Ranks, View
from meed._results import Results
from meed._simulate import Remark, Scenario, simulate
from meed._table import Table

__all__ = [
    "Allocation",
    "Error",
    "Jobs",
    "Policy",
    "Ranks",
    "Remark",
    "Results",
    "Scenario",
    "Table",
    "View",
    "__version__",
    "allocate",
    "allocate_document",
    "simulate",
]
