#include "engine.h"

#include "clock.h"
#include "device.h"

#include <stdlib.h>
#include <string.h>

enum { INITIAL_WRITES = 16 };

struct pending_write {
    struct buffer *buffer;
    uint64_t offset, value, when;
};

bool engine_begin_picture(struct device *device)
{
    const struct faults *faults = &device->faults;
    uint64_t picture = device->pictures++;

    if (engine_is_lost(device)) {
        return false;
    }
    if (picture >= faults->lost_from) {
        device->lost = true;
        device->statistics.faults++;
        return false;
    }
    if (picture >= faults->hang_from) {
        if (!device->hung)
            device->hang_end = faults->hang_duration == NEVER ? NEVER : clock_now() + faults->hang_duration;
        device->hung = true;
        device->statistics.faults++;
        return false;
    }
    device->pictures_in_submission++;
    return true;
}

size_t engine_coded_room(const struct device *device, size_t size)
{
    return size < device->faults.coded_limit ? size : (size_t)device->faults.coded_limit;
}

bool engine_limits_coded(const struct device *device)
{
    return device->faults.coded_limit != UINT64_MAX;
}

uint64_t engine_finish(struct device *device)
{
    uint64_t now = clock_now(), start = device->engine_free > now ? device->engine_free : now;
    unsigned pictures = device->pictures_in_submission;

    device->pictures_in_submission = 0;
    device->statistics.submissions++;
    if (device->hung)
        return device->hang_end;
    if (!pictures || !device->faults.picture_time)
        return 0;
    device->statistics.faults += pictures;
    device->engine_free = start + pictures * device->faults.picture_time;
    return device->engine_free;
}

bool engine_is_lost(struct device *device)
{
    if (device->hung && clock_now() >= device->hang_end) {
        device->hung = false;
        device->lost = true; /* the kernel has reset it */
    }
    return device->lost;
}

static void write_now(const struct pending_write *write)
{
    void *bytes = buffer_bytes(write->buffer, write->offset, sizeof write->value);

    if (bytes)
        memcpy(bytes, &write->value, sizeof write->value);
}

static bool grow(struct device *device)
{
    size_t capacity = device->write_capacity ? device->write_capacity * 2 : INITIAL_WRITES;
    struct pending_write *writes = realloc(device->writes, capacity * sizeof *writes);

    if (!writes)
        return false;
    device->writes = writes;
    device->write_capacity = capacity;
    return true;
}

void engine_write_at(struct device *device, struct buffer *buffer, uint64_t offset, uint64_t value, uint64_t when)
{
    struct pending_write write = {buffer, offset, value, when};

    if (!buffer || when == NEVER)
        return;
    if (when <= clock_now()) {
        write_now(&write);
        return;
    }
    if (device->write_count == device->write_capacity && !grow(device))
        return;
    buffer_retain(buffer);
    device->writes[device->write_count++] = write;
}

void engine_retire(struct device *device)
{
    uint64_t now = device->write_count ? clock_now() : 0;

    for (size_t i = 0; i < device->write_count;) {
        struct pending_write write = device->writes[i];

        if (write.when > now) {
            i++;
            continue;
        }
        device->writes[i] = device->writes[--device->write_count];
        write_now(&write);
        buffer_release(write.buffer);
    }
}
