/*
 * The network of the sandbox: only a loopback device, whose rules the host has prepared as netlink messages, and
 * sockets that catch what the program dials, the names it asks for, and datagrams. They are handed to the gateway; the sandbox
 * keeps neither. Trusts the host for what the messages mean.
 */
#pragma once
#include "launch-description.h"

enum { CATCH_STREAMS, CATCH_NAMES, CATCH_DATAGRAMS, CATCHERS };
/* From inside. NULL, or the step that failed, with errno. Without a gateway all are -1. */
const char *build_network(const struct launch *launch, int catchers[CATCHERS]);
