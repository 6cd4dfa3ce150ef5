#!/usr/bin/env bash
# Builds every image of the overlay "trial" without a registry, in the engine of lab/deploy/without-registry.sh, and loads them into the cluster.
#   lab/cluster/images.sh FOLDER
# In the place of mongo:7.0 and redis:7.4: the mongod that the tests use with mongosh from npm, and Debian's redis-server.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(mkdir -p "$1" && cd "$1" && pwd)
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
export DOCKER_HOST="unix://$folder/engine/docker.sock" DOCKER_BUILDKIT=0 STORAGE_DRIVER=${STORAGE_DRIVER:-overlay2}
for step in engine bases images; do lab/deploy/without-registry.sh "$folder/engine" $step; done

for name in pause coredns; do
  printf 'FROM scratch\nCOPY %s /\nENTRYPOINT ["/%s"]\n' $name $name | docker build -q -t local/$name:1 -f - "$folder/bin"
done
mkdir -p "$folder/mongosh"
npm install --prefix "$folder/mongosh" --no-audit --no-fund --ignore-scripts mongosh@2.12.0
cp "$(PATH="$PWD/node_modules/.bin:$PATH" node -p process.execPath)" "$folder/mongosh/node"
docker build -q -t mongo:7.0 -f - "$folder/mongosh" << 'END'
FROM local/mongodb
USER root
COPY node /usr/local/bin/node
COPY node_modules /opt/mongosh/node_modules
RUN printf '#!/bin/sh\nexec node /opt/mongosh/node_modules/mongosh/bin/mongosh.js "$@"\n' > /usr/local/bin/mongosh \
 && printf '#!/bin/sh\ncase "$1" in -*) set -- mongod "$@" ;; esac\nexec "$@"\n' > /usr/local/bin/docker-entrypoint.sh \
 && chmod +x /usr/local/bin/mongosh /usr/local/bin/docker-entrypoint.sh
USER 999
ENTRYPOINT ["docker-entrypoint.sh"]
END
docker tag local/redis redis:7.4-bookworm
ours=()
for service in gateway portal operations scheduler webhooks mail renderer admin; do
  # The same image by a second name is the version to upgrade to.
  for tag in "$version" next; do
    docker tag "billhook/$service:local" "billhook/$service:$tag"
    ours+=("billhook/$service:$tag")
  done
done
lab/cluster/cluster.sh "$folder" load local/pause:1 local/coredns:1 mongo:7.0 redis:7.4-bookworm "${ours[@]}"
