#include "Color.h"

// Sums of a block of columns, which stay in registers and the first cache.
enum { BLOCK = 256 };

void color_scale_rows(const uint8_t *rows, long stride, const int16_t *weights, int taps, int width, int16_t *result) {
    int32_t sums[BLOCK];
    for (int start = 0; start < width; start += BLOCK) {
        const int count = width - start < BLOCK ? width - start : BLOCK;
        for (int x = 0; x < count; x++) sums[x] = 128;
        for (int tap = 0; tap < taps; tap++) {
            const uint8_t *row = rows + tap * stride + start;
            const int32_t weight = weights[tap];
            if (weight == 0) continue;
            for (int x = 0; x < count; x++) sums[x] += weight * row[x];
        }
        for (int x = 0; x < count; x++) result[start + x] = (int16_t)(sums[x] >> 8);
    }
}

// A number of taps that the compiler knows becomes vector code.
static inline __attribute__((always_inline)) void scale_columns(
    const int16_t *samples, const int32_t *starts, const int16_t *weights, int taps, int width, uint8_t *result) {
    for (int x = 0; x < width; x++) {
        const int16_t *first = samples + starts[x], *own = weights + (long)x * taps;
        int32_t sum = 0;
        for (int tap = 0; tap < taps; tap++) sum += own[tap] * first[tap];
        result[x] = (uint8_t)((sum + (1 << 19)) >> 20);
    }
}

void color_scale_columns(
    const int16_t *samples, const int32_t *starts, const int16_t *weights, int taps, int width, uint8_t *result) {
    const int padded = (taps + COLOR_SCALE_TAPS - 1) / COLOR_SCALE_TAPS * COLOR_SCALE_TAPS;
    switch (padded) {
        case 4: scale_columns(samples, starts, weights, 4, width, result); break;
        case 8: scale_columns(samples, starts, weights, 8, width, result); break;
        default: scale_columns(samples, starts, weights, padded, width, result); break;
    }
}
