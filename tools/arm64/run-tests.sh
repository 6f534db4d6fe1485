#!/bin/sh
# The first program on the disk: makes the machine what tests expect of one, runs them, leaves code and report on the second
# disk, and switches the machine off.
export PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 NO_COLOR=1 CI=1
mount -t proc processes /proc
mount -t sysfs system /sys
mount -t devtmpfs devices /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts terminals /dev/pts
mount -t tmpfs memory /dev/shm
mount -t tmpfs memory /run
mount -t cgroup2 groups /sys/fs/cgroup
echo "+memory +pids" > /sys/fs/cgroup/cgroup.subtree_control
ln -sf /proc/self/fd /dev/fd
chmod 1777 /tmp /dev/shm
ip link set lo up
hostname arm64
cd /srv/sallyport || exit 1
set --
while IFS= read -r word; do set -- "$@" "$word"; done < /srv/arguments
uname -srm
node --version
node node_modules/vitest/vitest.mjs run --reporter=verbose --reporter=json --outputFile.json=/run/report "$@"
code=$?
{ echo "$code"; cat /run/report; } > /dev/vdb
sync
busybox poweroff -f
