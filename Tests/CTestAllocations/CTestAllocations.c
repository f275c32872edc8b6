#include "CTestAllocations.h"

#include <errno.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

static _Thread_local bool is_counting;
static _Thread_local long count;
static _Thread_local long left;

void allocations_begin(void) {
    count = 0;
    left = 0;
    is_counting = true;
}

long allocations_end(void) {
    is_counting = false;
    return count;
}

long allocations_left(void) { return left; }

#ifdef HAS_SANITIZER

bool allocations_can_be_counted(void) { return false; }

bool allocations_are_balanced(void) { return false; }

#else

bool allocations_can_be_counted(void) {
#ifdef __OPTIMIZE__
    return true;
#else
    return false;
#endif
}

// The GNU C library's own functions, under the names that it exports for this purpose.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

bool allocations_are_balanced(void) { return true; }

static void note(void) {
    if (is_counting) count++, left++;
}

void free(void *memory) {
    if (is_counting && memory) left--;
    __libc_free(memory);
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    note();
    if (is_counting && memory) left--;
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *allocated = memalign(alignment, size);
    if (!allocated) return ENOMEM;
    *memory = allocated;
    return 0;
}

#endif
