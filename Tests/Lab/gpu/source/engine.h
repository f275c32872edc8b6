/* The encode engine of a device as time and faults see it: what it takes, and when it is done. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct device;

/* With the lock held. A picture begins: false where the engine does not code it, because it hangs or is lost. */
bool engine_begin_picture(struct device *device);

/* The end of a submission: when everything in it is done. */
uint64_t engine_finish(struct device *device);

/* The number `value` is written to the buffer when that time has come, at the latest before a wait returns. */
void engine_write_at(struct buffer *buffer, uint64_t offset, uint64_t value, uint64_t when);

#endif
