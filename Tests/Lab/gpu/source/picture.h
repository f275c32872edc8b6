/* The surface that an engine reads: NV12 (8 bits) or P010 (10 bits in the upper ones of 16), in rows. */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct picture {
    uint32_t width, height;            /* what is to be seen, in samples; the coded size may be larger */
    unsigned bit_depth;                /* 8 or 10 */
    uint32_t luma_pitch, chroma_pitch; /* bytes from a row to the next */
    const uint8_t *luma, *chroma;      /* null where the driver's address is not mapped */
};

enum picture_component { LUMA, CB, CR, COMPONENT_COUNT };

/* The bytes from the first sample's to after the last one's: what must be mapped. */
size_t picture_luma_size(const struct picture *picture);
size_t picture_chroma_size(const struct picture *picture);

/* A sample; outside the picture the nearest one inside, where there is no plane black. */
uint32_t picture_sample(const struct picture *picture, enum picture_component component, uint32_t x, uint32_t y);

#endif
