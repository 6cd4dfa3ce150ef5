#!/usr/bin/env bash
# Builds the images and runs docker-compose.yml for real on a machine that reaches Debian's archive and npm, but no image registry.
# Needs root, dockerd, the docker client with its compose plugin, debootstrap, and "npm install" done here.
#   lab/deploy/without-registry.sh FOLDER [engine|bases|images|up|journey|restarts|down|engine_down|all]
# FOLDER holds everything, the engine's data included; "down" ends the engine it started and nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mkdir -p "$1" && cd "$1" && pwd)
step=${2:-all}
export DOCKER_HOST="unix://$folder/docker.sock" DOCKER_BUILDKIT=0 DOCKER_CLI_HINTS=false
export NODE_IMAGE=local/node MONGODB_IMAGE=local/mongodb REDIS_IMAGE=local/redis
export OUTBOUND_ALLOW=${OUTBOUND_ALLOW:-172.31.250.0/24}
compose=(docker compose -f docker-compose.yml -f lab/deploy/compose-trial.yml)
export PATH="$PWD/node_modules/.bin:$PATH" # It has Node 24 where the machine has an older one.

engine() {
  docker info > /dev/null 2>&1 && return
  # In a session of its own: Ctrl-C, or the end of the shell that ran this step, would take the engine along. It chooses overlay2 where
  # the file system can have it, else vfs, which copies every layer.
  setsid nohup nice dockerd --host "$DOCKER_HOST" --data-root "$folder/engine" --exec-root "$folder/run" --pidfile "$folder/docker.pid" \
    ${STORAGE_DRIVER:+--storage-driver "$STORAGE_DRIVER"} > "$folder/dockerd.log" 2>&1 < /dev/null &
  for _ in $(seq 60); do docker info > /dev/null 2>&1 && break; sleep 0.5; done
  docker version --format 'engine {{.Server.Version}}, client {{.Client.Version}}'
}

# What a registry would have: Debian with Node and npm, with mongod, with redis-server.
bases() {
  [ -d "$folder/debian" ] || debootstrap --variant=minbase --include=ca-certificates bookworm "$folder/debian" > "$folder/debootstrap.log"
  # The archives and certificates this machine knows.
  cp /etc/apt/sources.list.d/debian.sources "$folder/debian/etc/apt/sources.list.d/" 2> /dev/null || true
  cp /etc/ssl/certs/ca-certificates.crt "$folder/debian/etc/ssl/certs/"
  # A second import would be another image, and everything built on the first would be built again.
  docker image inspect local/debian > /dev/null 2>&1 ||
    tar -C "$folder/debian" --exclude=./var/cache/apt/archives/*.deb --exclude=./var/lib/apt/lists/* -c . | docker import - local/debian > /dev/null

  rm -rf "$folder/node" && mkdir -p "$folder/node/lib" "$folder/mongodb"
  # The program itself: the path may lead to it by a link or a script.
  cp "$(node -p process.execPath)" "$folder/node/node"
  cp -rL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$folder/node/lib/npm"
  docker build -q -t "$NODE_IMAGE" -f - "$folder/node" << 'END'
FROM local/debian
COPY node /usr/local/bin/node
COPY lib/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && mkdir -p /usr/local/etc \
 && echo cafile=/etc/ssl/certs/ca-certificates.crt > /usr/local/etc/npmrc
END
  cp "$(node --input-type=module -e "
    const { findMongodb } = await import('./deploy/backends/mongodb.ts');
    console.log((await findMongodb({ env: process.env })).command)")" "$folder/mongodb/mongod"
  docker build -q -t "$MONGODB_IMAGE" -f - "$folder/mongodb" << 'END'
FROM local/debian
RUN apt-get update && apt-get install -y --no-install-recommends libcurl4 && rm -rf /var/lib/apt/lists/*
COPY mongod /usr/local/bin/mongod
RUN useradd --uid 999 mongodb && install -d -o 999 -g 999 /data/db
USER 999
END
  docker build -q -t "$REDIS_IMAGE" - << 'END'
FROM local/debian
RUN apt-get update && apt-get install -y --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/* && install -d -o redis -g redis /data
WORKDIR /data
USER redis
END
}

images() {
  for service in gateway portal operations scheduler webhooks mail renderer admin; do
    docker build -q -f deploy/docker/Dockerfile --build-arg NODE_IMAGE="$NODE_IMAGE" --target "$service" -t "billhook/$service:local" .
  done
  docker image ls --format '{{.Repository}}:{{.Tag}} {{.Size}}'
}

up() {
  "${compose[@]}" up --no-build --pull never --detach --wait --wait-timeout 180
  "${compose[@]}" ps --all
}

journey() {
  node lab/deploy/compose-journey.ts
}

restarts() {
  npm run -s client
  node lab/deploy/compose-restarts.ts
}

down() {
  "${compose[@]}" down --volumes || true
  engine_down
}

# An engine leaves its bridge and its rules behind when it ends.
engine_down() {
  local pid table chain rule
  pid=$(cat "$folder/docker.pid" 2> /dev/null) || return 0
  kill "$pid"
  for _ in $(seq 100); do kill -0 "$pid" 2> /dev/null || break; sleep 0.2; done
  if pgrep -x dockerd > /dev/null; then return; fi # Another engine has the same ones.
  ip link delete docker0 2> /dev/null || true
  for table in nat filter; do
    iptables -t $table -S | grep -E '^-A .*(docker0|-j DOCKER)' | sed 's/^-A/-D/' | while read -r rule; do
      # shellcheck disable=SC2086
      iptables -t $table $rule
    done
    for chain in $(iptables -t $table -S | sed -n 's/^-N \(DOCKER.*\)/\1/p'); do
      iptables -t $table -F "$chain"
      iptables -t $table -X "$chain"
    done
  done
}

if [ "$step" = all ]; then
  trap down EXIT
  # One line each: in a chain of && a failure inside a function would go unnoticed.
  engine
  bases
  images
  up
  journey
  restarts
else
  "$step"
fi
