#!/bin/bash
# A real Kubernetes control plane on loopback, for tests: etcd, kube-apiserver, and on demand
# kube-scheduler, kwok (fake nodes) and the controllers of Jobs; Helm, for the chart, and kubectl, for the tutorial.
# Everything is built from the Go module proxy; the versions are those of the go.mod files beside this script.
# Of Kubernetes there are two: the newest (k8s), and the oldest that Meed is for (k8s-1.36).
#
#   control-plane.sh build             builds what is missing; nothing to do when it is all there
#   control-plane.sh build kueue       and Kueue, a peer for measurements, which the tests do without
#   control-plane.sh bin               the folder of the binaries; fails where one is missing
#   control-plane.sh peer              the folder of Kueue and its definitions; the same
#   control-plane.sh start [PART...]   parts: etcd apiserver (both always), kwok, scheduler, controllers, kueue
#   control-plane.sh stop [PART...]    all parts if none is named; the data stay
#   control-plane.sh status            one line per part
#
# CP_STATE   state directory, one per control plane (required, except for build and bin)
# CP_CACHE   where the binaries are kept (default: ~/.cache/meed/control-plane)
# CP_K8S     which Kubernetes: k8s (the default), or k8s-1.36
# CP_JOBS    compilers at a time (default: number of cores)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${CP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/meed/control-plane}
say() { echo "control-plane: $*" >&2; }
die() { say "$*"; exit 1; }

k8s=${CP_K8S:-k8s}
[ -f "$here/$k8s/go.mod" ] || die "CP_K8S=$k8s: give k8s or k8s-1.36"
key() { cat "$here/$1"/go.{mod,sum} | sha256sum | cut -c1-16; }  # of one module
all() { cat "$here"/{"$k8s",etcd,kwok,helm}/go.{mod,sum} | sha256sum | cut -c1-16; }
bin=$cache/$(all)/bin                                # links to what was built of each module

is_built() { local p; for p in etcd kube-apiserver kube-scheduler kube-controller-manager kwok helm kubectl; do [ -x "$bin/$p" ] || return 1; done; }
build() {
  is_built && return
  command -v go >/dev/null || die "go is missing: install Go 1.26 or newer"
  mkdir -p "$bin"
  exec 9>"$cache/lock"; flock 9                       # two builds at once would only be slower
  is_built && return
  export CGO_ENABLED=0 GOFLAGS="-mod=readonly -trimpath -buildvcs=false -p=${CP_JOBS:-$(nproc)}" GOWORK=off
  local version; version=$(cd "$here/$k8s" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  local v=k8s.io/component-base/version minor=${version#v1.}; minor=${minor%%.*}
  local stamp="-s -w -X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$minor -X $v.gitTreeState=clean"
  one() { # module, flags, package; a linked file is moved into place whole
    local name=${4:-${3##*/}} built; built=$cache/$1-$(key "$1"); mkdir -p "$built"
    if [ ! -x "$built/$name" ]; then
      say "building $name of $1"
      (cd "$here/$1" && go build -ldflags "$2" -o "$built/.$name" "$3") && mv "$built/.$name" "$built/$name"
    fi
    ln -sfn "$built/$name" "$bin/$name"
  }
  one etcd "-s -w" go.etcd.io/etcd/server/v3 etcd
  one "$k8s" "$stamp" k8s.io/kubernetes/cmd/kube-apiserver
  one "$k8s" "$stamp" k8s.io/kubernetes/cmd/kube-scheduler
  one kwok "-s -w" sigs.k8s.io/kwok/cmd/kwok
  one helm "-s -w" helm.sh/helm/v4/cmd/helm
  one "$k8s" "$stamp" k8s.io/kubernetes/cmd/kube-controller-manager
  one "$k8s" "$stamp" k8s.io/kubernetes/cmd/kubectl
}

rival_key() { cat "$here"/kueue/go.{mod,sum} | sha256sum | cut -c1-16; }
rival=$cache/kueue-$(rival_key)
build_kueue() { # Kueue and the definitions of its kinds, of one version
  [ -x "$rival/kueue" ] && return
  mkdir -p "$rival"
  exec 9>"$cache/lock"; flock 9
  [ -x "$rival/kueue" ] && return
  export CGO_ENABLED=0 GOFLAGS="-mod=readonly -trimpath -buildvcs=false -p=${CP_JOBS:-$(nproc)}" GOWORK=off
  say "building kueue"
  ( cd "$here/kueue"
    go build -ldflags "-s -w" -o "$rival/.kueue" sigs.k8s.io/kueue/cmd/kueue
    cp "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)"/config/components/crd/bases/*.yaml "$rival/"
    chmod u+w "$rival"/*.yaml; mv "$rival/.kueue" "$rival/kueue" )
}

# A pid file holds the pid and the process's start time, so a pid that was given to somebody else is never killed.
began() { local s; s=$(cat "/proc/$1/stat" 2>/dev/null) || return 1; s=${s##*) }; set -- $s; [ "$1" != Z ] && echo "${20}"; }
alive() { local pid since; read -r pid since 2>/dev/null <"$state/$1.pid" || return 1; [ "$(began "$pid")" = "$since" ] && echo "$pid"; }
launch() { # name, command...
  local name=$1; shift
  setsid nohup "$@" >"$state/$name.log" 2>&1 </dev/null 9>&- & # 9: the build's lock
  local pid=$!
  echo "$pid $(began $pid)" >"$state/$name.pid"
}
halt() {
  local pid; pid=$(alive "$1") || { rm -f "$state/$1.pid"; return 0; }
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do alive "$1" >/dev/null || { rm -f "$state/$1.pid"; return 0; }; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$state/$1.pid"
}
free_port() { # ports below the range that the kernel hands out; those of one control plane are kept in its state
  local p; for _ in $(seq 200); do p=$((20000 + (RANDOM << 1 ^ $$) % 12000)); (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null || { echo "$p"; return; }; done; die "no free port"
}
until_true() { # seconds, name, command: until the command succeeds or the part has ended
  local limit=$((SECONDS + $1)) name=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    if ! alive "$name" >/dev/null; then
      if [ -z "${CP_AGAIN:-}" ] && grep -q 'address already in use' "$state/$name.log"; then # somebody took the port meanwhile: other ports, once
        for p in "${parts[@]}"; do halt "$p"; done
        rm -f "$state/ports" "$state/pki/complete"
        CP_AGAIN=1 exec "${BASH_SOURCE[0]}" start "${wanted[@]}"
      fi
      tail -n 15 "$state/$name.log" >&2; die "$name ended"
    fi
    [ $SECONDS -lt $limit ] || { tail -n 15 "$state/$name.log" >&2; die "$name is not ready after the time limit"; }
    sleep 0.2
  done
}

prepare() {
  mkdir -p "$state/pki"; chmod 700 "$state"
  if [ ! -e "$state/ports" ]; then
    local a b c; a=$(free_port); b=$(free_port); c=$(free_port)
    while [ "$b" = "$a" ]; do b=$(free_port); done; while [ "$c" = "$a" ] || [ "$c" = "$b" ]; do c=$(free_port); done
    echo "etcd=$a peer=$b api=$c" >"$state/ports.new"; mv "$state/ports.new" "$state/ports"
  fi
  # shellcheck disable=SC1091
  source "$state/ports"
  if [ ! -e "$state/pki/complete" ]; then
    ( cd "$state/pki"
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -keyout ca.key -out ca.crt -subj /CN=control-plane-ca -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj /CN=kube-apiserver
      printf 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n' >server.ext
      openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile server.ext -out server.crt
      openssl genrsa -out sa.key 2048 ) >"$state/pki.log" 2>&1 || { cat "$state/pki.log" >&2; die "openssl failed"; }
    rm -f "$state/pki/tokens.new"
    local line name user group token
    for line in "admin admin system:masters" "kube-scheduler system:kube-scheduler" "meed system:serviceaccount:meed-system:meed" "tenant tenant"; do
      read -r name user group <<<"$line"               # meed and tenant have no rights but those that a test gives them
      token=$(openssl rand -hex 16)
      echo "$token,$user,$user${group:+,$group}" >>"$state/pki/tokens.new"
      cat >"$state/$name.kubeconfig" <<END
{"apiVersion":"v1","kind":"Config","current-context":"c",
 "clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:$api","certificate-authority-data":"$(base64 -w0 "$state/pki/ca.crt")"}}],
 "users":[{"name":"u","user":{"token":"$token"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"default"}}]}
END
    done
    mv "$state/pki/tokens.new" "$state/pki/tokens.csv"; touch "$state/pki/complete"
  fi
}
ask() { # a path of the API, as the admin; succeeds when the answer is 200
  local token; token=$(sed -n 's/,admin,.*//p' "$state/pki/tokens.csv")
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$1" "$token" |
    timeout 5 openssl s_client -quiet -verify_quiet -CAfile "$state/pki/ca.crt" -connect "127.0.0.1:$api" 2>/dev/null | head -n 1 | grep -q ' 200 '
}
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1"); }

start_etcd() {
  alive etcd >/dev/null && return
  local sync=(--unsafe-no-fsync); [ "${CP_FSYNC:-0}" = 1 ] && sync=()
  GOGC=${CP_GOGC:-100} launch etcd "$bin/etcd" --name=node0 --data-dir="$state/etcd" "${sync[@]}" --quota-backend-bytes=8589934592 --log-level=warn \
    --listen-client-urls="http://127.0.0.1:$etcd" --advertise-client-urls="http://127.0.0.1:$etcd" --listen-peer-urls="http://127.0.0.1:$peer" \
    --initial-advertise-peer-urls="http://127.0.0.1:$peer" --initial-cluster="node0=http://127.0.0.1:$peer"
  until_true 60 etcd listening "$etcd"
}
start_apiserver() {
  alive apiserver >/dev/null && return
  local off=TaintNodesByCondition,ServiceAccount      # the former would taint every new node until the controllers have seen it Ready
  [ "${CP_SERVICE_ACCOUNTS:-0}" = 1 ] && off=TaintNodesByCondition
  # shellcheck disable=SC2086
  GOGC=${CP_GOGC:-100} launch apiserver "$bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$etcd" --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port="$api" \
    --tls-cert-file="$state/pki/server.crt" --tls-private-key-file="$state/pki/server.key" --token-auth-file="$state/pki/tokens.csv" --authorization-mode=RBAC \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$state/pki/sa.key" --service-account-signing-key-file="$state/pki/sa.key" \
    --disable-admission-plugins=$off --delete-collection-workers=16 --endpoint-reconciler-type=none --service-cluster-ip-range=10.0.0.0/24 --allow-privileged=true --cert-dir="$state/pki/own" \
    --enable-priority-and-fairness=false --max-requests-inflight=0 --max-mutating-requests-inflight=0 \
    --default-not-ready-toleration-seconds="${CP_NOT_READY_SECONDS:-300}" --default-unreachable-toleration-seconds="${CP_NOT_READY_SECONDS:-300}" ${CP_APISERVER_FLAGS:-}
  until_true 180 apiserver ask /readyz
  until_true 60 apiserver ask /api/v1/namespaces/default
}
start_kwok() {
  alive kwok >/dev/null && return
  local lease=0; [ "${CP_NODE_LEASES:-0}" = 1 ] && lease=40
  # shellcheck disable=SC2086
  launch kwok "$bin/kwok" --kubeconfig="$state/admin.kubeconfig" --manage-all-nodes=true --config="$here/stages.yaml" -v=WARN --node-lease-duration-seconds=$lease ${CP_KWOK_FLAGS:-}
  sleep 1; alive kwok >/dev/null || { tail -n 15 "$state/kwok.log" >&2; die "kwok ended"; }
}
start_scheduler() {
  alive scheduler >/dev/null && return
  sed "s|@KUBECONFIG@|$state/kube-scheduler.kubeconfig|" "${CP_SCHEDULER_CONFIG:-$here/scheduler.yaml}" >"$state/scheduler.yaml"
  # shellcheck disable=SC2086
  launch scheduler "$bin/kube-scheduler" --config="$state/scheduler.yaml" --secure-port=0 ${CP_SCHEDULER_FLAGS:-}
  sleep 0.5; alive scheduler >/dev/null || { tail -n 15 "$state/scheduler.log" >&2; die "kube-scheduler ended"; }
}
start_controllers() { # of Jobs, and of what is deleted with its owner
  alive controllers >/dev/null && return
  launch controllers "$bin/kube-controller-manager" --kubeconfig="$state/admin.kubeconfig" --leader-elect=false --secure-port=0 \
    --kube-api-qps=500 --kube-api-burst=500 --controllers=job-controller,garbage-collector-controller,deployment-controller,replicaset-controller
  sleep 0.5; alive controllers >/dev/null || { tail -n 15 "$state/controllers.log" >&2; die "kube-controller-manager ended"; }
}
start_kueue() { # as its own manifests configure it, without its webhooks, which need certificates of a service
  alive kueue >/dev/null && return
  [ -x "$rival/kueue" ] || die "Kueue is not built: control-plane.sh build kueue"
  mkdir -p "$state/kueue"; cp "$state/pki/server.crt" "$state/kueue/tls.crt"; cp "$state/pki/server.key" "$state/kueue/tls.key"
  local qps=${CP_KUEUE_QPS:-50}
  cat >"$state/kueue.yaml" <<END
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: "0"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: $(free_port), certDir: "$state/kueue"}
internalCertManagement: {enable: false}
leaderElection: {leaderElect: false}
controller:
  groupKindConcurrency: {Pod: 5, Workload.kueue.x-k8s.io: 5, LocalQueue.kueue.x-k8s.io: 1, ClusterQueue.kueue.x-k8s.io: 1, ResourceFlavor.kueue.x-k8s.io: 1}
clientConnection: {qps: $qps, burst: $((qps * 2))}
integrations: {frameworks: [pod]}
admissionFairSharing: {usageHalfLifeTime: 168h, usageSamplingInterval: 5m}
END
  # Without a service for its certificates it wants those of its metrics, which it serves to nobody here, in a fixed place:
  # in a mount namespace of its own /etc has them.
  mkdir -p "$state/kueue/up/kueue/metrics" "$state/kueue/work"; ln -sfn "$state/kueue" "$state/kueue/up/kueue/metrics/certs"
  local mount="mount -t overlay overlay -o lowerdir=/etc,upperdir=$state/kueue/up,workdir=$state/kueue/work /etc"
  # shellcheck disable=SC2016
  launch kueue unshare --mount sh -c "$mount && "'exec "$@"' sh "$rival/kueue" --config="$state/kueue.yaml" --kubeconfig="$state/admin.kubeconfig" --feature-gates=VisibilityOnDemand=false --zap-log-level=error
  sleep 1; alive kueue >/dev/null || { tail -n 15 "$state/kueue.log" >&2; die "kueue ended"; }
}
parts=(kueue kwok scheduler controllers apiserver etcd)
command=${1:-}; shift || true
case $command in
  build) build; if [ "${1:-}" = kueue ]; then build_kueue; echo "$rival"; else echo "$bin"; fi; exit ;;
  peer) [ -x "$rival/kueue" ] || die "Kueue is not built: control-plane.sh build kueue"; echo "$rival"; exit ;;
  bin) is_built || die "no binaries in $bin: cargo xtask kubernetes builds them"; echo "$bin"; exit ;;
  start|stop|status) ;;
  *) sed -n '2,/^set /p' "${BASH_SOURCE[0]}" | sed '/^set /d; s/^# \{0,1\}//'; [ -z "$command" ] && exit; exit 2 ;;
esac
state=${CP_STATE:?CP_STATE names the state directory}; mkdir -p "$state"; state=$(cd "$state" && pwd)
case $command in
  start)
    for p in "$@"; do case $p in etcd|apiserver|kwok|scheduler|controllers|kueue) ;; *) die "no part $p";; esac; done
    wanted=("$@"); build; prepare; start_etcd; start_apiserver
    for p in "$@"; do "start_$p"; done ;;
  stop) if [ $# -eq 0 ]; then set -- "${parts[@]}"; fi; for p in "$@"; do halt "$p"; done ;;
  status) for p in etcd apiserver scheduler controllers kwok kueue; do if pid=$(alive $p); then echo "$p runs, pid $pid"; else echo "$p stopped"; fi; done ;;
esac
