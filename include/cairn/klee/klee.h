/* KLEE's intrinsics, so that programs written for KLEE build unchanged.
 *
 * Functions that ask for values or state assumptions behave as in cairn.h. Functions that only steer KLEE's search
 * do nothing.
 */
#ifndef CAIRN_KLEE_H
#define CAIRN_KLEE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills length bytes at memory. */
void klee_make_symbolic(void *memory, size_t length, const char *name);
/* From begin up to, not including, end. */
int klee_range(int begin, int end, const char *name);
int klee_int(const char *name);
/* A number below n. */
uintptr_t klee_choose(uintptr_t n);

/* Ends the run unless the condition holds. */
void klee_assume(uintptr_t condition);

void klee_silent_exit(int status) __attribute__((noreturn));
void klee_abort(void) __attribute__((noreturn));
void klee_report_error(const char *file, int line, const char *message, const char *suffix)
    __attribute__((noreturn));

/* Always 0: the run itself is concrete. */
int klee_is_symbolic(uintptr_t value);

float klee_get_valuef(float value);
double klee_get_valued(double value);
long klee_get_valuel(long value);
/* Not in C90. */
__extension__ long long klee_get_valuell(long long value);
int32_t klee_get_value_i32(int32_t value);
int64_t klee_get_value_i64(int64_t value);

void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);
void klee_mark_global(void *object);
void klee_check_memory_access(const void *address, size_t size);
void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_set_forking(unsigned enable);
void klee_alias_function(const char *old_name, const char *new_name);
void klee_open_merge(void);
void klee_close_merge(void);
void klee_stack_trace(void);
void klee_print_range(const char *name, int value);
void klee_print_expr(const char *message, ...);

/* As <assert.h> declares it, which does not when NDEBUG is set. */
#ifndef __THROW
#define __THROW
#endif
void __assert_fail(const char *assertion, const char *file, unsigned int line, const char *function) __THROW
    __attribute__((noreturn));
#define klee_assert(condition) \
  ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))

#ifdef __cplusplus
}
#endif

#endif
