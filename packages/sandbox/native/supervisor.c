/* The life of one trapped call: read, found, judged, then continued, performed, refused or put to wait. */
#include "kernel-interface.h"
#include "supervisor.h"
#include "broker-channel.h"
#include "perform.h"
#include "threads.h"

/* One seat more than may wait: what is granted is served however many questions are open. */
enum { WAITING_MAX = 128, SEATS = WAITING_MAX + 1, CALLS_OF_THE_IDLE = 200 };
/* Of so many granted calls that destroy, one waits until all before it are on record: what the broker holds is bounded. */
enum { NOTED_MAX = 512 };

struct waiting {
  struct trapped_call call;
  struct place first, second;
  struct parts parts;
};

static const struct launch NOTHING_GRANTED;

static struct {
  const struct launch *launch;
  /* Whose grants need no question: the launch's, and nobody's once the desk is narrow. */
  const struct launch *granting;
  int listener;
  struct roots roots;
  /* The host started the program itself, so its first exec is no question. */
  bool has_started;
  unsigned long next_number, served, noted;
  /* The question of each seat, 0 where the seat is free. WHY apart: the seats are large, and most are never touched. */
  unsigned long numbers[SEATS];
  size_t taken;
  struct waiting waiting[SEATS];
} desk;

/* Whose turn it is: 0 nobody's, 1 somebody's, 2 somebody's and one waits. */
static int turn;

void take_turn(void) {
  int nobody = 0;
  if (__atomic_compare_exchange_n(&turn, &nobody, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(&turn, 2, __ATOMIC_ACQUIRE) != 0) wait_while(&turn, 2);
}

void end_turn(void) {
  if (__atomic_exchange_n(&turn, 0, __ATOMIC_RELEASE) == 2) wake_one(&turn);
}

void open_supervisor(const struct launch *launch, int listener, struct roots roots) {
  desk.launch = desk.granting = launch;
  desk.listener = listener;
  desk.roots = roots;
  desk.next_number = 1;
  /* WHY unchecked: older kernels lack it; then a call only waits longer for the other processor. */
  (void)ioctl(listener, NOTIFICATION_SET_FLAGS, NOTIFICATION_SAME_PROCESSOR);
}

static bool is_alive(uint64_t id) { return ioctl(desk.listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

static void respond(uint64_t id, int result, unsigned flags) {
  struct seccomp_notif_resp response = {.id = id, .error = result < 0 ? result : 0, .val = 0, .flags = flags};
  /* WHY unchecked: it fails only where the program is gone. */
  (void)ioctl(desk.listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void hand_over(const struct trapped_call *call, int fd) {
  unsigned flags = (call->flags & O_CLOEXEC) != 0 ? O_CLOEXEC : 0;
  struct seccomp_notif_addfd words = {.id = call->id, .flags = NOTIFICATION_HAND_OVER, .srcfd = (uint32_t)fd, .newfd_flags = flags};
  if (ioctl(desk.listener, SECCOMP_IOCTL_NOTIF_ADDFD, &words) < 0) respond(call->id, errno == EMFILE ? -EMFILE : -EACCES, 0);
  close(fd);
}

/* Everything was allowed: the act, on places that are still what they were. */
static void act(const struct trapped_call *call, struct place *first, struct place *second) {
  if (call->kind == CALL_EXECUTE) {
    respond(call->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
    return;
  }
  int failed = reach_place(first);
  if (failed == 0 && call->second.is_used) failed = reach_place(second);
  if (failed != 0) {
    respond(call->id, -failed, 0);
    return;
  }
  int result = perform(call, first, second);
  forget_straight();
  if (call->kind == CALL_OPEN && result >= 0) hand_over(call, result);
  else respond(call->id, result, 0);
}

static bool is_granted(const struct parts *parts) {
  for (const struct part *part = parts->list; part < parts->list + parts->count; part++)
    if (granted(desk.granting, part->place->real, part->operation) == 0) return false;
  return true;
}

/* INVARIANT: an open that truncates and does not write never goes on by itself: reads have Landlock's right to truncate too. */
static bool truncates_unwritten(int flags) {
  return (flags & O_TRUNC) != 0 && (flags & O_ACCMODE) != O_WRONLY && (flags & O_ACCMODE) != O_RDWR;
}

/* Whether the kernel would decide this open just so: then it may, on whatever object it finds. */
static bool may_continue(const struct trapped_call *call, const struct parts *parts) {
  if (call->kind != CALL_OPEN || truncates_unwritten(call->flags)) return false;
  for (size_t index = 0; index < parts->count; index++) {
    const struct part *part = &parts->list[index];
    /* WHY: for the kernel, making a file is writing it too; where only making is granted it is done on behalf. */
    unsigned needed = part->operation == OPERATION_CREATE ? OPERATION_CREATE | OPERATION_MODIFY : part->operation;
    if (landlocked(desk.granting, part->place->real, needed) != needed) return false;
  }
  return true;
}

/*
 * The same for the common case, in few steps: a read, and a text that is a real path by itself. What Landlock holds there
 * the kernel may decide; whoever changes the text or puts a link there meanwhile meets Landlock too.
 * INVARIANT: nothing else is answered from text alone: what may destroy is on record first.
 */
static bool may_continue_at_once(struct waiting *seat) {
  const struct trapped_call *call = &seat->call;
  char *text = seat->first.real;
  if (call->kind == CALL_OPEN && (call->flags & O_PATH) != 0) return true;
  if (call->kind != CALL_OPEN || (call->flags & O_ACCMODE) != O_RDONLY) return false;
  if ((call->flags & (O_CREAT | O_TRUNC)) != 0 || (call->flags & O_TMPFILE) == O_TMPFILE) return false;
  if (absolute_text(call->pid, &call->first, text) != 0 || !is_plain_path(text)) return false;
  return landlocked(desk.granting, text, OPERATION_READ) == OPERATION_READ && leads_straight(desk.roots.straight, text);
}

/* A program is opened by the kernel itself, under Landlock: where it may not be read, an approval could not help. */
static bool can_be_asked(const struct trapped_call *call, const struct place *place) {
  unsigned needed = OPERATION_READ | OPERATION_EXECUTE;
  return call->kind != CALL_EXECUTE || landlocked(desk.launch, place->real, needed) != 0;
}

/* INVARIANT: one is always free, since at most WAITING_MAX wait. */
static struct waiting *free_seat(void) {
  size_t index = 0;
  while (desk.numbers[index] != 0) index++;
  return &desk.waiting[index];
}

static void release(struct waiting *seat) {
  leave_place(&seat->first);
  leave_place(&seat->second);
  unsigned long *number = &desk.numbers[seat - desk.waiting];
  desk.taken -= *number != 0;
  *number = 0;
}

static void judge(struct waiting *seat) {
  struct trapped_call *call = &seat->call;
  int failed = parts_of(desk.granting, call, &seat->first, &seat->second, &seat->parts);
  bool is_given = failed == 0 && is_granted(&seat->parts), is_noted = is_given && seat->parts.destroys;
  bool waits = is_noted && ++desk.noted % NOTED_MAX == 0 && desk.taken < WAITING_MAX && is_utf8(call->first.text);
  if (failed != 0) {
    respond(call->id, -failed, 0);
  } else if (!is_alive(call->id)) {
    /* INVARIANT: what was read belongs to this call; a number of a process that ended may be another's by now. */
  } else if (is_given && !waits) {
    /* INVARIANT: what destroys leaves this process before it is done. */
    if (is_noted && !tell_parts("granted", 0, call, &seat->parts, desk.granting)) respond(call->id, -EACCES, 0);
    else if (may_continue(call, &seat->parts)) respond(call->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
    else act(call, &seat->first, &seat->second);
  } else if (!waits && (desk.taken >= WAITING_MAX || !can_be_asked(call, &seat->first))) {
    (void)tell_parts("violation", 0, call, &seat->parts, desk.granting);
    respond(call->id, -EACCES, 0);
  } else {
    desk.taken++;
    unsigned long number = desk.numbers[seat - desk.waiting] = desk.next_number++;
    if (tell_parts("ask", number, call, &seat->parts, desk.granting)) return;
    respond(call->id, -EACCES, 0);
  }
  release(seat);
}

/* What leads through the program's own entries in /proc: an open is left to Landlock, the rest is refused. */
static int settle_itself(const struct trapped_call *call) {
  bool is_own_program = call->kind == CALL_EXECUTE && strcmp(call->first.text, "/proc/self/exe") == 0;
  bool is_safe = call->kind == CALL_OPEN && (call->mode & (S_ISUID | S_ISGID)) == 0 && !truncates_unwritten(call->flags);
  return (is_safe || is_own_program) && desk.granting == desk.launch ? 0 : EACCES;
}

static void serve(const struct seccomp_notif *notice, struct waiting *seat) {
  struct trapped_call *call = &seat->call;
  seat->first.held = seat->first.folder = seat->first.object = seat->second.held = seat->second.folder = seat->second.object = -1;
  bool is_start = !desk.has_started && notice->data.nr == __NR_execve;
  int failed = is_start ? 0 : read_call(notice, call);
  desk.has_started |= is_start;
  if (is_start || (failed == 0 && may_continue_at_once(seat))) {
    /* WHY not asked whether the call still waits: if it does, what was read is its own; if not, nobody hears this. */
    respond(notice->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
    return;
  }
  if (failed == 0) failed = find_place(desk.roots.view, call->pid, &call->first, &seat->first);
  if (failed == 0 && call->second.is_used) failed = find_place(desk.roots.view, call->pid, &call->second, &seat->second);
  if (failed == 0) {
    judge(seat);
    return;
  }
  bool goes_on = failed == LEADS_TO_ITSELF && settle_itself(call) == 0;
  if (goes_on) respond(notice->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
  else respond(notice->id, failed == LEADS_TO_ITSELF ? -EACCES : -failed, 0);
  release(seat);
}

static bool receive(struct seccomp_notif *notice) {
  memset(notice, 0, sizeof *notice);
  return ioctl(desk.listener, SECCOMP_IOCTL_NOTIF_RECV, notice) == 0;
}

/* The thread of a busy program: it waits in the one call that also brings the next notification. */
static void serve_calls(void *nothing) {
  (void)nothing;
  struct seccomp_notif notice;
  for (;;) {
    if (receive(&notice)) {
      take_turn();
      serve(&notice, free_seat());
      end_turn();
      continue;
    }
    /* The caller was gone before it was heard, or all are. */
    struct pollfd polled = {.fd = desk.listener, .events = POLLIN};
    if ((errno != EINTR && errno != ENOENT) || (ppoll(&polled, 1, &(struct timespec){0}, NULL) == 1 && (polled.revents & POLLIN) == 0)) return;
  }
}

bool serve_notice(void) {
  struct seccomp_notif notice;
  static struct thread thread;
  if (receive(&notice)) serve(&notice, free_seat());
  return ++desk.served < CALLS_OF_THE_IDLE || start_within(&thread, KIND_THREAD, serve_calls, NULL) < 0;
}

void take_answer(struct answer answer) {
  if (answer.kind == ANSWER_NARROW) {
    desk.granting = &NOTHING_GRANTED;
    tell_narrowed();
    return;
  }
  if (answer.kind == ANSWER_TAKEN) return;
  for (size_t index = 0; index < SEATS; index++) {
    struct waiting *seat = &desk.waiting[index];
    if (desk.numbers[index] == 0 || desk.numbers[index] != answer.id) continue;
    if (!is_alive(seat->call.id)) /* nobody waits for it */;
    else if (answer.kind == ANSWER_ALLOW) act(&seat->call, &seat->first, &seat->second);
    else respond(seat->call.id, -EACCES, 0);
    release(seat);
    return;
  }
}

void check_waiting(void) {
  for (size_t index = 0; index < SEATS && desk.taken > 0; index++) {
    if (desk.numbers[index] == 0 || is_alive(desk.waiting[index].call.id)) continue;
    tell_cancelled(desk.numbers[index]);
    release(&desk.waiting[index]);
  }
}
