#include "Color.h"

// The compilers make vector code of it: 16 bits hold each step, and the quotient by 255 is exact.
void color_blend_row(uint8_t *samples, const uint8_t *keep, const uint8_t *add, int count) {
    for (int x = 0; x < count; x++) {
        const uint16_t product = (uint16_t)(samples[x] * keep[x] + 128);
        samples[x] = (uint8_t)(((uint16_t)(product + (product >> 8)) >> 8) + add[x]);
    }
}
