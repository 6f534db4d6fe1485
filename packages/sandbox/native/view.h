/*
 * What the program sees: its own user, mount, network and process namespaces; everything read-only, writable places
 * opened again, secret places masked, a /proc of its own. Runs as pid 1 of the new namespaces, before anything foreign.
 */
#ifndef SALLYPORT_VIEW_H
#define SALLYPORT_VIEW_H

#include <sys/types.h>

#include "launch-description.h"

/* From outside: maps the own user and group to themselves in the namespace of a child. */
int map_identity(pid_t child);

/* From inside. NULL, or the step that failed, with errno. */
const char *build_view(const struct launch *launch);

#endif
