// Color conversion with the machine's vector unit: AVX-512 or AVX2 where the processor has it, NEON, or else plain C. All
// of them compute exactly the same.
#ifndef CYUV_COLOR_H
#define CYUV_COLOR_H

#include <stdint.h>

// What a conversion may use. The processor must have it.
enum color_unit {
    COLOR_PLAIN,
    // AVX2 or NEON.
    COLOR_VECTOR,
    // AVX-512 with its byte permutations and dot products (VBMI, VNNI).
    COLOR_WIDEST,
};

// The best that this processor has.
enum color_unit color_best_unit(void);

// What red, green and blue add to a sample, times 2^15, from -32768 to 32639, and what is added to the sum: offset and rounding.
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

// Two rows of luma, which are the same one where there is no second, and one of chroma in planes of their own.
struct color_planes {
    const uint8_t *upper, *lower, *cb, *cr;
};

// From one range and matrix of Y'CbCr to others, with factors times 2^14. Luma depends on all three samples, and chroma on
// chroma alone, because grey stays grey.
struct color_change {
    // Y' - new_black is luma * (Y - black) + cb_to_luma * (Cb - 128) + cr_to_luma * (Cr - 128).
    int16_t luma, cb_to_luma, cr_to_luma;
    uint8_t black, new_black;
    // Cb' - 128 is cb_to_cb * (Cb - 128) + cr_to_cb * (Cr - 128), and Cr' likewise.
    int16_t cb_to_cb, cr_to_cb, cb_to_cr, cr_to_cr;
};

// Changes the colours of two rows. Rows of source and target are the same or do not overlap; two that are the same are
// changed once.
void color_change_rows(const struct color_change *change, struct color_planes source, int width, struct color_target target);

// The same without the vector unit, for tests.
void color_change_rows_plainly(const struct color_change *change, struct color_planes source, int width, struct color_target target);

// Averages pairs of chroma samples over 2x2 pixels, rounding up at one half: of two rows with a pair for each of `width`
// pixels, to half as many. At an odd width the last pixel counts twice.
void color_halve_pairs(const uint8_t *upper, const uint8_t *lower, int width, uint8_t *result);

// The same without the vector unit, for tests.
void color_halve_pairs_plainly(const uint8_t *upper, const uint8_t *lower, int width, uint8_t *result);

// Converts two rows. Chroma is that of each 2x2 block's mean; at an odd width the last column counts twice.
void color_convert_rgb(const struct color_rgb *rgb, enum color_unit unit, struct color_rows rows, int width, struct color_target target);

// Blends a row into samples: each becomes keep/255 of itself, rounded, plus add, which is at most 255 - keep.
void color_blend_row(uint8_t *samples, const uint8_t *keep, const uint8_t *add, int count);

// Sums rows with weights of which there is one for each and which sum to 2^14. The results are 64 times a sample.
void color_scale_rows(const uint8_t *rows, long stride, const int16_t *weights, int taps, int width, int16_t *result);

// Weights for a sample are so many, or a multiple, with zeros at their end.
enum { COLOR_SCALE_TAPS = 4 };

// Sums samples of such a row: for each of `width` results `taps` of them, from its start on, with its own weights, which
// sum to 2^14 and are not negative. Samples of weights that are only zeros at the end are read too.
void color_scale_columns(
    const int16_t *samples, const int32_t *starts, const int16_t *weights, int taps, int width, uint8_t *result);

// Averages squares of 2x2, 3x3 or 4x4 samples, rounding up at one half, to one row of `width` samples: what libyuv calls
// the box filter.
void color_scale_box(const uint8_t *rows, long stride, int ratio, int width, uint8_t *result);

// The same without the vector unit, for tests.
void color_scale_box_plainly(const uint8_t *rows, long stride, int ratio, int width, uint8_t *result);

#endif
