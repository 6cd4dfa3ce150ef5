#!/usr/bin/env bash
# Shows on the running trial that its network policies open what docs/operate.md says and nothing else; ends with 1 at the first that does not.
#   lab/cluster/reach.sh FOLDER
set -euo pipefail
folder=$(cd "$1" && pwd)
export PATH="$folder:$PATH" # kubectl
image=$(kubectl -n billhook get cronjob admin -o jsonpath='{.spec.jobTemplate.spec.template.spec.containers[0].image}')
connect='require("net").connect(Number(process.argv[2]), process.argv[1]).on("connect", () => process.exit(0)).on("error", () => process.exit(1)).setTimeout(2500, () => process.exit(1))'

ip() { kubectl -n billhook get pod -l "app.kubernetes.io/name=$1" -o jsonpath='{.items[0].status.podIP}'; }
# yes|no NAMESPACE POD-OR-DEPLOYMENT HOST PORT
expect() {
  local reached=no
  # The API must not fail for another reason: a pod that cannot run node would count as "no".
  kubectl -n "$2" exec "$3" -- node -e 0
  if kubectl -n "$2" exec "$3" -- node -e "$connect" "$4" "$5" 2> /dev/null; then reached=yes; fi
  echo "$2 $3 reaches $4:$5: $reached"
  [ "$reached" = "$1" ] || { echo "WRONG: expected $1" >&2; exit 1; }
}

for namespace in monitoring other; do
  kubectl create namespace $namespace
  kubectl -n $namespace run asker --image="$image" --image-pull-policy=IfNotPresent --command -- sleep infinity
done
trap 'kubectl delete namespace monitoring other --wait=false' EXIT
for namespace in monitoring other; do kubectl -n $namespace wait pod/asker --for=condition=Ready --timeout=60s; done

for service in gateway portal operations scheduler webhooks mail renderer; do
  expect yes monitoring asker "$(ip $service)" 9090
  expect no other asker "$(ip $service)" 9090
done
for namespace in monitoring other; do
  expect yes $namespace asker gateway.billhook 80
  expect yes $namespace asker portal.billhook 80
  expect no $namespace asker "$(ip operations)" 8090
  expect no $namespace asker mongodb.billhook 27017
  expect no $namespace asker redis.billhook 6379
done
for service in gateway portal operations scheduler webhooks mail; do
  expect yes billhook deployment/$service mongodb 27017
  expect yes billhook deployment/$service redis 6379
done
expect yes billhook deployment/renderer redis 6379
expect no billhook deployment/renderer mongodb 27017
for service in scheduler operations portal webhooks mail renderer; do
  expect no billhook deployment/$service gateway 80
  expect no billhook deployment/$service "$(ip gateway)" 9090
done
expect no billhook deployment/scheduler "$(ip operations)" 8090
