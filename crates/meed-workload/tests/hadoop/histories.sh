#!/usr/bin/env bash
# Makes job histories with a real Hadoop (a mini cluster; Maven and a JDK of at least 11): two files
# in target/histories like those in ../data. 3 minutes.
# Ids and times are others each time, so the tests, which know those of ../data, do not read these.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
work=$root/target/histories
rm -rf "$work"
mkdir -p "$work/classes"
mvn -q -B -f "$root/yarn/pom.xml" dependency:build-classpath "-Dmdep.outputFile=$work/cp"
path=$work/classes:$(cat "$work/cp")
printf 'log4j.rootLogger=OFF\n' >"$work/classes/log4j.properties"
javac --release 11 -cp "$path" -d "$work/classes" "$here/History.java"
java=$(readlink -f "$(command -v java)")
cd "$work"
JAVA_HOME=${JAVA_HOME:-${java%/bin/java}} timeout 600 java -Xmx1g \
    --add-opens=java.base/java.lang=ALL-UNNAMED -cp "$path" History "$work"
find "$work/staging/history" -name '*.jhist' | sort -t_ -k3 | while read -r file; do
    cat "$file"
done | gzip -9 -n >"$work/hadoop.jhist.gz"
echo "$work/hadoop.jhist.gz $work/counters.tsv"
