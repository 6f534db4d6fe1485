/* Runs as pid 1, with the capabilities of its own namespaces, before anything foreign. */
#include "kernel-interface.h"
#include "network.h"

enum { NAME_PORT = 53, BACKLOG = 1024 };

/* The loopback device, so that servers of the program's own can be reached by itself. */
static int raise_loopback(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  int result = ioctl(fd, SIOCSIFFLAGS, &request);
  close(fd);
  return result;
}

/* How many of the messages want to be acknowledged; -1 where they are none. */
static int acknowledged(const uint8_t *bytes, size_t size) {
  int count = 0;
  while (size >= sizeof(struct nlmsghdr)) {
    struct nlmsghdr header;
    memcpy(&header, bytes, sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > size || header.nlmsg_len % NLMSG_ALIGNTO != 0) return -1;
    count += (header.nlmsg_flags & NLM_F_ACK) != 0;
    bytes += header.nlmsg_len;
    size -= header.nlmsg_len;
  }
  return size == 0 ? count : -1;
}

/* INVARIANT: every message was taken; the kernel answers before the sending returns, so nothing is waited for. */
static int hear_kernel(int fd, int expected) {
  while (expected > 0) {
    _Alignas(struct nlmsghdr) char buffer[8192];
    ssize_t length = read(fd, buffer, sizeof buffer);
    if (length <= 0) return -1;
    int left = (int)length;
    for (struct nlmsghdr *at = (struct nlmsghdr *)buffer; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
      if (at->nlmsg_type != NLMSG_ERROR) continue;
      errno = -((struct nlmsgerr *)NLMSG_DATA(at))->error;
      if (errno != 0) return -1;
      expected--;
    }
  }
  return 0;
}

static int tell_kernel(const struct kernel_words *words) {
  int expected = acknowledged(words->bytes, words->size);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, (int)words->protocol);
  if (fd < 0) return -1;
  errno = EINVAL;
  int result = expected > 0 && write(fd, words->bytes, words->size) == (ssize_t)words->size ? hear_kernel(fd, expected) : -1;
  close(fd);
  return result;
}

/* One socket for both families; `transparent`: it stands for every address that is dialled. */
static int catch_at(int type, uint16_t port) {
  int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  int on = 1, off = 0;
  struct sockaddr_in6 everywhere = {.sin6_family = AF_INET6, .sin6_port = __builtin_bswap16(port)};
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
      setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on) != 0 ||
      setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof on) != 0 ||
      bind(fd, (struct sockaddr *)&everywhere, sizeof everywhere) != 0 ||
      (type == SOCK_STREAM && listen(fd, BACKLOG) != 0)) {
    close(fd);
    return -1;
  }
  return fd;
}

const char *build_network(const struct launch *launch, int catchers[CATCHERS]) {
  for (int index = 0; index < CATCHERS; index++) catchers[index] = -1;
  if (raise_loopback() != 0) return "loopback";
  for (size_t index = 0; index < launch->word_count; index++)
    if (tell_kernel(&launch->words[index]) != 0) return "network_rules";
  for (int index = 0; index < CATCHERS && launch->catch_port != 0; index++) {
    catchers[index] = catch_at(index == CATCH_STREAMS ? SOCK_STREAM : SOCK_DGRAM, index == CATCH_NAMES ? NAME_PORT : launch->catch_port);
    if (catchers[index] < 0) return "network_sockets";
  }
  return NULL;
}
