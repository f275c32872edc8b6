#include "CColor.h"

// Sums of a block of columns, which stay in registers and the first cache.
enum { BLOCK = 256 };

void color_scale_rows(const uint8_t *rows, long stride, const int16_t *weights, int taps, int width, uint16_t *result) {
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
        for (int x = 0; x < count; x++) result[start + x] = (uint16_t)(sums[x] >> 8);
    }
}

void color_scale_columns(const uint16_t *samples, const int32_t *starts, const int16_t *weights, int taps, int width, uint8_t *result) {
    for (int x = 0; x < width; x++) {
        const uint16_t *first = samples + starts[x];
        const int16_t *own = weights + (long)x * taps;
        int32_t sum = 1 << 19;
        for (int tap = 0; tap < taps; tap++) sum += own[tap] * first[tap];
        result[x] = (uint8_t)(sum >> 20);
    }
}
