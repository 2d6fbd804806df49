"""NAME READY GO PHASES: a task for each executor that a phase wants, asleep until the phase is over.

PHASES is TASKS@UNTIL,...: UNTIL counts seconds from the instant in the file GO, in milliseconds.
Once it may ask for executors it writes the instant into the file READY.
"""
import os
import sys
import time

from pyspark.sql import SparkSession

name, ready, go, phases = sys.argv[1:5]
session = SparkSession.builder.appName(name).getOrCreate()
context = session.sparkContext
with open(ready + ".part", "w") as file:
    file.write(str(int(time.time() * 1000)))
os.rename(ready + ".part", ready)
while not os.path.exists(go):
    time.sleep(0.1)
with open(go) as file:
    begin = int(file.read()) / 1000


def asleep(until):
    def slowly(some):
        for one in some:
            while time.time() < until:
                time.sleep(max(0.001, min(0.25, until - time.time())))
            yield one

    return slowly


time.sleep(max(0, begin - time.time()))
for phase in phases.split(","):
    tasks, until = phase.split("@")
    tasks, until = int(tasks), begin + float(until)
    if time.time() < until:
        count = context.parallelize(range(tasks), tasks).mapPartitions(asleep(until)).count()
        if count != tasks:
            sys.exit(f"{count} tasks of {tasks}")
print("ENDED WELL", flush=True)
session.stop()
