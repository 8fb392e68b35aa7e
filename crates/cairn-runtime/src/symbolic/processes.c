// Threads, children and other programs: what they do is no part of a run.
#include "symbolic.h"
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;

int cairn_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  cairn_symbolic_cut(CUT_THREAD);
  return pthread_create(thread, attributes, start, argument);
}

int cairn_thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
  cairn_symbolic_cut(CUT_THREAD);
  return thrd_create(thread, start, argument);
}

// A thread if it shares memory; otherwise a child, which writes into the same trace until it is told not to.
int cairn_clone(int (*start)(void *), void *stack, int flags, void *argument, ...) {
  cairn_symbolic_cut(CUT_THREAD);
  va_list rest;
  va_start(rest, argument);
  pid_t *parent = va_arg(rest, pid_t *);
  void *storage = va_arg(rest, void *);
  pid_t *child = va_arg(rest, pid_t *);
  va_end(rest);
  return clone(start, stack, flags, argument, parent, storage, child);
}

pid_t cairn_fork(void) {
  pid_t child = fork();
  if (child == 0) cairn_symbolic_stop();
  return child;
}

int cairn_execve(const char *path, char *const argv[], char *const envp[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execve(path, argv, envp);
}

int cairn_execv(const char *path, char *const argv[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execv(path, argv);
}

int cairn_execvp(const char *file, char *const argv[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execvp(file, argv);
}

int cairn_execvpe(const char *file, char *const argv[], char *const envp[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execvpe(file, argv, envp);
}

int cairn_fexecve(int fd, char *const argv[], char *const envp[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return fexecve(fd, argv, envp);
}

// Calls with a list of words, and perhaps an environment behind it, become calls with arrays.
#define EXEC_LIST(name, takes_environment, call)                            \
  int name(const char *path, const char *first, ...) {                      \
    cairn_symbolic_cut(CUT_EXEC);                                           \
    va_list rest;                                                           \
    size_t n = 1;                                                           \
    va_start(rest, first);                                                  \
    for (const char *word = first; word; word = va_arg(rest, char *)) n++;  \
    va_end(rest);                                                           \
    char *argv[n];                                                          \
    va_start(rest, first);                                                  \
    argv[0] = (char *)first;                                                \
    for (size_t i = 1; i < n; i++) argv[i] = va_arg(rest, char *);          \
    char **envp = takes_environment ? va_arg(rest, char **) : environ;      \
    va_end(rest);                                                           \
    return call;                                                            \
  }
EXEC_LIST(cairn_execl, 0, execve(path, argv, envp))
EXEC_LIST(cairn_execle, 1, execve(path, argv, envp))
EXEC_LIST(cairn_execlp, 0, execvpe(path, argv, envp))

// The run goes on beside the other program.
#define SPAWN(name, real)                                                                                     \
  int name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,                         \
           const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) {                     \
    cairn_symbolic_unmodelled(#real);                                                                         \
    int result = real(child, path, actions, attributes, argv, envp);                                          \
    if (result == 0 && child) cairn_symbolic_set(child, 0, sizeof *child);                                    \
    return result;                                                                                            \
  }
SPAWN(cairn_posix_spawn, posix_spawn)
SPAWN(cairn_posix_spawnp, posix_spawnp)
