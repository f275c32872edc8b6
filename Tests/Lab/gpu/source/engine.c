#include "engine.h"

#include "buffers.h"

#include <string.h>

bool engine_begin_picture(struct device *device)
{
    (void)device;
    return true;
}

uint64_t engine_finish(struct device *device)
{
    (void)device;
    return 0;
}

void engine_write_at(struct buffer *buffer, uint64_t offset, uint64_t value, uint64_t when)
{
    void *bytes = buffer_bytes(buffer, offset, sizeof value);

    (void)when;
    if (bytes)
        memcpy(bytes, &value, sizeof value);
}
