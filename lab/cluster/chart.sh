#!/usr/bin/env bash
# Installs the Helm chart twice on the cluster of cluster.sh and does to it what operators and nodes do, under load: every step ends with 1 if one
# call failed or an acknowledged record is lost.
#   lab/cluster/chart.sh FOLDER HELM [install|roll|kill|upgrade|scale|keda|rotate|backup|node|uninstall|all]
# "keda" needs keda.sh, and is no part of "all".
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
helm=$(realpath "$2")
step=${3:-all}
export PATH="$folder:$PWD/node_modules/.bin:$PATH" KUBECONFIG=$folder/admin.conf
deployments='gateway portal operations scheduler webhooks mail renderer'
services="app.kubernetes.io/name in (${deployments// /,})"
chart=$folder/chart/billhook

trap 'rm -f "$folder/load"' EXIT # Calls end with the step.

say() { echo "$(date +%T.%N | cut -c1-10) $*"; }
fail() { say "WRONG: $*"; kubectl get pods -A; exit 1; }
# helm talks to the API server from inside the cluster's network.
helm() { lab/cluster/cluster.sh "$folder" in env KUBECONFIG="$KUBECONFIG" "$helm" "$@"; }
billing() { kubectl -n billing "$@"; }
ready() { # NAMESPACE
  kubectl -n "$1" wait pod -l 'app.kubernetes.io/name in (mongodb,redis)' --for=condition=Ready --timeout=300s > /dev/null || fail "stores of $1 not ready"
  local one
  for one in $deployments; do kubectl -n "$1" rollout status "deployment/$one" --timeout=300s > /dev/null || fail "$1 $one not ready"; done
}
admin() { # NAMESPACE COMMAND…
  local namespace=$1
  shift
  if ! kubectl -n "$namespace" get job admin > /dev/null 2>&1; then
    kubectl -n "$namespace" create job admin --from=cronjob/admin > /dev/null
    kubectl -n "$namespace" wait job/admin --for=jsonpath='{.status.ready}'=1 --timeout=2m > /dev/null
  fi
  kubectl -n "$namespace" exec -i job/admin -- "$@"
}
run_admin() { admin "$1" node services/admin/main.ts "${@:2}"; }
# What a step does, while calls go on.
under_load() { # NAME COMMAND…
  local name=$1 pid rc=0
  shift
  touch "$folder/load"
  lab/cluster/cluster.sh "$folder" in env KEY="$(cat "$folder/key")" PATH="$PATH" node lab/cluster/load.ts --while "$folder/load" \
    --url "http://$(billing get service gateway -o jsonpath='{.spec.clusterIP}')" > "$folder/load.log" &
  pid=$!
  sleep 3
  "$@"
  sleep 3
  rm -f "$folder/load"
  wait $pid || rc=$?
  say "$name: $(tail -1 "$folder/load.log")"
  if [ $rc != 0 ]; then head -20 "$folder/load.log"; fail "$name"; fi
}

# Two of each service, so that one may be lost, and as little processor time as two installations beside each other need.
values() {
  local one
  printf -- '--values\n%s/values-trial.yaml\n' "$chart"
  for one in $deployments; do printf -- '--set\n%s.replicas=%s,%s.resources.requests.cpu=10m\n' "$one" "$1" "$one"; done
}

install() {
  lab/cluster/cluster.sh "$folder" free-disks
  node deploy/helm/main.ts --out "$folder/chart" > /dev/null
  helm lint --strict --quiet "$chart"
  local namespace replicas
  for namespace in billing staging; do
    [ $namespace = billing ] && replicas=2 || replicas=1
    kubectl create namespace $namespace
    kubectl label namespace $namespace pod-security.kubernetes.io/enforce=restricted > /dev/null
    kubectl -n $namespace create secret generic billhook --from-literal=secret-key="$(openssl rand -base64 32)" \
      --from-literal=mongodb-uri='mongodb://mongodb:27017/billhook?replicaSet=rs0' > /dev/null
    npm run -s redis-users -- --url redis://redis:6379 --kubernetes --namespace $namespace | kubectl apply -f - > /dev/null
    mapfile -t set < <(values $replicas)
    helm install billhook "$chart" --namespace $namespace "${set[@]}" > /dev/null
  done
  for namespace in billing staging; do ready $namespace; done
  local account
  account=$(run_admin billing accounts create --name 'Studio North' --json | node -p 'JSON.parse(fs.readFileSync(0)).id')
  run_admin billing keys create --account "$account" --json | node -p 'JSON.parse(fs.readFileSync(0)).key' > "$folder/key"
  run_admin billing doctor
  say "installed in two namespaces"
}

roll() { under_load "every deployment restarted" restart_all; }
restart_all() {
  billing rollout restart deployment > /dev/null
  ready billing
}

kill_pods() { under_load "every pod killed" kill_all; }
kill_all() {
  local pod
  for pod in $(billing get pods -l "$services" -o name); do
    # Without a grace period, as a node that fails would.
    billing delete "$pod" --grace-period=0 --force 2> /dev/null
    ready billing
  done
}

upgrade() {
  mapfile -t set < <(values 2)
  under_load "upgraded" helm upgrade billhook "$chart" --namespace billing "${set[@]}" --set image.tag=next --wait --timeout 10m
  [ "$(billing get pods -l "$services" -o jsonpath='{.items[*].spec.containers[0].image}' | tr ' ' '\n' | grep -vc ':next$')" = 0 ] || fail "an old image runs"
  under_load "rolled back" helm rollback billhook --namespace billing --wait --timeout 10m
}

scale() {
  find_prometheus
  make_burst_keys 1
  billing scale deployment/renderer --replicas 1 > /dev/null
  ready billing
  under_load "renderers 1, 3, 1 by their queue" scale_all
  billing scale deployment/renderer --replicas 2 > /dev/null
}
# Keys of accounts that send no more documents than one may in a minute.
make_burst_keys() { # NUMBER
  local account
  for _ in $(seq "$1"); do
    account=$(run_admin billing accounts create --name 'Studio South' --json | node -p 'JSON.parse(fs.readFileSync(0)).id')
    run_admin billing keys create --account "$account" --json | node -p 'JSON.parse(fs.readFileSync(0)).key'
  done > "$folder/burst-keys"
}
# Prometheus on PATH, or unpacked from Debian's archive without installing it.
find_prometheus() {
  prometheus=$(command -v prometheus || echo "$folder/prometheus/usr/bin/prometheus")
  [ -x "$prometheus" ] && return
  mkdir -p "$folder/prometheus"
  (cd "$folder/prometheus" && apt-get download prometheus > /dev/null 2>&1 && dpkg -x prometheus_*.deb .)
}
scale_all() {
  lab/cluster/cluster.sh "$folder" in env BURST_KEYS="$(cat "$folder/burst-keys")" PATH="$PATH" node lab/cluster/scale.ts --folder "$folder" --helm "$helm" \
    --prometheus "$prometheus" "$@" --url "http://$(billing get service gateway -o jsonpath='{.spec.clusterIP}')" || fail "scale"
}

# KEDA itself, in the place of its formula. Scaling down waits for seconds here and for minutes in the chart.
keda() {
  find_prometheus
  lab/cluster/keda.sh "$folder" up
  # The autoscaler of Kubernetes looks every 15 seconds, and doubles at most.
  make_burst_keys 4
  mapfile -t set < <(values 2)
  under_load "KEDA switched on" helm upgrade billhook "$chart" --namespace billing "${set[@]}" --set keda.enabled=true,keda.prometheus=http://172.30.0.1:9099 \
    --set keda.renderer.minReplicas=1,keda.renderer.maxReplicas=3,keda.webhooks.minReplicas=2 --wait --timeout 10m
  billing patch scaledobject renderer --type merge -p '{"spec":{"advanced":{"horizontalPodAutoscalerConfig":{"behavior":{"scaleDown":
    {"stabilizationWindowSeconds":15,"policies":[{"type":"Pods","value":1,"periodSeconds":15}]}}}}}}' > /dev/null
  billing wait scaledobject/renderer scaledobject/webhooks --for=condition=Ready --timeout=2m > /dev/null || fail "KEDA does not take the objects"
  under_load "renderers 1, 3, 1 by KEDA" scale_all --keda
  # Prometheus has ended with the step before.
  replicas_are 3 "without Prometheus"
  billing annotate scaledobject renderer webhooks autoscaling.keda.sh/paused-replicas=0 --overwrite > /dev/null
  replicas_are 0 "paused"
  billing annotate scaledobject renderer webhooks autoscaling.keda.sh/paused-replicas- > /dev/null
  replicas_are 3 "no longer paused"
  ready billing
  helm upgrade billhook "$chart" --namespace billing "${set[@]}" --wait --timeout 10m > /dev/null
  ready billing
  [ "$(replicas)" = 2 ] || fail "$(replicas) renderers without KEDA"
  lab/cluster/keda.sh "$folder" down
  say "KEDA switched off again"
}
replicas() { billing get deployment renderer -o jsonpath='{.spec.replicas}'; }
replicas_are() { # NUMBER WHEN
  local since=$SECONDS
  until [ "$(replicas)" = "$1" ]; do
    [ $((SECONDS - since)) -lt 180 ] || fail "$(replicas) renderers $2 instead of $1"
    sleep 1
  done
  say "$1 renderers $2 after $((SECONDS - since)) s"
}

rotate() {
  # A secret of an endpoint is sealed with the key.
  lab/cluster/cluster.sh "$folder" in curl -sf -m 10 -o /dev/null -H "Authorization: Bearer $(cat "$folder/key")" -H 'Content-Type: application/json' \
    -d '{"url":"https://hooks.example.com/billhook","events":["invoice.paid"]}' "http://$(billing get service gateway -o jsonpath='{.spec.clusterIP}')/api/v1/webhooks"
  under_load "secret key rotated" rotate_all
}
rotate_all() {
  local old new keys
  old=$(billing get secret billhook -o jsonpath='{.data.secret-key}' | base64 -d)
  new=$(openssl rand -base64 32)
  # In the order of docs/secure.md: every process reads both, then every secret is encrypted anew, then the old one goes.
  for keys in "$old,$new" "$new,$old" "$new"; do
    billing patch secret billhook -p "{\"stringData\":{\"secret-key\":\"$keys\"}}" > /dev/null
    billing rollout restart deployment > /dev/null
    ready billing
    billing delete job admin --ignore-not-found > /dev/null
    if [ "$keys" = "$new,$old" ]; then
      run_admin billing webhooks reseal | tee "$folder/reseal.log"
      grep -Eq '^resealed +[1-9]' "$folder/reseal.log" || fail "no secret was resealed"
    fi
  done
  run_admin billing doctor
}

# The commands of docs/backup.md, from one installation into the database of the other.
backup() {
  local name
  name=$(date +%H%M%S)
  mkdir -p "$folder/backups"
  admin billing node deploy/backup/main.ts save "/tmp/$name"
  admin billing tar -C /tmp -c "$name" | tar -C "$folder/backups" -x
  # shellcheck disable=SC2086
  kubectl -n staging scale deployment $deployments --replicas 0 > /dev/null
  kubectl -n staging delete job admin --ignore-not-found > /dev/null
  kubectl -n staging wait --for=delete pod -l "$services" --timeout=2m > /dev/null
  kubectl -n staging patch secret billhook -p "{\"data\":{\"secret-key\":\"$(billing get secret billhook -o jsonpath='{.data.secret-key}')\",
    \"mongodb-uri\":\"$(printf 'mongodb://mongodb:27017/restored?replicaSet=rs0' | base64)\"}}" > /dev/null
  tar -C "$folder/backups" -c "$name" | admin staging tar -C /tmp -x
  admin staging node deploy/backup/main.ts restore "/tmp/$name"
  run_admin staging migrate
  # shellcheck disable=SC2086
  kubectl -n staging scale deployment $deployments --replicas 1 > /dev/null
  ready staging
  local status
  status=$(lab/cluster/cluster.sh "$folder" in curl -s -m 10 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $(cat "$folder/key")" \
    "http://$(kubectl -n staging get service gateway -o jsonpath='{.spec.clusterIP}')/api/v1/clients")
  [ "$status" = 200 ] || fail "the restored installation answers $status to the key of the first"
  say "backed up and restored into the other installation, where the same key works"
}

node_restart() {
  local since=$SECONDS before wanted
  before=$(restarts)
  lab/cluster/cluster.sh "$folder" restart-node
  sleep 5
  for namespace in billing staging; do ready "$namespace"; done
  say "node restarted: everything ready after $((SECONDS - since)) s"
  wanted=$(awk '{ print $1, $2 + 1 }' <<< "$before")
  diff <(echo "$wanted") <(restarts) || fail "a pod was ended while it started"
}
restarts() {
  kubectl get pods -A -l "app.kubernetes.io/name in (${deployments// /,},mongodb,redis)" \
    -o jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name} {.status.containerStatuses[0].restartCount}{"\n"}{end}'
}

uninstall() {
  local namespace left
  for namespace in billing staging; do
    kubectl -n "$namespace" delete job admin --ignore-not-found > /dev/null
    helm uninstall billhook --namespace "$namespace" --cascade foreground --wait --timeout 5m > /dev/null
    left=$(kubectl -n "$namespace" get all,networkpolicies,configmaps,serviceaccounts,poddisruptionbudgets,ingresses -l app.kubernetes.io/part-of=billhook -o name)
    [ -z "$left" ] || fail "left behind: $left"
    kubectl delete namespace "$namespace" > /dev/null
  done
  say "uninstalled"
}

case $step in
  install | roll | upgrade | scale | keda | rotate | backup | uninstall) "$step" ;;
  kill) kill_pods ;;
  node) node_restart ;;
  all) install; roll; kill_pods; upgrade; scale; rotate; backup; node_restart; uninstall; say "all well" ;;
  *) echo "no such step: $step" >&2; exit 2 ;;
esac
