#!/usr/bin/env bash
# kubernetes-resource-parser 0.1.0 (npm), which reads quantities of Kubernetes. Needs Node 18 or
# newer.
#
# Guess: cpuParser gives cores and memoryParser bytes, for all quantities that Kubernetes writes.
# Seen: digits stop at the first sign that is none, and units that it does not know count for
# nothing. Half a gibibyte (0.5Gi) is 0 bytes, 1.5G is 1, 129e6 (an example of Kubernetes' own
# pages) is 129, 1e3Ki is 1; 100u of a cpu are 100 cores, and 1k are 1. Only m of memory is told
# to be none (NaN), although Kubernetes writes it.
. "$(dirname "$0")/lib.sh"
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-fund --no-audit kubernetes-resource-parser@0.1.0 >/dev/null
compare 'cpu 500m: 0.5
cpu 1.5: 1.5
cpu 100u: 100
cpu 1k: 1
memory 1Gi: 1073741824
memory 0.5Gi: 0
memory 1.5G: 1
memory 129M: 129000000
memory 129e6: 129
memory 1e3Ki: 1
memory 128974848000m: NaN' "$(node -e '
const { cpuParser, memoryParser } = require("kubernetes-resource-parser");
for (const cpu of ["500m", "1.5", "100u", "1k"]) console.log(`cpu ${cpu}: ${cpuParser(cpu)}`);
for (const size of ["1Gi", "0.5Gi", "1.5G", "129M", "129e6", "1e3Ki", "128974848000m"])
    console.log(`memory ${size}: ${memoryParser(size)}`);
')"
