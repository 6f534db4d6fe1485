/*
 * What the program is put under before its first instruction: descriptors closed, limits, no capabilities, no new
 * privileges, Landlock, seccomp. Each step returns 0 or the name of what failed is told; nothing is ever skipped.
 */
#pragma once
#include "launch-description.h"

/* Every capability goes, for good: an exec brings none back, not to root either; then those that are there. 0, or -1 with errno. */
int lock_privileges(void);
int drop_privileges(void);
int apply_limits(const struct launch *launch);
/* From the view as it stands: what Landlock will hold the program to, or -1 with errno. */
int make_ruleset(const struct launch *launch);
int apply_landlock(int ruleset);
/* Installs the filter; the listener, or -1. The descriptor closes on exec. */
int apply_filter(const struct launch *launch);
/* The Landlock version of this kernel, 0 where there is none. */
int landlock_version(void);
