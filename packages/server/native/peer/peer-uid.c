/*
 * Says who is at the other end of the unix socket that it was started with (descriptor 3), as the kernel noted it when
 * that end connected: user id and process id. Trusts the kernel alone; reads nothing from the connection and writes
 * nothing to it. Ends with 1 and without a word where the kernel does not say.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/socket.h>

enum { CONNECTION = 3 };

int main(void) {
  int domain = -1;
  socklen_t domain_size = sizeof domain;
  struct ucred peer = {.pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1};
  socklen_t peer_size = sizeof peer;
  if (getsockopt(CONNECTION, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) != 0 || domain != AF_UNIX) return 1;
  if (getsockopt(CONNECTION, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0 || peer_size != sizeof peer) return 1;
  // Nobody has connected, or the kernel cannot tell who.
  if (peer.uid == (uid_t)-1) return 1;
  return printf("%lu %ld\n", (unsigned long)peer.uid, (long)peer.pid) > 0 && fflush(stdout) == 0 ? 0 : 1;
}
