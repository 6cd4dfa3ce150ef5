#!/usr/bin/env bash
# Builds KEDA from its Go module and runs it on the cluster of cluster.sh: the operator and the server of external metrics, with the objects of
# its own release and without its admission webhooks.
#   lab/cluster/keda.sh FOLDER build   # about 15 minutes of processor time, once
#   lab/cluster/keda.sh FOLDER up      # needs the engine that images.sh started
#   lab/cluster/keda.sh FOLDER down
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$1" && pwd)
version=${KEDA:-2.21.0}
source=$folder/modules/keda
export DOCKER_HOST="unix://$folder/engine/docker.sock" DOCKER_BUILDKIT=0

build() {
  local given
  given=$(cd / && go mod download -json "github.com/kedacore/keda/v2@v$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  rm -rf "$source" && mkdir -p "$folder/modules" && cp -r "$given" "$source" && chmod -R u+w "$source"
  cd "$source"
  export CGO_ENABLED=0
  nice -n 10 go build -ldflags '-s -w' -o "$folder/bin/keda" ./cmd/operator
  nice -n 10 go build -ldflags '-s -w' -o "$folder/bin/keda-adapter" ./cmd/adapter
}

# The objects as the release has them, with images that no registry has to have.
objects() {
  "$folder/kubectl" kustomize "$source/config/minimal" | sed 's/imagePullPolicy: Always/imagePullPolicy: IfNotPresent/'
}

up() {
  local name image
  for name in keda keda-adapter; do
    [ $name = keda ] && image=ghcr.io/kedacore/keda:main || image=ghcr.io/kedacore/keda-metrics-apiserver:main
    printf 'FROM scratch\nCOPY %s /\nUSER 1000\n' $name | docker build -q -t $image -f - "$folder/bin" > /dev/null
    "$here/cluster.sh" "$folder" load $image
  done
  objects | "$folder/kubectl" apply --server-side -f - > /dev/null
  for name in keda-operator keda-metrics-apiserver; do "$folder/kubectl" -n keda rollout status deployment/$name --timeout=180s; done
  "$folder/kubectl" wait apiservice/v1beta1.external.metrics.k8s.io --for=condition=Available --timeout=120s
}

down() { objects | "$folder/kubectl" delete --ignore-not-found -f - > /dev/null; }

case $2 in
  build | up | down) "$2" ;;
  *) echo "no such step: $2" >&2; exit 2 ;;
esac
