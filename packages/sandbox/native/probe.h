/*
 * What this kernel and this machine can do, tried out and not guessed from a version. Printed as one line of JSON.
 */
#ifndef SALLYPORT_PROBE_H
#define SALLYPORT_PROBE_H

void print_facts(void);

#endif
