/* Time as the kernel's waits count it, the one lock of the emulated GPU, and waiting without it. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NEVER UINT64_MAX

enum { NANOSECONDS_PER_MILLISECOND = 1000000 };

/* Everything beneath an ioctl is done with the lock held. */
void lock(void);
void unlock(void);

uint64_t clock_now(void); /* CLOCK_MONOTONIC, in nanoseconds */

/* Waits until `when` or, if that is earlier, `deadline`, with the lock given away meanwhile. True if `when` came. */
bool clock_wait(uint64_t when, uint64_t deadline);

/* `timeout` from now; negative or beyond the end of time: NEVER. */
uint64_t clock_after(int64_t timeout);

#endif
