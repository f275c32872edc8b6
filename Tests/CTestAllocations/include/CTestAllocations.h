// Counts what a thread allocates, for tests that demand that nothing is.
//
// The functions of malloc's family are replaced for the whole process, Swift's runtime and every library
// included, by ones that count and then do the same.
#ifndef CTESTALLOCATIONS_H
#define CTESTALLOCATIONS_H

#include <stdbool.h>

// Whether counting means anything. A sanitizer replaces the functions by its own; and without optimisation
// generic code of Swift's standard library allocates, whoever calls it.
bool allocations_can_be_counted(void);

// From here on the calling thread's allocations count, from 0.
void allocations_begin(void);

// Ends counting on the calling thread.
// Returns how many there were since allocations_begin.
long allocations_end(void);

#endif
