// Creates JPEGs for the tests, and decodes them with libjpeg's ordinary calls.
#ifndef CTESTJPEG_H
#define CTESTJPEG_H

#include <stddef.h>
#include <stdint.h>

struct test_jpeg_options {
    int width, height;
    // 3, or 1 for grey.
    int components;
    // Sampling factors of luma; chroma has 1 and 1.
    int horizontal, vertical;
    // MCU rows from one restart marker to the next; 0 for none.
    int restart_rows;
    int progressive;
    // Leaves the pictures' components as RGB.
    int rgb;
};

// `samples` are Y, Cb, Cr of each pixel in turn, or Y alone. The caller frees the result.
uint8_t *test_jpeg_encode(const uint8_t *samples, struct test_jpeg_options options, size_t *count);

// Y, Cb and Cr of each pixel in turn, with replicated chroma. Returns 0 if libjpeg reported no problem.
long test_jpeg_decode(const uint8_t *bytes, size_t count, uint8_t *samples);

#endif
