"""Eight hours are lent: who gets them back? The first example of docs/python.md."""

from __future__ import annotations

import meed

day = {
    "cluster": {"resources": ["cpu"], "node": [{"count": 4, "capacity": {"cpu": 16}}]},
    "queue": [{"name": "ads"}, {"name": "search"}],
    "job": [
        {"queue": "ads", "tasks": 6000, "duration": "10min", "demand": {"cpu": 1}},
        {
            "queue": "search",
            "submit": "8h",
            "tasks": 1500,
            "duration": "10min",
            "demand": {"cpu": 1},
        },
    ],
}

results = meed.simulate(day, ["static", "fair", "long-term"])
for policy in results.policies:
    tenants = results.tenants.where(policy=policy)
    for queue, took in zip(tenants["queue"], tenants["mean_job_s"], strict=True):
        print(f"{policy:10} {queue:7} {took / 3600:5.1f} h")
