// Functions by which something else than the input comes in: labels of what lay there before are dropped.
#include "symbolic.h"
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <poll.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static void written(void *place, size_t length) {
  if (place) cairn_symbolic_set(place, 0, length);
}

// A function that returns how many bytes it wrote.
#define WRITES(name, real, parameters, arguments) \
  ssize_t name parameters {                       \
    ssize_t count = real arguments;               \
    if (count > 0) written(place, count);         \
    return count;                                 \
  }
WRITES(cairn_recv, recv, (int fd, void *place, size_t length, int flags), (fd, place, length, flags))
WRITES(cairn_readlink, readlink, (const char *path, char *place, size_t length), (path, place, length))
WRITES(cairn_readlinkat, readlinkat, (int folder, const char *path, char *place, size_t length), (folder, path, place, length))
WRITES(cairn_getrandom, getrandom, (void *place, size_t length, unsigned flags), (place, length, flags))

ssize_t cairn_recvfrom(int fd, void *place, size_t length, int flags, struct sockaddr *from, socklen_t *size) {
  socklen_t room = size ? *size : 0;
  ssize_t count = recvfrom(fd, place, length, flags, from, size);
  if (count > 0) written(place, count);
  if (count >= 0 && size) {
    written(from, *size < room ? *size : room);
    written(size, sizeof *size);
  }
  return count;
}

ssize_t cairn_recvmsg(int fd, struct msghdr *message, int flags) {
  ssize_t count = recvmsg(fd, message, flags);
  if (count < 0) return count;
  size_t left = count;
  for (size_t i = 0; i < message->msg_iovlen; i++) {
    size_t length = message->msg_iov[i].iov_len;
    length = left < length ? left : length;
    written(message->msg_iov[i].iov_base, length);
    left -= length;
  }
  written(message->msg_name, message->msg_namelen);
  written(message->msg_control, message->msg_controllen);
  written(message, sizeof *message);
  return count;
}

// A function that succeeds with `success` and then has written so much at `place`.
#define WRITES_SIZE(result_type, name, real, parameters, arguments, success, size) \
  result_type name parameters {                                                    \
    result_type result = real arguments;                                           \
    if (success) written(place, size);                                             \
    return result;                                                                 \
  }
WRITES_SIZE(int, cairn_getentropy, getentropy, (void *place, size_t length), (place, length), result == 0, length)
WRITES_SIZE(int, cairn_gethostname, gethostname, (char *place, size_t length), (place, length), result == 0, length)
WRITES_SIZE(int, cairn_uname, uname, (struct utsname *place), (place), result == 0, sizeof *place)
WRITES_SIZE(int, cairn_pipe, pipe, (int place[2]), (place), result == 0, 2 * sizeof(int))
WRITES_SIZE(int, cairn_pipe2, pipe2, (int place[2], int flags), (place, flags), result == 0, 2 * sizeof(int))
WRITES_SIZE(int, cairn_clock_gettime, clock_gettime, (clockid_t clock, struct timespec *place), (clock, place), result == 0, sizeof *place)
WRITES_SIZE(int, cairn_gettimeofday, gettimeofday, (struct timeval *place, void *zone), (place, zone), result == 0, sizeof *place)
WRITES_SIZE(time_t, cairn_time, time, (time_t *place), (place), result != -1, sizeof *place)
WRITES_SIZE(int, cairn_getrusage, getrusage, (int who, struct rusage *place), (who, place), result == 0, sizeof *place)
WRITES_SIZE(int, cairn_getrlimit, getrlimit, (int which, struct rlimit *place), (which, place), result == 0, sizeof *place)
WRITES_SIZE(pid_t, cairn_wait, wait, (int *place), (place), result > 0, sizeof *place)
WRITES_SIZE(pid_t, cairn_waitpid, waitpid, (pid_t child, int *place, int options), (child, place, options), result > 0, sizeof *place)
WRITES_SIZE(int, cairn_tcgetattr, tcgetattr, (int fd, struct termios *place), (fd, place), result == 0, sizeof *place)
WRITES_SIZE(char *, cairn_getcwd, getcwd, (char *place, size_t length), (place, length), result && place, strlen(place) + 1)

int cairn_poll(struct pollfd *places, nfds_t n, int patience) {
  int result = poll(places, n, patience);
  for (nfds_t i = 0; result >= 0 && i < n; i++) written(&places[i].revents, sizeof places[i].revents);
  return result;
}

// How much a request writes is part of its number; of old ones we know the usual.
static size_t size_of_request(unsigned long request) {
  switch (request) {
  case TIOCGWINSZ:
    return sizeof(struct winsize);
  case FIONREAD:
  case TIOCGPGRP:
  case TIOCOUTQ:
    return sizeof(int);
  case TCGETS:
    return 36;
  default:
    return _IOC_DIR(request) & _IOC_READ ? _IOC_SIZE(request) : 0;
  }
}

int cairn_ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *place = va_arg(rest, void *);
  va_end(rest);
  int result = ioctl(fd, request, place);
  size_t size = size_of_request(request);
  if (result >= 0 && size > 0) written(place, size);
  if (size == 0) cairn_symbolic_unmodelled("ioctl");
  return result;
}
