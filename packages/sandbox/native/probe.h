/*
 * What this kernel and this machine can do, tried out and not guessed from a version. Printed as one line of JSON.
 */
#pragma once
#include "launch-description.h"

/* `launch`: with the network that is to be tried. */
/* Whether they could be printed. */
bool print_facts(const struct launch *launch);
