#!/usr/bin/env bash
# Builds the programs of a cluster from Go modules into the folder $1. Needs a Go as new as the version of Kubernetes wants (1.35: 1.25 or later).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(mkdir -p "$1" && cd "$1" && pwd)
kubernetes=${KUBERNETES:-1.35.4} coredns=${COREDNS:-1.12.4} policies=${POLICIES:-0.8.0} metrics=${METRICS:-0.8.0}
work=$bin/../modules
export CGO_ENABLED=0
module() { # NAME MODULE VERSION
  rm -rf "$work/$1" && mkdir -p "$work/$1" && cd "$work/$1"
  [ ! -d "$here/$1" ] || cp "$here/$1"/*.go .
  printf 'module %s\n\ngo 1.25.0\n\nrequire %s v%s\n' "$1" "$2" "$3" > go.mod
}
# k8s.io/kubernetes names its staging modules v0.0.0: say where they are.
module kube k8s.io/kubernetes "$kubernetes"
given=$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
sed -n 's#^\s*\(k8s.io/[a-z-]*\) v0.0.0$#\1#p' "$given" | sort -u | while read -r name; do
  echo "replace $name => $name v0.${kubernetes#1.}"
done >> go.mod
go mod tidy -e
stamp=k8s.io/component-base/version.
nice -n 10 go build -o "$bin/kube" -ldflags "-s -w -X ${stamp}gitVersion=v$kubernetes -X ${stamp}gitMajor=1 -X ${stamp}gitMinor=$(cut -d. -f2 <<< "$kubernetes") -X ${stamp}gitTreeState=clean -X ${stamp}buildDate=2026-01-01T00:00:00Z" .
for name in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do ln -sf kube "$bin/$name"; done

module dns github.com/coredns/coredns "$coredns"
go mod tidy -e
nice -n 10 go build -ldflags '-s -w' -o "$bin/coredns" .
module policies sigs.k8s.io/kube-network-policies "$policies"
go mod tidy -e
nice -n 10 go build -ldflags '-s -w' -o "$bin/policies" .
rm -rf "$work/metrics" && mkdir -p "$work/metrics" && cd "$work/metrics"
printf 'module metrics\n\ngo 1.25.0\n' > go.mod
go get -tool "sigs.k8s.io/metrics-server/cmd/metrics-server@v$metrics"
nice -n 10 go build -ldflags '-s -w' -o "$bin/metrics-server" sigs.k8s.io/metrics-server/cmd/metrics-server
mkdir -p "$work/pause" && cd "$work/pause" && cp "$here/pause.go" . && printf 'module pause\n\ngo 1.25\n' > go.mod
go build -ldflags '-s -w' -o "$bin/pause" .
