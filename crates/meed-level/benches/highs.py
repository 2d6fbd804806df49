"""Meed beside HiGHS: exact allocation with three and more resources.

    python3 -m venv DIR && DIR/bin/pip install highspy numpy
    cargo build --release -p meed-level --example level_file
    DIR/bin/python crates/meed-level/benches/highs.py target/release/examples/level_file

Pools: 10 kinds of servers, users of random demand and weight; "half": half of them have finitely
many tasks. The same numbers in every run.

Meed does the whole allocation: level, everybody's share on every server, certificate. HiGHS solves
one linear program of it: the largest t such that t times the shares at the level fit on the
servers. Where tasks end, the shares depend on the level, and the general way is a series of such
programs; HiGHS gets the last one, at the level that Meed has found (t is 1). Building the model is
not counted; of its simplex and its interior point method, with and without crossover, the fastest
counts. Times are processor time of one thread each, in turn, pool by pool; medians over the seeds.
A row stops a method of HiGHS after LIMIT seconds: ">" is then a lower bound. `--methods` names the
only ones to be tried: with 10,000 users all but "ipm, no crossover" take minutes.

Of 10,000 users to the end:

    ... --users 10000 --large 5 --limit 600 --methods "ipm, no crossover"

`--spread` runs Meed alone on 16 seeds of 10,000 users and prints median and longest.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

METHODS = {
    "simplex": {"solver": "simplex"},
    "ipm": {"solver": "ipm", "run_crossover": "on"},
    "ipm, no crossover": {"solver": "ipm", "run_crossover": "off"},
}

# What HiGHS takes for optimal, absolutely: without crossover its levels of 5e-5 are off by less.
TOLERANCE = 1e-8


def pool(users, resources, kind, seed):
    dice = random.Random(seed)
    names = [f"r{r}" for r in range(resources)]
    servers = [
        {
            "count": 1 + int(1000 * dice.random()),
            "capacity": {name: 0.25 + dice.random() for name in names},
        }
        for _ in range(10)
    ]
    size = sum(server["count"] for server in servers)
    people = []
    for number in range(users):
        user = {
            "name": f"u{number}",
            "demand": {name: 0.01 + 0.2 * dice.random() for name in names},
            "weight": 1 + int(4 * dice.random()),
        }
        finite = dice.random() < 0.5
        tasks = 20 * dice.random() * size / users
        if kind == "half" and finite:
            user["tasks"] = tasks
        people.append(user)
    return {"servers": servers, "users": people}


def meed(program, file):
    """Seconds of one allocation, the level, the gap."""

    def seconds(runs):
        before = os.times()
        out = subprocess.run(
            [program, file, str(runs)], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        after = os.times()
        used = after.children_user + after.children_system
        return used - before.children_user - before.children_system, out

    # Reading and checking count in both: the difference is allocations alone. (A first run, too
    # short to be measured, says how many there must be.)
    one, out = seconds(1)
    level, gap, _ = map(float, out.split())
    runs = min(2000, max(5, int(1.0 / max(one, 0.001))))
    return (seconds(1 + runs)[0] - one) / runs, level, gap


def model(problem, level):
    """The program by its columns: t, then a share for each user and kind of server."""
    import highspy
    import numpy as np

    servers, users = problem["servers"], problem["users"]
    names = sorted(servers[0]["capacity"])
    have = np.array([[s["count"] * s["capacity"][name] for name in names] for s in servers])
    totals = have.sum(axis=0)
    need = np.array([[user["demand"][name] for name in names] for user in users]) / totals
    dominant = need.max(axis=1)
    shares = np.array([user["weight"] for user in users]) * level
    tasks = np.array([user.get("tasks", np.inf) for user in users])
    shares = np.minimum(shares, tasks * dominant) / level
    n, k, r = len(users), len(servers), len(names)
    index = np.empty((n * k, 1 + r), dtype=np.int32)
    value = np.empty((n * k, 1 + r))
    index[:, 0], value[:, 0] = np.repeat(np.arange(n), k), 1.0
    for kind in range(r):
        index[:, 1 + kind] = n + np.tile(np.arange(k), n) * r + kind
        value[:, 1 + kind] = np.repeat(need[:, kind] / dominant, k)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 1 + n * k, n + k * r
    lp.col_cost_ = np.concatenate([[1.0], np.zeros(n * k)])
    lp.col_lower_ = np.zeros(1 + n * k)
    lp.col_upper_ = np.full(1 + n * k, highspy.kHighsInf)
    lp.row_lower_ = np.concatenate([np.zeros(n), np.full(k * r, -highspy.kHighsInf)])
    lp.row_upper_ = np.concatenate([np.zeros(n), (have / totals).ravel()])
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    starts = np.concatenate([[0], n + (1 + r) * np.arange(n * k + 1)])
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([np.arange(n, dtype=np.int32), index.ravel()])
    lp.a_matrix_.value_ = np.concatenate([-shares, value.ravel()])
    return lp


def highs(lp, level, limit, methods):
    """Seconds of the fastest method, its name, and whether it is but a lower bound."""
    import highspy

    best = None
    for name in methods:
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        for option, value in METHODS[name].items():
            solver.setOptionValue(option, value)
        # A method that is slower than the best so far need not end.
        most = limit if best is None else min(limit, 2 * best[0] + 1)
        solver.setOptionValue("time_limit", most)
        solver.passModel(lp)
        before = time.process_time()
        solver.run()
        seconds = time.process_time() - before
        ended = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        if ended:
            found = solver.getInfo().objective_function_value
            if abs(found - level) > 1e-5 * level + TOLERANCE:
                sys.exit(f"levels differ: Meed says {level}, HiGHS ({name}) {found}")
            if best is None or best[2] or seconds < best[0]:
                best = (seconds, name, False)
        elif best is None:
            best = (seconds, name, True)
    return best


def beside(arguments, folder):
    import highspy

    print(f"HiGHS {highspy.Highs().version()}; medians, processor time of one thread\n")
    print("| users | resources | tasks | seeds | Meed | HiGHS | its method | ratio | gap below |")
    print("|---|---|---|---|---|---|---|---|---|")
    for users in arguments.users:
        for resources in (3, 4):
            for kind in ("endless", "half"):
                row(arguments, folder, users, resources, kind)


def row(arguments, folder, users, resources, kind):
    seeds = arguments.seeds if users < 10_000 else arguments.large
    ours, theirs, ratios, methods, gaps, bound = [], [], [], [], [], False
    for seed in range(1, seeds + 1):
        problem = pool(users, resources, kind, seed)
        file = os.path.join(folder, "pool.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(problem, out)
        mine, level, gap = meed(arguments.program, file)
        lp = model(problem, level)
        seconds, method, lower = highs(lp, level, arguments.limit, arguments.methods)
        ours.append(mine)
        theirs.append(seconds)
        ratios.append(seconds / mine)
        methods.append(method)
        gaps.append(gap)
        bound = bound or lower
    median = statistics.median
    more = "> " if bound else ""
    print(
        f"| {users:,} | {resources} | {kind} | {seeds} | {1e3 * median(ours):.2f} ms "
        f"| {more}{1e3 * median(theirs):,.0f} ms | {statistics.mode(methods)} "
        f"| {more}{median(ratios):,.0f} (least {min(ratios):,.1f}) | {max(gaps):.0e} |",
        flush=True,
    )


def spread(arguments, folder):
    print("| users | resources | tasks | median | longest of 16 | ratio | gap below |")
    print("|---|---|---|---|---|---|---|")
    for users in arguments.users:
        for resources in (3, 4):
            for kind in ("endless", "half"):
                ours, gaps = [], []
                for seed in range(1, 17):
                    file = os.path.join(folder, "pool.json")
                    with open(file, "w", encoding="utf-8") as out:
                        json.dump(pool(users, resources, kind, seed), out)
                    seconds, _, gap = meed(arguments.program, file)
                    ours.append(seconds)
                    gaps.append(gap)
                median, longest = statistics.median(ours), max(ours)
                print(
                    f"| {users:,} | {resources} | {kind} | {1e3 * median:.1f} ms "
                    f"| {1e3 * longest:.1f} ms | {longest / median:.1f} | {max(gaps):.0e} |",
                    flush=True,
                )


def main():
    layout = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("program", help="the built example `level_file`")
    parser.add_argument("--users", type=int, nargs="+", default=None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--large", type=int, default=1, help="seeds from 10,000 users on")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a method of HiGHS")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), help="of HiGHS, to be tried"
    )
    parser.add_argument("--spread", action="store_true")
    arguments = parser.parse_args()
    if arguments.users is None:
        arguments.users = [10_000] if arguments.spread else [100, 1000, 10_000]
    with tempfile.TemporaryDirectory() as folder:
        (spread if arguments.spread else beside)(arguments, folder)


main()
