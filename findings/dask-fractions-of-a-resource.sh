#!/usr/bin/env bash
# distributed 2026.8.0 of Dask: a worker with one GPU (`--resources GPU=1`), and tasks that ask
# for parts of it.
#
# Guess: 20 tasks of 0.05 run at once; where all have ended the whole GPU is free again.
# Seen: amounts are floating point, and what is left is compared as it is. 19 of the 20 run at
# once. Where tasks of 0.1, 0.2 and 0.7 begin in this order and end in the opposite one,
# 0.9999999999999999 is left: less than the whole GPU.
. "$(dirname "$0")/lib.sh"
install distributed==2026.8.0
expect '20 tasks of 0.05: 19 run at once
0.1, 0.2, 0.7: 3 run at once, 0.9999999999999999 is left at the end' <<'PY'
import time
from distributed import Client, Event, LocalCluster, wait


def hold(name):
    Event(name).wait()


def runs(worker, wanted):
    for _ in range(100):
        if len(worker.state.executing) >= wanted:
            break
        time.sleep(0.05)
    time.sleep(0.5)
    return len(worker.state.executing)


def start(client, name, share, count=1):
    wants = {"GPU": share}
    return [client.submit(hold, name, resources=wants, pure=False) for _ in range(count)]


cluster = LocalCluster(n_workers=1, threads_per_worker=32, processes=False,
                       resources={"GPU": 1}, dashboard_address=None)
with cluster, Client(cluster) as client:
    [worker] = cluster.workers.values()
    tasks = start(client, "all", 0.05, 20)
    print(f"20 tasks of 0.05: {runs(worker, 19)} run at once")
    Event("all").set()
    wait(tasks)

    shares = [0.1, 0.2, 0.7]
    tasks = []
    for share in shares:
        tasks += start(client, str(share), share)
        at_once = runs(worker, len(tasks))
    for share, task in reversed(list(zip(shares, tasks))):
        Event(str(share)).set()
        wait(task)
    left = worker.state.available_resources["GPU"]
    print(f"0.1, 0.2, 0.7: {at_once} run at once, {left} is left at the end")
PY
