// libv4lconvert as a software converter, without a device.
#ifndef CYUV_VENDOR_CONVERTER_H
#define CYUV_VENDOR_CONVERTER_H

#include <stddef.h>
#include <stdint.h>

typedef struct v4lconvert_data cyuv_vendor_converter;

// NULL if out of memory.
cyuv_vendor_converter *cyuv_vendor_create(void);
void cyuv_vendor_destroy(cyuv_vendor_converter *converter);

// The memory layout of an uncompressed picture; no rows for compressed and unknown formats.
typedef struct {
    int bytes;
    int count;
} cyuv_vendor_rows;

cyuv_vendor_rows cyuv_vendor_find_rows(uint32_t format, int width, int height);

// Converts one picture to YU12 without padding. libv4lconvert checks `count` late or never, and may write into
// `bytes`, so there must be room for a whole picture. Width and height are even. Rows have no padding: some of
// libv4lconvert's converters ignore a stride, and others read past the buffer with one. Returns 0 or -errno;
// EINVAL if the format is unknown or unsafe to convert.
int cyuv_vendor_convert(
    cyuv_vendor_converter *converter, uint32_t format, int width, int height, uint8_t *bytes, size_t count,
    uint8_t *yu12);

// One or more lines about the last failure.
const char *cyuv_vendor_message(cyuv_vendor_converter *converter);

#endif
