// Compresses the test source's pictures, to simulate a camera that sends Motion JPEG.
#ifndef CYUV_JPEG_ENCODER_H
#define CYUV_JPEG_ENCODER_H

#include <stddef.h>
#include <stdint.h>

// Writes an RGB picture, three bytes per pixel, to `out` as baseline 4:2:2 JPEG, like webcams. Returns the
// number of bytes, or 0 if they do not fit into `capacity` or memory runs out.
size_t cyuv_jpeg_encode(const uint8_t *rgb, ptrdiff_t stride, int width, int height, uint8_t *out, size_t capacity);

#endif
