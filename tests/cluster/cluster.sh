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
#   KUBEBUILDER_ASSETS      folder with etcd, kube-apiserver and kubectl to use instead of building them
#   GATEWAY_API_CRDS        folder with standard/ and experimental/ to use instead of the Go module's
#   ATTACHE_PROJECT_CRDS    folder with PROJECT/*.yaml to use instead of Go modules and stand-ins
#   ATTACHE_CLUSTER_CACHE   where built binaries are kept (default ~/.cache/attache/cluster)
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${ATTACHE_CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/attache/cluster}
ready_seconds=120

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

version_of() { # module path -> version without the v
  sed -n "s|^[[:space:]]*$1 v\([^ ]*\).*|\1|p" "$here/go.mod" | head -n 1
}

# --- build ------------------------------------------------------------------------------------------

build() {
  local key assets
  key=$({ cat "$here/go.sum" && echo "${KUBEBUILDER_ASSETS:-}" "${GATEWAY_API_CRDS:-}"; } | sha256sum | cut -c 1-16)
  assets=$cache/$key
  if [ ! -e "$assets/complete" ]; then
    lock "$assets"
    if [ ! -e "$assets/complete" ]; then
      build_binaries "$assets"
      copy_crds "$assets/gateway-api"
      touch "$assets/complete"
    fi
    exec 9>&-
  fi
  echo "$assets"
}

# DIR: made, and held until descriptor 9 is closed: two test runs at once make its contents once.
lock() {
  mkdir -p "$1"
  exec 9>"$1/lock"
  flock 9
}

build_binaries() {
  local assets=$1 go name version flags
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    for name in etcd kube-apiserver kubectl; do
      [ -x "$KUBEBUILDER_ASSETS/$name" ] || die "KUBEBUILDER_ASSETS has no $name: $KUBEBUILDER_ASSETS"
      ln -sfn "$KUBEBUILDER_ASSETS/$name" "$assets/$name"
    done
    return
  fi
  go=$(go_command)
  version=$(version_of k8s.io/kubernetes)
  # Without these the server says v0.0.0 and clients misjudge it.
  flags="-s -w -X k8s.io/component-base/version.gitVersion=v$version"
  flags+=" -X k8s.io/component-base/version.gitMajor=${version%%.*}"
  flags+=" -X k8s.io/component-base/version.gitMinor=$(echo "$version" | cut -d. -f2)"
  echo "cluster.sh: building Kubernetes v$version and etcd; about five minutes, once" >&2
  (
    cd "$here"
    "$go" build -trimpath -buildvcs=false -ldflags "$flags" -o "$assets/" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl
    "$go" build -trimpath -buildvcs=false -ldflags "-s -w" -o "$assets/etcd" go.etcd.io/etcd/server/v3
  ) >&2
}

copy_crds() {
  local to=$1 from=${GATEWAY_API_CRDS:-} go channel
  if [ -z "$from" ]; then
    go=$(go_command)
    from=$(cd "$here" && "$go" mod download sigs.k8s.io/gateway-api >&2 && "$go" list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)/config/crd
  fi
  for channel in standard experimental; do
    mkdir -p "$to/$channel"
    cp -f "$from/$channel"/gateway.networking*.yaml "$to/$channel/"
    rm -f "$to/$channel"/*_vap_*.yaml
  done
  chmod -R u+w "$to"
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
    echo "$(build)/gateway-api/experimental"
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
  local project module version sum files key to go got from
  read -r project module version sum files <<<"$1"
  key=$(echo "$1" | sha256sum | cut -c 1-16)
  to=$cache/$key/crds/$project
  if [ ! -e "$cache/$key/complete" ]; then
    lock "$cache/$key"
    if [ ! -e "$cache/$key/complete" ]; then
      go=$(go_command)
      # Outside of every module, so that nothing but the pin plays a part.
      got=$(cd / && "$go" mod download -json "$module@$version") || die "$got"
      [ "$(value_of Sum "$got")" = "$sum" ] || die "$module $version is not what projects.txt names"
      from=$(value_of Dir "$got")
      mkdir -p "$to"
      # The list of files is a pattern.
      # shellcheck disable=SC2086
      (cd "$from" && cat -- $files) | policy_kinds >"$to/crds.yaml"
      [ -s "$to/crds.yaml" ] || die "no CRDs of policy kinds in $module $version"
      touch "$cache/$key/complete"
    fi
    exec 9>&-
  fi
  echo "$to"
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
  local name=$1 from=$here/$1 key to go package tags
  [ -f "$from/go.mod" ] || die "no program $name"
  key=$(cd "$from" && cat -- * | sha256sum | cut -c 1-16)
  to=$cache/$key
  if [ ! -e "$to/complete" ]; then
    lock "$to"
    if [ ! -e "$to/complete" ]; then
      go=$(go_command)
      package=$(sed -n 's/^tool //p' "$from/go.mod")
      tags=$(sed -n 's|^// tags: ||p' "$from/go.mod")
      echo "cluster.sh: building $name; a few minutes, once" >&2
      (cd "$from" && "$go" build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w" -o "$to/$name" "${package:-.}") >&2
      touch "$to/complete"
    fi
    exec 9>&-
  fi
  echo "$to/$name"
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
    --authorization-mode=RBAC --disable-admission-plugins=ServiceAccount
  until [ -f "$dir/kubeconfig" ] && "$KUBECTL" --kubeconfig "$dir/kubeconfig" get --raw=/readyz >/dev/null 2>&1; do
    running "$dir/etcd.pid" || die "etcd ended: $(tail -n 3 "$dir/etcd.log")"
    running "$dir/apiserver.pid" || die "kube-apiserver ended: $(tail -n 3 "$dir/apiserver.log")"
    [ "$SECONDS" -lt "$deadline" ] || die "kube-apiserver not ready after $ready_seconds s; see $dir/apiserver.log"
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
