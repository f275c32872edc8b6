// Encodes JPEG pictures: snapshots, and the test source's pictures, which simulate a camera that sends Motion JPEG.
#ifndef CYUV_JPEG_ENCODER_H
#define CYUV_JPEG_ENCODER_H

#include <stddef.h>
#include <stdint.h>

// Writes an RGB picture, three bytes per pixel, to `out` as baseline JPEG: 4:2:2, like webcams, or 4:2:0 if
// `luma_rows`, the rows of luma to one of chroma, is 2 in place of 1. Returns the number of bytes, or 0 if they do not
// fit into `capacity` or memory runs out.
size_t cyuv_jpeg_encode(
    const uint8_t *rgb, ptrdiff_t stride, int width, int height, int luma_rows, uint8_t *out, size_t capacity);

// A picture in 4:2:0, full range, BT.601, as JPEG files have it (JFIF).
typedef struct {
    // Luma, Cb and Cr. Luma has whole units of 16x16, chroma of 8x8.
    const uint8_t *planes[3];
    ptrdiff_t strides[3];
    // The picture's size without what fills the last units.
    int width, height;
    // 1 to 100.
    int quality;
} cyuv_jpeg_picture;

// Writes a picture to `out` as baseline JPEG. Returns the number of bytes, or 0 if they do not fit into `capacity` or
// memory runs out.
size_t cyuv_jpeg_encode_420(const cyuv_jpeg_picture *picture, uint8_t *out, size_t capacity);

#endif
