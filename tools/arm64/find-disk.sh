#!/bin/busybox sh
# The first program of the machine: gets the disk to be readable, and goes on there.
bb=/bin/busybox
$bb mount -t devtmpfs devices /dev
for module in /modules/*; do $bb insmod "$module"; done
until [ -e /dev/vda ]; do $bb sleep 1; done
$bb mount -t ext4 /dev/vda /disk
exec $bb switch_root /disk /bin/sh /srv/run-tests.sh
