#!/bin/sh
# Removes from the Debian of an image what no service runs: package tools, Perl, programs for disks and logins, npm, and texts for people.
# dpkg's list of packages stays true, so that scanners find what is left. It runs last: no package can be installed after it.
#   trim-system.sh [PACKAGE…]    more packages that this image does not need
set -eu
# The scripts of packages prepare for a later installation, with the help of packages that go at the same time.
rm -f /var/lib/dpkg/info/*.prerm /var/lib/dpkg/info/*.postrm
dpkg --purge --force-all \
  adduser apt debconf debian-archive-keyring e2fsprogs gpgv init-system-helpers libapt-pkg6.0 libdb5.3 libext2fs2 libpam-modules \
  libpam-modules-bin libpam-runtime libpam0g libsemanage2 libsepol2 login logsave mount ncurses-bin openssl passwd perl-base sysvinit-utils \
  util-linux-extra "$@" > /dev/null 2>&1
rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
  /usr/local/include /usr/local/share/doc /usr/local/share/man /usr/lib/x86_64-linux-gnu/gconv /usr/lib/aarch64-linux-gnu/gconv \
  /usr/share/doc-base /usr/share/info /usr/share/lintian /usr/share/locale /usr/share/man /usr/share/bash-completion \
  /var/lib/apt /var/cache/* /var/log/* /var/lib/dpkg/*-old
# A licence is the text that has to come with a package.
find /usr/share/doc -type f ! -name copyright -delete
find /usr/share/doc -depth -type d -empty -delete
# No process of an image may become another user.
find / -xdev -type f -perm /6000 -exec chmod a-s {} +
node --version
