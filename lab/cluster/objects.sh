#!/usr/bin/env bash
# Asks the API server for a dry run of every object that the manifests and the chart have, in strict validation: unknown and wrong fields, names
# and admission. etcd and the API server are enough, so it runs minutes after "build", before there are images.
#   lab/cluster/objects.sh FOLDER [HELM]
# The kinds of controllers come from their Go modules: Gateway API, KEDA and External Secrets as they are, those of the Prometheus operator by
# name only, since its module cannot be had everywhere.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
helm=${2:-helm}
export PATH="$folder:$PATH" # kubectl
gateway_api=${GATEWAY_API:-1.4.0} keda=${KEDA:-2.17.2} external_secrets=${EXTERNAL_SECRETS:-0.20.4}
work=$folder/objects
rm -rf "$work" && mkdir -p "$work"

source_of() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
kinds() {
  kubectl apply --server-side -f "$(source_of "sigs.k8s.io/gateway-api@v$gateway_api")/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"
  kubectl apply --server-side -f "$(source_of "github.com/kedacore/keda/v2@v$keda")/config/crd/bases/keda.sh_scaledobjects.yaml"
  # In its source without the webhook that converts old versions.
  kubectl apply --server-side -f "$(source_of "github.com/external-secrets/external-secrets@v$external_secrets")/config/crds/bases/external-secrets.io_externalsecrets.yaml"
  for kind in PrometheusRule ServiceMonitor; do
    local plural
    plural=$(tr '[:upper:]' '[:lower:]' <<< "${kind}s")
    kubectl apply --server-side -f - << END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: $plural.monitoring.coreos.com }
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: { kind: $kind, plural: $plural }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }]
END
  done
  kubectl wait --for=condition=Established crd --all --timeout=60s > /dev/null
}

# NAME NAMESPACE FILE: every object must be accepted, without a warning.
accepted() {
  local said
  said=$(kubectl -n "$2" apply --dry-run=server --validate=strict -f "$3" 2>&1) || { echo "$said"; echo "WRONG: $1 is refused" >&2; exit 1; }
  if grep -i warning <<< "$said"; then echo "WRONG: $1 has warnings" >&2; exit 1; fi
  echo "$1: $(wc -l <<< "$said") objects accepted"
}

kinds > /dev/null
# A namespace that a dry run makes is not there for the objects in it.
kubectl apply -f deploy/kubernetes/base/namespace.yaml
for overlay in deploy/kubernetes/overlays/*/; do
  kubectl kustomize "$overlay" > "$work/overlay.yaml"
  accepted "$overlay" billhook "$work/overlay.yaml"
done
for component in deploy/kubernetes/components/*/; do
  name=$(basename "$component")
  mkdir -p "$work/$name"
  printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: billhook\nresources: [%s]\ncomponents: [%s]\n' \
    "$(realpath --relative-to="$work/$name" deploy/kubernetes/base)" "$(realpath --relative-to="$work/$name" "$component")" > "$work/$name/kustomization.yaml"
  kubectl kustomize "$work/$name" > "$work/$name.yaml"
  accepted "base with $component" billhook "$work/$name.yaml"
done
node deploy/helm/main.ts --out "$work" > /dev/null
everything=(backup ingress gatewayApi keda monitoring stores externalSecrets)
values=(--set priority.create=true,externalSecrets.keys.main=kv/main,externalSecrets.keys.redis=kv/redis,externalSecrets.keys.mail=kv/mail)
values+=(--set externalSecrets.store.name=vault,externalSecrets.store.kind=ClusterSecretStore,image.pullSecrets[0].name=registry,renderer.sandbox.enabled=true)
for name in "${everything[@]}"; do values+=(--set "$name.enabled=true"); done
"$helm" lint --strict --quiet "$work/billhook"
"$helm" template billhook "$work/billhook" --namespace billhook > "$work/chart.yaml"
accepted "chart, no value set" billhook "$work/chart.yaml"
"$helm" template billhook "$work/billhook" --namespace billhook --values "$work/billhook/values-trial.yaml" > "$work/chart.yaml"
accepted "chart, values of the trial" billhook "$work/chart.yaml"
"$helm" template billhook "$work/billhook" --namespace billhook "${values[@]}" > "$work/chart.yaml"
accepted "chart, everything switched on" billhook "$work/chart.yaml"
