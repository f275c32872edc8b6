/* The encode engine of a device as time and faults see it: what it takes, and when it is done. Everything is coded at
 * its submission; what takes time is the fence. With the lock held. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct device;

/* A picture begins: false if the engine does not code it, because it hangs or the device is lost. */
bool engine_begin_picture(struct device *device);

/* What the engine uses of a coded buffer of that size. */
size_t engine_coded_room(const struct device *device, size_t size);

/* Whether a fault makes coded buffers smaller: what does not fit then overflows, and is not coded as skipped. */
bool engine_limits_coded(const struct device *device);

/* The end of a submission: when everything in it is done. */
uint64_t engine_finish(struct device *device);

/* Whether the kernel has given the device up: it takes no submission. */
bool engine_is_lost(struct device *device);

/* The number is written to the buffer when that time has come: by engine_retire, before the program sees it come. */
void engine_write_at(struct device *device, struct buffer *buffer, uint64_t offset, uint64_t value, uint64_t when);
void engine_retire(struct device *device);

#endif
