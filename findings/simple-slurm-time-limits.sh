#!/usr/bin/env bash
# simple-slurm 0.3.6, which writes options of sbatch from Python.
#
# Guess: time=timedelta(...) asks for this time, and array=range(...) for the tasks of the range.
# Seen: parts of a second are cut, so 0.5 s asks for 0, and days count from 0 again after 365:
# 365 days ask for 0, and 400 days for 35. A time of 0 means no limit to Slurm. A range that
# descends, or is empty, makes tasks `10--1:-1` and `0--1`.
. "$(dirname "$0")/lib.sh"
install simple-slurm==0.3.6
expect '0.5 s: --time 0-00:00:00
1 day: --time 1-00:00:00
364 days: --time 364-00:00:00
365 days: --time 0-00:00:00
400 days: --time 35-00:00:00
range(3, 12, 3): --array 3-11:3
range(10, 0, -1): --array 10--1:-1
range(0): --array 0--1' <<'PY'
from datetime import timedelta

from simple_slurm import Slurm


def asked(**options):
    lines = [line.split() for line in str(Slurm(**options)).splitlines()]
    return next(" ".join(words[1:]) for words in lines if words[:1] == ["#SBATCH"])


times = {"0.5 s": 0.5 / 86400, "1 day": 1, "364 days": 364, "365 days": 365, "400 days": 400}
for name, days in times.items():
    print(f"{name}: {asked(time=timedelta(days=days))}")
for tasks in [range(3, 12, 3), range(10, 0, -1), range(0)]:
    name = "range(0)" if not tasks else str(tasks)
    print(f"{name}: {asked(array=tasks)}")
PY
