#!/usr/bin/env bash
# A Kubernetes of one node without an image registry: etcd, the programs of Kubernetes, CoreDNS, network policies, Debian's containerd and runc.
# Everything listens in a network namespace of its own: nothing of this machine's network is touched, and "down" leaves nothing behind.
#   lab/cluster/cluster.sh FOLDER build        the programs, from Go modules: about 20 minutes of processor time
#   lab/cluster/cluster.sh FOLDER up           starts all of it; FOLDER/kubectl … talks to it
#   lab/cluster/cluster.sh FOLDER load IMAGE…  images of the engine at DOCKER_HOST into containerd
#   lab/cluster/cluster.sh FOLDER addons       names, four disks, metrics-server
#   lab/cluster/cluster.sh FOLDER free-disks   empties the disks whose namespace is deleted, for the next installation
#   lab/cluster/cluster.sh FOLDER in COMMAND…  a command in the cluster's network: reaches services and pods by their addresses
#   lab/cluster/cluster.sh FOLDER outside COMMAND…  a command in a network behind the node, as a client or a receiver on the internet has it
#   lab/cluster/cluster.sh FOLDER restart-node
#   lab/cluster/cluster.sh FOLDER down         ends what it started, by process id
# README.md says what it needs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
step=$2
shift 2
bin=$folder/bin run=$folder/run pki=$folder/pki
namespace=billhook-lab node=node-1 ip=172.30.0.1
outside=billhook-lab-outside
pods=10.244.0.0/16 services=10.96.0.0/16 api=https://$ip:6443
export KUBECONFIG=$folder/admin.conf
mkdir -p "$bin" "$run" "$pki"

inside() { nsenter --net=/run/netns/$namespace -- "$@"; }
# NAME net|node COMMAND…: in the cluster's network, and for the node's own programs in their mount namespace, whose root is shared as kubelet wants it.
# An array and no function: the id kept here must be the program's own, or "down" would end a shell and leave the program.
start() {
  local name=$1 enter=(nsenter --net=/run/netns/$namespace)
  [ "$2" = net ] || enter+=(--mount="/proc/$(cat "$run/mounts.pid")/ns/mnt")
  shift 2
  "${enter[@]}" -- "$@" > "$run/$name.log" 2>&1 &
  echo $! > "$run/$name.pid"
}
wait_for() { # SECONDS COMMAND…
  local until=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    if [ "$SECONDS" -ge "$until" ]; then echo "gave up waiting for: $*" >&2; return 1; fi
    sleep 1
  done
}

build() { bash "$here/build.sh" "$bin"; }

certificate() { # NAME CN [O] [SAN]
  [ -f "$pki/$1.crt" ] && return
  openssl req -newkey rsa:2048 -nodes -keyout "$pki/$1.key" -subj "${3:+/O=$3}/CN=$2" 2> /dev/null |
    openssl x509 -req -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 30 -out "$pki/$1.crt" \
      -extfile <(printf 'extendedKeyUsage=clientAuth,serverAuth\n%s\n' "${4:+subjectAltName=$4}") 2> /dev/null
}
kubeconfig() { # FILE NAME-OF-CERTIFICATE
  cat > "$1" << END
apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "$api", certificate-authority: $pki/ca.crt } }]
users: [{ name: u, user: { client-certificate: $pki/$2.crt, client-key: $pki/$2.key } }]
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: x
END
}

prepare() {
  if [ ! -f "$pki/ca.crt" ]; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=cluster -keyout "$pki/ca.key" -out "$pki/ca.crt" 2> /dev/null
    openssl genrsa -out "$pki/sa.key" 2048 2> /dev/null
  fi
  certificate server kube-apiserver '' "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:$ip,IP:10.96.0.1,IP:127.0.0.1"
  certificate admin admin system:masters
  certificate kubelet "system:node:$node" system:nodes "DNS:$node,IP:$ip"
  certificate controllers system:kube-controller-manager
  certificate scheduler system:kube-scheduler
  certificate proxy system:kube-proxy
  certificate front front-proxy
  for who in admin kubelet controllers scheduler proxy; do kubeconfig "$folder/$who.conf" $who; done
  # The kubelet's folder keeps its usual name inside: what a manifest says about a node's path holds here.
  cat > "$folder/kubelet.yaml" << END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: $pki/ca.crt } }
authorization: { mode: Webhook }
tlsCertFile: $pki/kubelet.crt
tlsPrivateKeyFile: $pki/kubelet.key
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://$run/containerd.sock
resolvConf: $folder/resolv.conf
# What kind asks for itself: the trial has to fit beside it.
systemReserved: { cpu: 950m }
evictionHard: { memory.available: 200Mi, nodefs.available: 2%, imagefs.available: 2% }
imageGCHighThresholdPercent: 100
END
  echo 'nameserver 127.0.0.1' > "$folder/resolv.conf"
  mkdir -p "$folder/cni"
  cat > "$folder/cni/10-bridge.conflist" << END
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.244.0.0/24" }]], "dataDir": "$run/cni", "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
END
  cat > "$folder/containerd.toml" << END
version = 2
root = "$folder/containerd"
state = "$run/containerd"
[grpc]
address = "$run/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/local/pause:1"
# Without CAP_SYS_RESOURCE no process may be spared by the memory killer; runc would say "can't get final child's PID".
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "$folder/cni"
END
  printf '#!/bin/sh\nexec nsenter --net=/run/netns/%s -- env KUBECONFIG=%s %s "$@"\n' $namespace "$KUBECONFIG" "$bin/kubectl" > "$folder/kubectl"
  chmod +x "$folder/kubectl"
}

up() {
  prepare
  ip netns add $namespace 2> /dev/null || true
  inside ip link set lo up
  inside ip link add node type bridge 2> /dev/null || true # a kernel may lack "dummy"
  inside ip addr replace $ip/24 dev node
  inside ip link set node up
  inside ip route replace default dev node
  inside sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1 net.bridge.bridge-nf-call-iptables=1
  join_outside

  start etcd net etcd --data-dir "$folder/etcd" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --unsafe-no-fsync
  start apiserver net "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --service-cluster-ip-range=$services --allow-privileged \
    --advertise-address=$ip --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --client-ca-file="$pki/ca.crt" \
    --tls-cert-file="$pki/server.crt" --tls-private-key-file="$pki/server.key" --kubelet-certificate-authority="$pki/ca.crt" \
    --kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key" --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.key" --service-account-signing-key-file="$pki/sa.key" \
    --requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=front-proxy --requestheader-username-headers=X-Remote-User \
    --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- --enable-aggregator-routing \
    --proxy-client-cert-file="$pki/front.crt" --proxy-client-key-file="$pki/front.key"
  wait_for 180 "$folder/kubectl" get --raw /readyz
  "$folder/kubectl" version
  start controllers net "$bin/kube-controller-manager" --kubeconfig="$folder/controllers.conf" --authentication-kubeconfig="$folder/controllers.conf" \
    --authorization-kubeconfig="$folder/controllers.conf" --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" \
    --use-service-account-credentials --leader-elect=false --cluster-cidr=$pods
  start scheduler net "$bin/kube-scheduler" --kubeconfig="$folder/scheduler.conf" --authentication-kubeconfig="$folder/scheduler.conf" \
    --authorization-kubeconfig="$folder/scheduler.conf" --leader-elect=false
  start_node
  wait_for 120 "$folder/kubectl" wait --for=condition=Ready --timeout=5s node/$node
  if [ -x "$bin/policies" ]; then
    start policies net env KUBECONFIG="$KUBECONFIG" NODE=$node "$bin/policies"
    # What comes from the node itself, kubelet's probes, passes. Without "bypass": no answer is "no".
    inside iptables -t mangle -F POSTROUTING
    inside iptables -t mangle -A POSTROUTING -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
    inside iptables -t mangle -A POSTROUTING -m addrtype --src-type LOCAL -j ACCEPT
    inside iptables -t mangle -A POSTROUTING -s $pods -j NFQUEUE --queue-num 100
    inside iptables -t mangle -A POSTROUTING -d $pods -j NFQUEUE --queue-num 100
  fi
  "$folder/kubectl" get nodes -o wide
}

# A network behind the node with a public address, a private one and that of a cloud's metadata.
join_outside() {
  local address
  ip netns add $outside 2> /dev/null || return 0
  inside ip link add outside type veth peer name eth0 netns $outside
  inside ip link set outside up
  ip -n $outside link set lo up
  ip -n $outside link set eth0 up
  for address in 203.0.113 192.168.77 169.254.169; do
    inside ip addr add $address.1/24 dev outside
    ip -n $outside addr add $address.10/24 dev eth0
  done
  ip -n $outside addr add 169.254.169.254/24 dev eth0
  ip -n $outside route add default via 203.0.113.1
}

start_node() {
  start mounts net unshare --mount --propagation private sh -c 'mount --make-rshared / && exec sleep infinity'
  sleep 0.5
  start containerd node containerd --config "$folder/containerd.toml" --log-level warn
  wait_for 30 test -S "$run/containerd.sock"
  start kubelet node "$bin/kubelet" --config="$folder/kubelet.yaml" --kubeconfig="$folder/kubelet.conf" --root-dir="$folder/kubelet" \
    --hostname-override=$node --node-ip=$ip --v=2
  start proxy net "$bin/kube-proxy" --kubeconfig="$folder/proxy.conf" --hostname-override=$node --cluster-cidr=$pods --conntrack-max-per-core=0
}
# The programs of the node and every container end at once, as a machine that loses its power would, and start again.
restart-node() {
  end_node
  "$folder/kubectl" get nodes
  start_node
}

addons() {
  mkdir -p "$folder"/disks/{1,2,3,4}
  sed "s#FOLDER#$folder#" "$here/cluster.yaml" | "$folder/kubectl" apply -f -
  "$folder/kubectl" -n kube-system rollout status deployment/coredns --timeout=90s
  [ -x "$bin/metrics-server" ] || return 0
  start metrics net "$bin/metrics-server" --kubeconfig="$KUBECONFIG" --authentication-kubeconfig="$KUBECONFIG" --authorization-kubeconfig="$KUBECONFIG" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP --secure-port=10443 --cert-dir="$run/metrics-certs"
  "$folder/kubectl" apply -f "$here/metrics.yaml"
}

free-disks() {
  local disk
  for disk in $("$folder/kubectl" get persistentvolumes -o jsonpath='{.items[?(@.status.phase=="Released")].metadata.name}'); do
    find "$folder/disks/${disk#disk-}" -mindepth 1 -delete
    "$folder/kubectl" patch persistentvolume "$disk" --type=json -p '[{"op":"remove","path":"/spec/claimRef"}]'
  done
}

load() {
  # In one go: layers that several images share are sent once.
  docker save "$@" | ctr --address "$run/containerd.sock" --namespace k8s.io images import - | tail -1
}

end_node() {
  local shim name
  for name in kubelet proxy; do end $name; done
  # Each container's shim names the socket of its containerd: ours and no other.
  for shim in $(ps -eo pid=,args= | awk -v socket="$run/containerd.sock" '/containerd-shim/ && index($0, socket) { print $1 }'); do
    ps -o pid= --ppid "$shim" | xargs -r kill -9 2> /dev/null || true
    kill -9 "$shim" 2> /dev/null || true
  done
  for name in containerd mounts; do end $name; done
}
down() {
  local name
  for name in policies metrics; do end $name; done
  end_node
  for name in scheduler controllers apiserver etcd; do end $name; done
  ip netns delete $outside 2> /dev/null || true
  ip netns delete $namespace 2> /dev/null || true
  for name in /run/netns/cni-*; do mountpoint -q "$name" || rm -f "$name"; done
  find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + 2> /dev/null || true
}
end() {
  local pid
  pid=$(cat "$run/$1.pid" 2> /dev/null) || return 0
  kill "$pid" 2> /dev/null || true
  for _ in $(seq 50); do kill -0 "$pid" 2> /dev/null || break; sleep 0.2; done
  kill -9 "$pid" 2> /dev/null || true
  rm -f "$run/$1.pid"
}

case $step in
  build | up | addons | free-disks | restart-node | down) "$step" ;;
  load) load "$@" ;;
  in) inside "$@" ;;
  outside)
    join_outside
    nsenter --net=/run/netns/$outside -- "$@"
    ;;
  *) echo "no such step: $step" >&2; exit 2 ;;
esac
