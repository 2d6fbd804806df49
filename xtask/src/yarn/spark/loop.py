"""NAME TASKS SECONDS STOP: jobs of so many tasks, each asleep so long, until the file STOP is there."""
import os
import sys
import time

from pyspark.sql import SparkSession

name, tasks, seconds, stop = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
session = SparkSession.builder.appName(name).getOrCreate()
context = session.sparkContext


def slowly(some):
    for one in some:
        time.sleep(seconds)
        yield one


while True:
    last = os.path.exists(stop)
    count = context.parallelize(range(tasks), tasks).mapPartitions(slowly).count()
    if count != tasks:
        sys.exit(f"{count} tasks of {tasks}")
    if last:
        break
print("ENDED WELL", flush=True)
session.stop()
