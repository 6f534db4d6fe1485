/*
 * What this kernel and this machine can do, tried out and not guessed from a version. Printed as one line of JSON.
 */
#ifndef SALLYPORT_PROBE_H
#define SALLYPORT_PROBE_H

#include "launch-description.h"

/* `launch`: with the network that is to be tried. */
void print_facts(const struct launch *launch);

#endif
