#!/usr/bin/env bash
# Renders the overlays as kubectl would and checks them strictly against the schemas of a Kubernetes version. Needs kubectl and kubernetes-validate (pip).
#   lab/deploy/validate-kubernetes.sh [VERSION]
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:-1.37}

for overlay in deploy/kubernetes/overlays/*/; do
  rendered=$(mktemp --suffix=.yaml)
  trap 'rm -f "$rendered"' EXIT
  kubectl kustomize "$overlay" > "$rendered"
  echo "$overlay: $(grep -c '^kind:' "$rendered") resources, Kubernetes $version"
  # Custom resources are not among its schemas: test/unit/deploy/kubernetes.test.ts checks those.
  kubernetes-validate -k "$version" --strict --no-warn "$rendered" | sed "s#$rendered#  #"
done
