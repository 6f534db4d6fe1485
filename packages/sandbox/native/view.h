/*
 * What the program sees: its own user, mount, network and process namespaces; everything read-only, writable places
 * opened again, secret places masked, a /proc of its own. Runs as pid 1 of the new namespaces, before anything foreign.
 */
#pragma once
#include "launch-description.h"

/* The root of what the program sees, and the same once more, where the kernel follows no link. */
struct roots { int view, straight; };

/* As fork: a child in namespaces of its own. */
pid_t enter_namespaces(void);
/* From inside. NULL, or the step that failed, with errno. First of all, the user and group are again what they were. */
const char *keep_identity(void);
/* The caller is in the view afterwards; others of its namespaces enter it by themselves. 0, or -1 with errno. */
const char *build_view(const struct launch *launch, struct roots *roots);
int enter_view(int view);
