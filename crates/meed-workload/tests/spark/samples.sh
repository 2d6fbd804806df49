#!/usr/bin/env bash
# Makes event logs with a real Spark (pyspark 4.3.0; Python with venv, Java 17): samples like those in
# ../data/spark, in target/spark. A minute for each kind: dynamic, failed, killed, lost, rolled.
# Ids and times are others each time, so the tests, which know those of ../data, do not read these.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$root/target/spark
mkdir -p "$work/clean"
[ -x "$work/venv/bin/spark-submit" ] || {
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet pyspark==4.3.0
}
SPARK_HOME=$("$work/venv/bin/python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$work/venv/bin/python
jars=$(echo "$SPARK_HOME"/jars/{lz4-java,zstd-jni}*.jar | tr ' ' :)
[ $# -gt 0 ] || set -- dynamic failed killed lost rolled
for kind in "$@"; do
    settings=(spark.executor.memory=512m spark.ui.enabled=false spark.eventLog.enabled=true)
    settings+=("spark.eventLog.dir=file://$work/$kind" spark.eventLog.compress=false)
    settings+=(spark.eventLog.rolling.maxFileSize=10m)
    if [ "$kind" = dynamic ]; then
        settings+=(spark.dynamicAllocation.enabled=true spark.dynamicAllocation.maxExecutors=2)
        settings+=(spark.dynamicAllocation.executorIdleTimeout=4s)
    fi
    rm -rf "${work:?}/$kind"
    mkdir "$work/$kind"
    timeout 600 "$SPARK_HOME/bin/spark-submit" --master 'local-cluster[2,2,1024]' \
        --driver-memory 512m "${settings[@]/#/--conf=}" "$here/app.py" "$kind" \
        >"$work/$kind.log" 2>&1 || [ "$kind" = killed ]
    find "$work/$kind" -name 'events_*' -not -name '*.crc' | while read -r part; do
        name=$(basename "$part")
        python3 "$here/clean.py" <"$part" >"$work/clean/$name"
        for codec in zstd lz4; do
            java -cp "$jars" "$here/Pack.java" "$work/clean/$name" "$work/clean/$name.$codec"
        done
        echo "$kind: $work/clean/$name, .zstd, .lz4"
    done
done
