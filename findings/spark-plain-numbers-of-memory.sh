#!/usr/bin/env bash
# Spark 4.3.0 (pyspark), sizes of memory in settings. Needs Java 17; pyspark is some 450 MB.
#
# Guess: 2048 is the same size in every setting of memory, and an executor's overhead is at least
# 384 MiB whatever is set.
# Seen: a number alone is mebibytes as spark.executor.memory and spark.executor.pyspark.memory, and
# bytes as spark.memory.offHeap.size, where 2048 is refused as not above 0, and as the memory of a
# standalone worker (-m 2048), where it is 0 MB. Sizes are cut to whole mebibytes: an overhead of
# 512k is none, for the least of 384 MiB counts only where nothing is set; an executor may have a
# memory of 0.
. "$(dirname "$0")/lib.sh"
install pyspark==4.3.0
export SPARK_LOCAL_IP=127.0.0.1
expect 'executor.memory 2048: memory 2048
executor.memory 2g: memory 2048
executor.memory 2048b: memory 0
executor.pyspark.memory 2048: pyspark.memory 2048
executor.memoryOverhead 1: memoryOverhead 1
executor.memoryOverhead 512k: memoryOverhead 0
memory.offHeap.size 2048: refused
memory.offHeap.size 2048m: offHeap 2048
worker 2048: 0 MB
worker 2048m: 2048 MB' 2>/dev/null <<'PY'
from pyspark.sql import SparkSession

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
jvm = session.getOrCreate().sparkContext._jvm
profiles = getattr(getattr(jvm.org.apache.spark.resource, "ResourceProfile$"), "MODULE$")


def say(setting, value):
    settings = jvm.org.apache.spark.SparkConf(False).set(f"spark.{setting}", value)
    settings.set("spark.memory.offHeap.enabled", str("offHeap" in setting).lower())
    part = "offHeap" if "offHeap" in setting else setting.removeprefix("executor.")
    profiles.clearDefaultProfile()
    try:
        resources = profiles.getOrCreateDefaultProfile(settings).executorResourcesJMap()
        print(f"{setting} {value}: {part} {resources.get(part).amount()}")
    except Exception:
        print(f"{setting} {value}: refused")


for value in ["2048", "2g", "2048b"]:
    say("executor.memory", value)
say("executor.pyspark.memory", "2048")
for value in ["1", "512k"]:
    say("executor.memoryOverhead", value)
for value in ["2048", "2048m"]:
    say("memory.offHeap.size", value)
for value in ["2048", "2048m"]:
    print(f"worker {value}: {jvm.org.apache.spark.util.Utils.memoryStringToMb(value)} MB")
PY
