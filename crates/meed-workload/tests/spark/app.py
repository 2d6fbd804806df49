"""Applications whose event logs are samples; the argument says which."""
import os
import signal
import subprocess
import sys
import threading
import time

from pyspark.sql import SparkSession

kind = sys.argv[1]
spark = SparkSession.builder.appName("sample-" + kind).getOrCreate()
sc = spark.sparkContext


def work(seconds):
    def run(x):
        time.sleep(seconds)
        return (x % 4, x)
    return run


def wait_for_executors(count):
    infos = sc._jsc.sc().statusTracker().getExecutorInfos
    end = time.time() + 40
    while time.time() < end and len(infos()) < count + 1:
        time.sleep(0.3)


def later(seconds, act):
    threading.Thread(target=lambda: (time.sleep(seconds), act())).start()


def lose_an_executor():
    pattern = f"CoarseGrainedExecutorBackend.*--executor-id 0 .*{sc.applicationId}"
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
    for process in found.stdout.split():
        os.kill(int(process), signal.SIGKILL)


def die():
    # The driver is the parent of this program.
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(9)


if kind == "lost":
    wait_for_executors(2)
    later(2, lose_an_executor)
    sc.parallelize(range(12), 12).map(work(1.5)).reduceByKey(lambda a, b: a + b, 2).collect()
elif kind == "dynamic":
    sc.parallelize(range(8), 8).map(work(1.0)).count()
    time.sleep(8)
    sc.parallelize(range(2), 2).map(work(1.0)).count()
elif kind == "failed":
    wait_for_executors(2)

    def bad(x):
        if x == 3:
            raise ValueError("no")
        return x

    try:
        sc.parallelize(range(6), 6).map(bad).count()
    except Exception:
        print("failed as it should")
    sc.parallelize(range(4), 4).map(work(0.3)).count()
elif kind == "killed":
    wait_for_executors(2)
    later(8, die)
    sc.parallelize(range(4), 4).map(work(1.0)).count()
    sc.parallelize(range(80), 80).map(work(1.0)).count()
elif kind == "rolled":
    wait_for_executors(2)
    for _ in range(85):
        sc.parallelize(range(40), 40).count()
spark.stop()
