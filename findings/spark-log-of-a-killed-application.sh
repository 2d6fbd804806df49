#!/usr/bin/env bash
# Spark 4.3.0 (pyspark), event logs: what they tell when the driver is killed in the middle of a
# stage, after 12 of 400 tasks. Needs Java 17; pyspark is some 450 MB.
#
# Guess: an event is written when it happens, so the log tells the tasks that have ended, but for
# the last one or two; of a compressed log the last block is cut.
# Seen: the log tells of no task that has ended: events of tasks are written when some 100 kB of
# them are there, or when the stage ends. The zstd of the log is whole, frame by frame, so nothing
# looks cut. With lz4 only whole blocks of 32 KiB are written, so not even the job is told, and the
# last event is half. The program `lz4` reads none of it: the blocks are those of lz4-java.
. "$(dirname "$0")/lib.sh"
install pyspark==4.3.0 zstandard==0.25.0 lz4
export SPARK_LOCAL_IP=127.0.0.1
cat >"$folder/killed.py" <<'PY'
import os
import signal
import sys
import threading
import time

from pyspark.sql import SparkSession

settings = {
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": f"file://{sys.argv[2]}",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": str(sys.argv[1] != "none").lower(),
    "spark.eventLog.compression.codec": "zstd" if sys.argv[1] == "none" else sys.argv[1],
}
builder = SparkSession.builder.master("local[1]")
for key, value in settings.items():
    builder = builder.config(key, value)
context = builder.getOrCreate().sparkContext


def kill():
    tracker = context.statusTracker()
    while True:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage and stage.numCompletedTasks >= 12 for stage in stages):
            break
        time.sleep(0.01)
    # Events are written by a thread of their own.
    time.sleep(1)
    os.kill(context._gateway.proc.pid, signal.SIGKILL)
    os._exit(0)


threading.Thread(target=kill).start()
context.parallelize(range(400), 400).foreach(lambda _: time.sleep(0.2))
PY
for codec in none zstd lz4; do
    mkdir "$folder/$codec"
    "$folder/venv/bin/python" "$folder/killed.py" "$codec" "$folder/$codec" >/dev/null 2>&1 || true
done
expect 'none: no task has ended, job told, last line whole
zstd: no task has ended, job told, last line whole
lz4: no task has ended, no job told, last line half
lz4 by its frames: not read' < <(sed "s|FOLDER|$folder|" <<'PY'
import io
import json
import pathlib
import struct

import lz4.block
import lz4.frame
import zstandard


def blocks(data):
    while data:
        kind, stored, plain, _ = struct.unpack("<BIII", data[8:21])
        piece, data = data[21:21 + stored], data[21 + stored:]
        if plain:
            yield piece if kind >> 4 == 1 else lz4.block.decompress(piece, uncompressed_size=plain)


READ = {
    "none": lambda data: data,
    "zstd": lambda data: zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(data), read_across_frames=True).read(),
    "lz4": lambda data: b"".join(blocks(data)),
}
for codec, read in READ.items():
    [log] = pathlib.Path("FOLDER", codec).glob("*.inprogress")
    text = read(log.read_bytes())
    whole, _, rest = text.rpartition(b"\n")
    kinds = [json.loads(line)["Event"] for line in whole.splitlines()]
    ended = "some tasks have" if "SparkListenerTaskEnd" in kinds else "no task has"
    job = "job told" if "SparkListenerJobStart" in kinds else "no job told"
    print(f"{codec}: {ended} ended, {job}, last line {'half' if rest else 'whole'}")
try:
    lz4.frame.decompress(log.read_bytes())
except RuntimeError:
    print("lz4 by its frames: not read")
PY
)
