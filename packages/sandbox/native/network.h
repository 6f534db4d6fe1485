/*
 * The network of the sandbox: only a loopback device, whose rules the host has prepared as netlink messages, and
 * sockets that catch what the program dials, the names it asks for, and datagrams. They are handed to the gateway; the sandbox
 * keeps neither. Trusts the host for what the messages mean.
 */
#ifndef SALLYPORT_NETWORK_H
#define SALLYPORT_NETWORK_H

#include "launch-description.h"

struct catchers {
  int streams;
  int names;
  int datagrams;
};

/* From inside. NULL, or the step that failed, with errno. Without a gateway all are -1. */
const char *build_network(const struct launch *launch, struct catchers *catchers);

#endif
