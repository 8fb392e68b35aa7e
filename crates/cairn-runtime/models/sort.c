/* qsort and bsearch, with glibc's sequence of comparisons: a merge sort that splits in the middle, the smaller half
 * first, and takes from the left as long as it is not larger. */
#include "models.h"

typedef int (*cairn_comparison)(const void *, const void *, void *);

struct cairn_sort {
  size_t size;
  cairn_comparison compare;
  void *argument;
  /* Room for all elements. */
  char *room;
};

static void cairn_merge_sort(const struct cairn_sort *sort, char *elements, size_t n) {
  if (n <= 1) return;
  size_t n_left = n / 2, n_right = n - n_left;
  char *left = elements, *right = elements + n_left * sort->size;
  cairn_merge_sort(sort, left, n_left);
  cairn_merge_sort(sort, right, n_right);

  char *to = sort->room;
  while (n_left > 0 && n_right > 0) {
    if (sort->compare(left, right, sort->argument) <= 0) {
      memcpy(to, left, sort->size);
      left += sort->size;
      n_left--;
    } else {
      memcpy(to, right, sort->size);
      right += sort->size;
      n_right--;
    }
    to += sort->size;
  }
  if (n_left > 0) memcpy(to, left, n_left * sort->size);
  memcpy(elements, sort->room, (n - n_right) * sort->size);
}

/* What glibc puts on the stack. */
#define CAIRN_ROOM_ON_STACK 1024
/* glibc sorts in place what is larger than a quarter of the memory, with other comparisons; we leave to it what comes
 * near. */
#define CAIRN_ROOM_AT_MOST (64ul << 20)

void cairn_qsort_r(void *elements, size_t n, size_t size, cairn_comparison compare, void *argument) {
  elements = cairn_settled(elements);
  size_t room;
  if (__builtin_mul_overflow(n, size, &room) || room > CAIRN_ROOM_AT_MOST) {
    qsort_r(elements, n, size, compare, argument);
    return;
  }
  char on_stack[CAIRN_ROOM_ON_STACK];
  struct cairn_sort sort = {size, compare, argument, on_stack};
  if (room >= CAIRN_ROOM_ON_STACK) {
    int error = errno;
    sort.room = malloc(room);
    errno = error;
    if (sort.room == NULL) {
      qsort_r(elements, n, size, compare, argument);
      return;
    }
  }
  cairn_merge_sort(&sort, elements, n);
  if (sort.room != on_stack) free(sort.room);
}

/* The argument is a function without one. */
static int cairn_compare_without(const void *a, const void *b, void *compare) {
  return ((int (*)(const void *, const void *))compare)(a, b);
}

void cairn_qsort(void *elements, size_t n, size_t size, int (*compare)(const void *, const void *)) {
  cairn_qsort_r(elements, n, size, cairn_compare_without, (void *)compare);
}

void *cairn_bsearch(const void *key, const void *elements, size_t n, size_t size,
                    int (*compare)(const void *, const void *)) {
  elements = cairn_settled(elements);
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const char *element = (const char *)elements + middle * size;
    int order = compare(key, element);
    if (order < 0) {
      high = middle;
    } else if (order > 0) {
      low = middle + 1;
    } else {
      return (void *)element;
    }
  }
  return NULL;
}
