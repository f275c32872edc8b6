// Colour conversion with the machine's vector unit: AVX2 where the processor has it, NEON, or else plain C. All of them
// compute exactly the same.
#ifndef CCOLOR_H
#define CCOLOR_H

#include <stdint.h>

// What red, green and blue add to a sample, times 2^15, and what is added to the sum: offset and rounding.
struct color_weights {
    int16_t red, green, blue;
    int32_t bias;
};

// Where in a pixel of three or four bytes the red, green and blue bytes are.
struct color_layout {
    int bytes_per_pixel, red, green, blue;
};

struct color_rgb {
    struct color_layout layout;
    struct color_weights luma, cb, cr;
};

// Two rows of RGB, which are the same one where there is no second.
struct color_rows {
    const uint8_t *upper, *lower;
};

// Two rows of luma and one of chroma. Chroma samples are `chroma_step` bytes apart: 1 in planes of their own, 2 where Cb and
// Cr alternate.
struct color_target {
    uint8_t *upper, *lower, *cb, *cr;
    int chroma_step;
};

// Converts two rows. Chroma is that of each 2x2 block's mean; at an odd width the last column counts twice.
void color_convert_rgb(const struct color_rgb *rgb, struct color_rows rows, int width, struct color_target target);

// The same without the vector unit, for tests.
void color_convert_rgb_plainly(const struct color_rgb *rgb, struct color_rows rows, int width, struct color_target target);

#endif
