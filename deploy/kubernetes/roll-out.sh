#!/usr/bin/env bash
# Rolls an overlay out in the order that loses nothing, and ends at the first step that fails: what comes after it stays as it is.
#   deploy/kubernetes/roll-out.sh your/overlay          the version your overlay names
#   deploy/kubernetes/roll-out.sh --back your/overlay   the one before, in reverse and without its indexes
set -euo pipefail

services=(webhooks mail renderer scheduler operations portal gateway)
is_back=false
if [ "${1:-}" = --back ]; then
  is_back=true
  services=(gateway portal operations scheduler renderer mail webhooks)
  shift
fi
if [ $# -ne 1 ]; then
  echo 'Usage: deploy/kubernetes/roll-out.sh [--back] OVERLAY' >&2
  exit 2
fi
overlay=$1

# A job that is neither complete nor failed still runs. "kubectl wait" knows only one of the two conditions, and would
# wait an hour for a job that has failed already.
make_indexes() {
  kubectl apply -k "$overlay" -l app.kubernetes.io/name=migrate
  # Jobs of earlier runs may still exist, or run.
  local job ended deadline=$((SECONDS + 3600))
  job=migrate-$(date -u +%Y%m%d-%H%M%S)
  kubectl -n billhook create job "$job" --from=cronjob/migrate
  while [ "$SECONDS" -lt "$deadline" ]; do
    ended=$(kubectl -n billhook get job "$job" -o jsonpath='{.status.conditions[?(@.status=="True")].type}')
    case " $ended " in
      *" Complete "*) return ;;
      *" Failed "*) break ;;
    esac
    sleep 2
  done
  echo "$job failed, or took over an hour; its last lines:" >&2
  kubectl -n billhook logs "job/$job" --tail=20 >&2 || true
  exit 1
}

# These objects belong to no service: namespace, configuration, policies, autoscaling, alerts.
kubectl apply -k "$overlay" -l '!app.kubernetes.io/name'
if ! $is_back; then make_indexes; fi
for service in "${services[@]}"; do
  kubectl apply -k "$overlay" -l "app.kubernetes.io/name=$service"
  kubectl -n billhook rollout status "deployment/$service"
done
kubectl apply -k "$overlay"
