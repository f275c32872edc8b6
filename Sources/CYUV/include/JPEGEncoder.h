// Compresses the test source's pictures, so that a camera that sends Motion JPEG can be stood in for.
#ifndef CYUV_JPEG_ENCODER_H
#define CYUV_JPEG_ENCODER_H

#include <stddef.h>
#include <stdint.h>

// Writes an RGB picture, three bytes a pixel, as baseline JPEG of 4:2:2, as webcams send it, to `out`.
// Returns the number of bytes, or 0 where they do not fit into `capacity` or memory runs out.
size_t cyuv_jpeg_encode(const uint8_t *rgb, ptrdiff_t stride, int width, int height, uint8_t *out, size_t capacity);

#endif
