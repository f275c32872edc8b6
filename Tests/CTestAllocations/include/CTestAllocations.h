// Counts a thread's allocations, for tests that require that there are none.
//
// malloc and its relatives are replaced for the whole process, including Swift's runtime and every library, by
// functions that count and then do the same.
#ifndef CTESTALLOCATIONS_H
#define CTESTALLOCATIONS_H

#include <stdbool.h>

// Whether counting is meaningful. A sanitizer replaces the functions by its own, and without optimization, generic code
// in Swift's standard library allocates, regardless of the caller.
bool allocations_can_be_counted(void);

// From here on the calling thread's allocations count, from 0.
void allocations_begin(void);

// Ends counting on the calling thread.
// Returns how many there were since allocations_begin.
long allocations_end(void);

// Whether frees are counted, too. A sanitizer replaces the function by its own.
bool allocations_are_balanced(void);

// How many of the calling thread's allocations since allocations_begin were not freed by it; ask ahead of
// allocations_end. Freeing what was allocated earlier counts against them.
long allocations_left(void);

#endif
