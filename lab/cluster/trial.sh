#!/usr/bin/env bash
# Installs the overlay "trial" on the cluster of cluster.sh and does to it what operators and nodes do; ends with 1 at the first thing that goes wrong.
#   lab/cluster/trial.sh FOLDER [install|journey|restarts|outage|jobs|reach|all]
#   lab/cluster/trial.sh FOLDER recovery       how soon services are ready after an outage of each store: about 25 minutes
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
step=${2:-all}
export PATH="$folder:$PWD/node_modules/.bin:$PATH" # kubectl, node
trial=deploy/kubernetes/overlays/trial
services='app.kubernetes.io/name in (gateway,portal,operations,scheduler,webhooks,mail,renderer)'

say() { echo "$(date +%T.%N | cut -c1-10) $*"; }
fail() { say "WRONG: $*"; kubectl -n billhook get pods,jobs; exit 1; }
billhook() { kubectl -n billhook "$@"; }
# Readiness of everything, and how long it took.
await_ready() {
  local since=$EPOCHREALTIME
  sleep 0.3 # A pod that was scaled up a moment ago is not listed yet.
  billhook wait pod -l "app.kubernetes.io/name in (mongodb,redis)" --for=condition=Ready --timeout=150s > /dev/null || fail "stores not ready"
  local stores=$EPOCHREALTIME
  billhook wait pod -l "$services" --for=condition=Ready --timeout=90s > /dev/null || fail "services not ready"
  say "$1: stores ready after $(seconds "$since" "$stores") s, services $(seconds "$stores" "$EPOCHREALTIME") s later"
}
seconds() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", b - a }'; }
no_restarts() {
  local counts
  counts=$(billhook get pods -l "$services" -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')
  [[ $counts =~ ^[0\ ]+$ ]] || fail "a service was restarted: $counts"
}
# STATUS PORT PATH: what the gateway's pod answers.
gateway_answers() {
  local ip
  ip=$(billhook get pod -l app.kubernetes.io/name=gateway -o jsonpath='{.items[0].status.podIP}')
  [ "$(lab/cluster/cluster.sh "$folder" in curl -s -m 5 -o /dev/null -w '%{http_code}' "http://$ip:$2$3")" = "$1" ] || fail "$3 is not $1"
}

install() {
  lab/cluster/cluster.sh "$folder" free-disks
  kubectl apply -f deploy/kubernetes/base/namespace.yaml
  billhook create secret generic billhook --from-literal=secret-key="$(openssl rand -base64 32)" \
    --from-literal=mongodb-uri='mongodb://mongodb:27017/billhook?replicaSet=rs0'
  npm run -s redis-users -- --url redis://redis:6379 --kubernetes | kubectl apply -f -
  local said
  said=$(kubectl apply -k $trial 2>&1)
  if grep -i warning <<< "$said"; then fail "warnings"; fi
  await_ready "installed"
  no_restarts
}

# Receivers and the SMTP server are at a public address behind the node, which the policies open; a documentation range needs leave of Billhook.
journey() {
  local overlay=$folder/journey
  mkdir -p "$overlay"
  billhook create secret generic billhook-mail --from-literal=smtp-url=smtp://203.0.113.10 --dry-run=client -o yaml | kubectl apply -f - > /dev/null
  {
    printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: billhook\n'
    printf 'resources: [%s]\n' "$(realpath --relative-to="$overlay" $trial)"
    printf 'configMapGenerator:\n  - name: billhook\n    behavior: merge\n    literals:\n'
    printf '      - %s\n' OUTBOUND_ALLOW=203.0.113.0/24 PORTAL_URL=http://pay.example.com MAIL_FROM=billing@north.example
  } > "$overlay/kustomization.yaml"
  apply_and_wait "$overlay"
  billhook create job admin --from=cronjob/admin > /dev/null
  billhook wait job/admin --for=jsonpath='{.status.ready}'=1 --timeout=2m > /dev/null
  lab/cluster/cluster.sh "$folder" outside env PATH="$PATH" node lab/cluster/journey.ts || fail "journey"
  billhook delete job admin > /dev/null
  no_restarts
  # A mail service with a server and no sender would not start.
  billhook delete secret billhook-mail > /dev/null
  apply_and_wait $trial
}
apply_and_wait() { # OVERLAY
  local service
  kubectl apply -k "$1" > /dev/null
  for service in gateway portal operations scheduler webhooks mail renderer; do billhook rollout status deployment/$service --timeout=120s > /dev/null; done
}

restarts() {
  for _ in 1 2 3 4; do
    billhook delete pod mongodb-0 > /dev/null
    await_ready "mongodb-0 deleted"
  done
  for _ in 1 2 3; do
    billhook rollout restart statefulset/mongodb > /dev/null
    billhook rollout status statefulset/mongodb --timeout=150s > /dev/null
    await_ready "StatefulSet mongodb rolled"
  done
  no_restarts
}

outage() {
  local store
  for store in mongodb redis; do
    billhook scale "statefulset/$store" --replicas 0 > /dev/null
    billhook wait --for=delete "pod/$store-0" --timeout=90s > /dev/null
    billhook delete pod -l "$services" > /dev/null
    say "services started without $store"
    sleep 40
    no_restarts
    gateway_answers 200 9090 /livez
    if [ $store = mongodb ]; then
      gateway_answers 503 9090 /readyz
      gateway_answers 503 8080 /api/v1/clients
      [ "$(billhook logs -l app.kubernetes.io/name=gateway --tail=-1 | grep -c 'mongodb is unavailable')" = 1 ] || fail "not one line in the log"
    fi
    billhook scale "statefulset/$store" --replicas 1 > /dev/null
    await_ready "$store back"
    no_restarts
  done
}

jobs() {
  local next admin deadline
  next=$folder/next
  mkdir -p "$next"
  {
    printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n'
    printf 'resources: [%s]\nimages:\n' "$(realpath --relative-to="$next" $trial)" # kustomize takes no absolute path
    for service in gateway portal operations scheduler webhooks mail renderer admin; do printf '  - { name: billhook/%s, newTag: next }\n' $service; done
  } > "$next/kustomization.yaml"
  billhook delete job admin --ignore-not-found
  billhook create job admin --from=cronjob/admin
  billhook wait job/admin --for=jsonpath='{.status.ready}'=1 --timeout=2m
  admin=$(billhook get pod -l job-name=admin -o jsonpath='{.items[0].metadata.uid}')
  billhook exec job/admin -- node services/admin/main.ts doctor

  deploy/kubernetes/roll-out.sh "$next" > /dev/null
  say "rolled out by roll-out.sh"
  for overlay in "$next" $trial "$next"; do kubectl apply -k "$overlay" > /dev/null; done
  say "applied three times while the job of the roll-out is there"
  deploy/kubernetes/roll-out.sh $trial > /dev/null &
  deadline=$((SECONDS + 60))
  until billhook get jobs --no-headers | grep '^migrate.*Running'; do [ $SECONDS -lt $deadline ] || fail "no job runs"; done
  kubectl apply -k "$next" > /dev/null
  say "applied while a job runs"
  wait $!
  say "rolled out by roll-out.sh"
  deploy/kubernetes/roll-out.sh --back "$next" > /dev/null
  say "and back"
  await_ready "after all of it"
  [ "$(billhook get pod -l job-name=admin -o jsonpath='{.items[0].metadata.uid} {.items[0].status.phase}')" = "$admin Running" ] || fail "the pod admin was ended"
  say "the pod admin is the same and runs"
  billhook delete job admin
}

reach() { node lab/cluster/reach.ts "$folder"; }

recovery() {
  local store fresh
  for store in mongodb redis; do
    for fresh in --fresh ''; do
      lab/cluster/cluster.sh "$folder" in env PATH="$PWD/node_modules/.bin:$PATH" node lab/cluster/recovery.ts --store $store $fresh
      no_restarts
    done
  done
}

case $step in
  install | journey | restarts | outage | jobs | reach | recovery) "$step" ;;
  all) install; journey; restarts; outage; jobs; reach; say "all well" ;;
  *) echo "no such step: $step" >&2; exit 2 ;;
esac
