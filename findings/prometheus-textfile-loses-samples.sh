#!/usr/bin/env bash
# Prometheus' node exporter 1.5.0 and promtool 2.42.0, as Debian 12 packages them: metrics from files
# of text (the textfile collector), as batch schedulers write them.
#
# Guess: a file that `promtool check metrics` finds right is exported; where something of a file is
# not, the metric node_textfile_scrape_error is 1.
# Seen: a file with one time stamp is left out whole, though promtool finds it right. Of two files
# that describe one metric in other words (HELP) only the first is exported, and of the second
# node_textfile_scrape_error says nothing: it is 0.
set -euo pipefail
folder=$(mktemp -d)
exporter=
trap '[ -z "$exporter" ] || kill "$exporter"; rm -rf "$folder"' EXIT
cd "$folder"
for package in prometheus-node-exporter=1.5.0-1+b6 prometheus=2.42.0+ds-5+deb12u1; do
    apt-get download --quiet "$package" >/dev/null
done
for package in *.deb; do dpkg-deb -x "$package" unpacked; done

# What is exported of metric a, and whether the collector says that something was wrong.
exported() {
    local port=$((20000 + RANDOM % 20000))
    unpacked/usr/bin/prometheus-node-exporter --web.listen-address="127.0.0.1:$port" \
        --collector.disable-defaults --collector.textfile \
        --collector.textfile.directory="$folder/$1" 2>"$1.log" &
    exporter=$!
    python3 - "$port" <<'PY'
import sys, time, urllib.request
for _ in range(100):
    try:
        text = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics").read().decode()
        break
    except OSError:
        time.sleep(0.1)
of_note = ("a{", "node_textfile_scrape_error ")
print("; ".join(line for line in text.splitlines() if line.startswith(of_note)))
PY
    kill "$exporter"
    exporter=
}

mkdir stamped described
printf '# HELP a Jobs.\n# TYPE a gauge\na{queue="x"} 1 1700000000000\n' >stamped/one.prom
printf '# HELP a Jobs.\n# TYPE a gauge\na{queue="x"} 1\n' >described/one.prom
printf '# HELP a Jobs that wait.\n# TYPE a gauge\na{queue="y"} 2\n' >described/two.prom
seen=$(
    for file in stamped/one.prom described/one.prom described/two.prom; do
        unpacked/usr/bin/promtool check metrics <$file && echo "$file: right"
    done
    echo "stamped: $(exported stamped)"
    echo "described: $(exported described)"
)
expected='stamped/one.prom: right
described/one.prom: right
described/two.prom: right
stamped: node_textfile_scrape_error 1
described: a{queue="x"} 1; node_textfile_scrape_error 0'
printf '%s\n' "$seen"
[ "$seen" = "$expected" ] || { echo CHANGED >&2; exit 1; }
