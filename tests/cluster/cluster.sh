#!/usr/bin/env bash
# A real Kubernetes API server on loopback, with etcd and kubectl, for the tests and for `make cluster`.
#
#   cluster.sh build                  build what is needed once; print the folder that holds it
#   cluster.sh crds PROJECT           print the folder with the CRDs of a project; `all`: of every project
#   cluster.sh program NAME           build the client in the folder NAME once; print its path
#   cluster.sh start DIR              start etcd and kube-apiserver, data in DIR; write DIR/kubeconfig and DIR/env
#   cluster.sh stop-apiserver DIR     stop kube-apiserver and leave etcd as it is
#   cluster.sh kill-apiserver DIR     the same, without a chance to end its watches
#   cluster.sh start-apiserver DIR    start it again on the same port
#   cluster.sh stop DIR               stop all that runs in DIR (each DIR/*.pid)
#   cluster.sh hold DIR               start, say "ready", and when stdin closes stop and remove DIR
#
# Environment:
#   K8S_VERSION             minor version of Kubernetes: a folder of kubernetes/ (default 1.36)
#   GATEWAY_API_VERSION     minor version of the Gateway API: a line of gateway-api.txt (default 1.6)
#   GATEWAY_API_CHANNEL     standard or experimental (default)
#   KUBEBUILDER_ASSETS      folder with etcd, kube-apiserver and kubectl to use instead of building them
#   GATEWAY_API_CRDS        folder with standard/ and experimental/ to use instead of the Go module's
#   ATTACHE_PROJECT_CRDS    folder with PROJECT/*.yaml to use instead of Go modules and stand-ins
#   ATTACHE_CLUSTER_CACHE   where built binaries are kept (default ~/.cache/attache/cluster)
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ATTACHE_CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/attache/cluster}
kubernetes=${K8S_VERSION:-1.36}
gateway_api=${GATEWAY_API_VERSION:-1.6}
channel=${GATEWAY_API_CHANNEL:-experimental}
ready_seconds=300
# Four times the memory for garbage, and a third less work for the API server.
export GOGC=${GOGC:-400}

die() {
  echo "cluster.sh: $*" >&2
  exit 1
}

# Exit status 3 says that this machine cannot build a cluster; the tests are then skipped.
go_command() {
  command -v go || { [ -x /usr/local/go/bin/go ] && echo /usr/local/go/bin/go; } || {
    echo "cluster.sh: Go is not installed: install it, or set KUBEBUILDER_ASSETS and GATEWAY_API_CRDS" >&2
    exit 3
  }
}

# TEXT...: the name of the folder in the cache for what they determine.
key() { sha256sum <<<"$*" | cut -c 1-16; }

# DIR COMMAND...: what fills DIR is run once, also if two test runs start at once.
once() {
  local dir=$1
  shift
  [ ! -e "$dir/complete" ] || return 0
  mkdir -p "$dir"
  (
    flock 9
    if [ ! -e "$dir/complete" ]; then
      "$@"
      touch "$dir/complete"
    fi
  ) 9>"$dir/lock"
}

# --- Kubernetes -------------------------------------------------------------------------------------

build() {
  local own=${KUBEBUILDER_ASSETS:-} from=$here/kubernetes/$kubernetes assets
  if [ -n "$own" ]; then
    [ -z "${K8S_VERSION:-}" ] || die "KUBEBUILDER_ASSETS and K8S_VERSION are both set: unset one"
    assets=$cache/$(key "kubernetes $own")
    once "$assets" link_binaries "$own" "$assets"
  else
    [ -f "$from/go.mod" ] || die "no Kubernetes $kubernetes; K8S_VERSION may be one of: $(cd "$here/kubernetes" && echo ./* | sed 's|\./||g')"
    assets=$cache/$(key "$(cat "$from/go.mod" "$from/go.sum")")
    once "$assets" build_binaries "$from" "$assets"
  fi
  echo "$assets"
}

link_binaries() {
  local from=$1 to=$2 name
  for name in etcd kube-apiserver kubectl; do
    [ -x "$from/$name" ] || die "KUBEBUILDER_ASSETS has no $name: $from"
    ln -sfn "$from/$name" "$to/$name"
  done
}

build_binaries() {
  local from=$1 to=$2 go version flags
  go=$(go_command)
  version=$(sed -n 's|^[[:space:]]*k8s.io/kubernetes v\([^ ]*\).*|\1|p' "$from/go.mod")
  # Without these the server says v0.0.0 and clients misjudge it.
  flags="-s -w -X k8s.io/component-base/version.gitVersion=v$version"
  flags+=" -X k8s.io/component-base/version.gitMajor=${version%%.*}"
  flags+=" -X k8s.io/component-base/version.gitMinor=$(echo "$version" | cut -d. -f2)"
  echo "cluster.sh: building Kubernetes v$version and etcd; about five minutes, once" >&2
  (
    cd "$from"
    "$go" build -trimpath -buildvcs=false -ldflags "$flags" -o "$to/" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl
    "$go" build -trimpath -buildvcs=false -ldflags "-s -w" -o "$to/etcd" go.etcd.io/etcd/server/v3
  ) >&2
}

# --- CRDs of the Gateway API -------------------------------------------------------------------------

crds_of_gateway_api() {
  local own=${GATEWAY_API_CRDS:-} pin to
  case $channel in
    standard | experimental) ;;
    *) die "GATEWAY_API_CHANNEL is $channel: it must be standard or experimental" ;;
  esac
  if [ -n "$own" ]; then
    [ -z "${GATEWAY_API_VERSION:-}" ] || die "GATEWAY_API_CRDS and GATEWAY_API_VERSION are both set: unset one"
    to=$cache/$(key "gateway-api $own")
    once "$to" copy_channels "$own" "$to"
  else
    pin=$(grep "^$gateway_api " "$here/gateway-api.txt") ||
      die "no Gateway API $gateway_api; GATEWAY_API_VERSION may be one of: $(sed -n 's/^\([0-9][^ ]*\) .*/\1/p' "$here/gateway-api.txt" | xargs)"
    to=$cache/$(key "gateway-api $pin")
    once "$to" copy_channels_of_module "$pin" "$to"
  fi
  echo "$to/$channel"
}

# A line of gateway-api.txt.
copy_channels_of_module() {
  local version sum from
  read -r _ version sum <<<"$1"
  from=$(module sigs.k8s.io/gateway-api "$version" "$sum")
  copy_channels "$from/config/crd" "$2"
}

copy_channels() {
  local from=$1 to=$2 name
  for name in standard experimental; do
    mkdir -p "$to/$name"
    cp -f "$from/$name"/gateway.networking*.yaml "$to/$name/"
    rm -f "$to/$name"/*_vap_*.yaml
  done
  chmod -R u+w "$to"
}

# --- CRDs of reports ----------------------------------------------------------------------------------

# The line of openreports.txt.
crds_of_openreports() {
  local version sum from pin
  pin=$(grep '^v' "$here/openreports.txt")
  read -r version sum <<<"$pin"
  from=$(module github.com/openreports/reports-api "$version" "$sum")
  echo "$from/config/crd"
}

# --- the CRD of cert-manager's Certificates ------------------------------------------------------------

# Of the module that cainjector/ is built from.
crds_of_cert_manager() {
  local name=github.com/cert-manager/cert-manager version sum from
  read -r _ version sum < <(grep "^$name v[^/]* h1:" "$here/cainjector/go.sum")
  from=$(module "$name" "$version" "$sum")
  echo "$from/deploy/crds/cert-manager.io_certificates.yaml"
}

# --- CRDs of projects --------------------------------------------------------------------------------

# A folder of one's own, else what the project's Go module holds, else stand-ins.
crds() {
  local project=$1 own=${ATTACHE_PROJECT_CRDS:-} pin
  if [ "$project" = all ]; then
    for project in $({ sed -n 's/^\([a-z][^ ]*\) .*/\1/p' "$here/projects.txt" && ls "$here/projects"; } | sort -u); do
      crds "$project"
    done
    return
  fi
  pin=$(grep "^$project " "$here/projects.txt" || true)
  if [ -n "$own" ] && [ -d "$own/$project" ]; then
    (cd "$own/$project" && pwd)
  elif [ "$project" = gateway-api ]; then
    crds_of_gateway_api
  elif [ "$project" = openreports ]; then
    crds_of_openreports
  elif [ "$project" = cert-manager ]; then
    crds_of_cert_manager
  elif [ -n "$pin" ]; then
    crds_of_module "$pin"
  elif [ -d "$here/projects/$project/crds" ]; then
    echo "$here/projects/$project/crds"
  else
    die "no CRDs of $project"
  fi
}

# A line of projects.txt.
crds_of_module() {
  local project to
  project=${1%% *}
  to=$cache/$(key "$1")
  once "$to" copy_crds "$1" "$to/crds/$project"
  echo "$to/crds/$project"
}

copy_crds() {
  local pin=$1 to=$2 module version sum files from
  read -r _ module version sum files <<<"$pin"
  from=$(module "$module" "$version" "$sum")
  mkdir -p "$to"
  # The list of files is a pattern.
  # shellcheck disable=SC2086
  (cd "$from" && cat -- $files) | policy_kinds >"$to/crds.yaml"
  [ -s "$to/crds.yaml" ] || die "no CRDs of policy kinds in $module $version"
}

# MODULE VERSION SUM: the folder of a Go module with this checksum.
module() {
  local go got dir to
  go=$(go_command)
  # Outside of every module, so that nothing but the pin plays a part.
  got=$(cd / && GOTOOLCHAIN=local "$go" mod download -json "$1@$2") || [ -n "$(value_of Zip "$got")" ] || die "$got"
  [ "$(value_of Sum "$got")" = "$3" ] || die "the checksum of $1 $2 is not the one in tests/cluster: $got"
  dir=$(value_of Dir "$got")
  # Go does not unpack a module for a newer Go, and CRDs need no Go.
  if [ -z "$dir" ]; then
    to=$cache/$(key "module $1 $2 $3")
    once "$to" python3 -m zipfile -e "$(value_of Zip "$got")" "$to"
    dir=$to/$1@$2
  fi
  echo "$dir"
}

# NAME JSON: a text of what `go mod download` prints.
value_of() { sed -n "s|^[[:space:]]*\"$1\": \"\(.*\)\".*|\1|p" <<<"$2"; }

# Of YAML documents, those that name targets or carry the label of policy kinds.
policy_kinds() {
  awk -v RS='(^|\n)---[^\n]*\n' -v ORS='\n---\n' '/\n +targetRefs?:/ || /gateway.networking.k8s.io\/policy:/'
}

# --- clients other than kubectl ----------------------------------------------------------------------

# Of a folder with a go.mod of its own: the command that it names as a tool, else its own. A line `// tags:`
# leaves out what the tests do not use.
program() {
  local name=$1 from=$here/$1 to
  [ -f "$from/go.mod" ] || die "no program $name"
  to=$cache/$(key "$(cd "$from" && cat -- *)")
  once "$to" build_program "$name" "$from" "$to"
  echo "$to/$name"
}

build_program() {
  local name=$1 from=$2 to=$3 go package tags
  go=$(go_command)
  package=$(sed -n 's/^tool //p' "$from/go.mod")
  tags=$(sed -n 's|^// tags: ||p' "$from/go.mod")
  echo "cluster.sh: building $name; a few minutes, once" >&2
  (cd "$from" && "$go" build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w" -o "$to/$name" "${package:-.}") >&2
}

# --- run --------------------------------------------------------------------------------------------

# Three free ports in a row; prints the first. They lie below the range that the kernel gives to outgoing
# connections and to port 0, and begin at our process id, so that clusters that start together differ.
free_ports() {
  local n=$$ first
  while :; do
    first=$((20000 + n % 4000 * 3))
    in_use "$first" || in_use $((first + 1)) || in_use $((first + 2)) || break
    n=$((n + 997))
  done
  echo "$first"
}

in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

token() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# A process that ended and that nobody has asked after yet (a zombie) is not alive. Its ports are free once all its
# threads have ended, and the first may be a zombie before the others.
alive() { grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/task/"*/status; }

running() { [ -f "$1" ] && alive "$(cat "$1")"; }

# DIR NAME COMMAND...: run in the background, apart from the terminal, with its id in DIR/NAME.pid.
daemon() {
  local dir=$1 name=$2
  shift 2
  setsid "$@" >>"$dir/$name.log" 2>&1 </dev/null &
  echo $! >"$dir/$name.pid"
  disown
}

write_env() {
  local dir=$1 assets=$2 port
  port=$(free_ports)
  cat >"$dir/env" <<END
ASSETS=$assets
KUBECTL=$assets/kubectl
KUBECONFIG=$dir/kubeconfig
ETCD_PORT=$port
ETCD_PEER_PORT=$((port + 1))
APISERVER_PORT=$((port + 2))
END
  # alice and bob have no rights until a test gives them some.
  (
    umask 077
    printf '%s,admin,admin,"system:masters"\n%s,alice,alice\n%s,bob,bob\n' "$(token)" "$(token)" "$(token)" >"$dir/tokens.csv"
    openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$dir/sa.key" 2>/dev/null
  )
}

# kubeconfig for the admin, kubeconfig-alice and kubeconfig-bob.
write_kubeconfigs() {
  local dir=$1 ca user token file
  ca=$(base64 -w0 <"$dir/certs/apiserver.crt")
  while IFS=, read -r token user _; do
    file=$dir/kubeconfig
    [ "$user" = admin ] || file=$dir/kubeconfig-$user
    (
      umask 077
      cat >"$file" <<END
apiVersion: v1
kind: Config
clusters:
- name: attache
  cluster: {server: "https://127.0.0.1:$APISERVER_PORT", certificate-authority-data: $ca}
users:
- name: $user
  user: {token: $token}
contexts:
- name: attache
  context: {cluster: attache, user: $user}
current-context: attache
END
    )
  done <"$dir/tokens.csv"
}

load_env() {
  [ -f "$1/env" ] || die "no cluster in $1"
  # shellcheck source=/dev/null
  . "$1/env"
}

start() {
  local dir assets
  assets=$(build)
  mkdir -p "$1/certs"
  dir=$(cd "$1" && pwd)
  ! running "$dir/etcd.pid" || die "already running in $dir"
  [ -f "$dir/env" ] || write_env "$dir" "$assets"
  load_env "$dir"
  # From the file: not the folder that may have been built since.
  # shellcheck disable=SC2153
  daemon "$dir" etcd "$ASSETS/etcd" --name attache --data-dir "$dir/etcd" --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-cluster "attache=http://127.0.0.1:$ETCD_PEER_PORT"
  start_apiserver "$dir"
}

# With the flags of DIR/apiserver.flags more, a line each, where a test has written some.
start_apiserver() {
  local dir=$1 deadline=$((SECONDS + ready_seconds)) flags=()
  load_env "$dir"
  ! running "$dir/apiserver.pid" || die "kube-apiserver already runs in $dir"
  [ ! -f "$dir/apiserver.flags" ] || mapfile -t flags <"$dir/apiserver.flags"
  daemon "$dir" apiserver "$ASSETS/kube-apiserver" "${flags[@]}" \
    --etcd-servers="http://127.0.0.1:$ETCD_PORT" --bind-address=127.0.0.1 --secure-port="$APISERVER_PORT" \
    --cert-dir="$dir/certs" --service-cluster-ip-range=10.0.0.0/24 --endpoint-reconciler-type=none \
    --service-account-issuer="https://127.0.0.1:$APISERVER_PORT" --service-account-key-file="$dir/sa.key" \
    --service-account-signing-key-file="$dir/sa.key" --token-auth-file="$dir/tokens.csv" \
    --authorization-mode=RBAC --disable-admission-plugins=ServiceAccount --feature-gates=APIResponseCompression=false
  until [ -f "$dir/kubeconfig" ] && "$KUBECTL" --kubeconfig "$dir/kubeconfig" get --raw=/readyz >/dev/null 2>&1; do
    running "$dir/etcd.pid" || die "etcd ended: $(tail -n 3 "$dir/etcd.log")"
    running "$dir/apiserver.pid" || die "kube-apiserver ended: $(tail -n 3 "$dir/apiserver.log")"
    [ "$SECONDS" -lt "$deadline" ] || die "kube-apiserver not ready after $ready_seconds s: $(tail -n 20 "$dir/apiserver.log")"
    [ -f "$dir/kubeconfig" ] || [ ! -f "$dir/certs/apiserver.crt" ] || write_kubeconfigs "$dir"
    sleep 0.1
  done
}

# FILE [SIGNAL]: end the process of a pid file and wait until it is gone.
end() {
  local pid tries=0
  running "$1" || { rm -f "$1"; return 0; }
  pid=$(cat "$1")
  kill -s "${2:-TERM}" "$pid" 2>/dev/null || true
  while alive "$pid"; do
    tries=$((tries + 1))
    [ "$tries" -ne 100 ] || kill -s KILL "$pid" 2>/dev/null || true
    sleep 0.1
  done
  rm -f "$1"
}

# The data is thrown away, so nothing has to be shut down in good order.
stop() {
  local file
  for file in "$1"/*.pid; do
    ! running "$file" || kill -s KILL "$(cat "$file")" 2>/dev/null || true
  done
  for file in "$1"/*.pid; do
    end "$file"
  done
}

# Whoever holds the other end of stdin owns the cluster: it goes when they end, however they end.
hold() {
  held=$1
  trap 'stop "$held"; rm -rf "$held"' EXIT
  start "$held"
  echo ready
  cat >/dev/null
}

verb=${1:-}
case "$verb" in
  build) build ;;
  crds)
    [ -n "${2:-}" ] || die "crds needs a project"
    crds "$2"
    ;;
  program)
    [ -n "${2:-}" ] || die "program needs a name"
    program "$2"
    ;;
  start | stop | hold | start-apiserver | stop-apiserver | kill-apiserver)
    dir=${2:-}
    [ -n "$dir" ] || die "$verb needs a folder"
    case "$verb" in
      start) start "$dir" ;;
      stop) stop "$dir" ;;
      hold) hold "$dir" ;;
      start-apiserver) start_apiserver "$dir" ;;
      stop-apiserver) end "$dir/apiserver.pid" ;;
      kill-apiserver) end "$dir/apiserver.pid" KILL ;;
    esac
    ;;
  *)
    sed -n '4,12p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
