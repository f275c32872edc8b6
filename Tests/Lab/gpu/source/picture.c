#include "picture.h"

enum {
    BLACK_LUMA = 16, /* at 8 bits */
    BLACK_CHROMA = 128,
    P010_SHIFT = 6, /* ten bits in the upper ones of sixteen */
};

static size_t bytes_per_sample(const struct picture *picture)
{
    return picture->bit_depth > 8 ? 2 : 1;
}

static size_t plane_size(uint32_t pitch, uint32_t rows, size_t row_size)
{
    return rows ? (size_t)pitch * (rows - 1) + row_size : 0;
}

size_t picture_luma_size(const struct picture *picture)
{
    return plane_size(picture->luma_pitch, picture->height, picture->width * bytes_per_sample(picture));
}

size_t picture_chroma_size(const struct picture *picture)
{
    return plane_size(picture->chroma_pitch, picture->height / 2, picture->width / 2 * 2 * bytes_per_sample(picture));
}

static uint32_t nearest(uint32_t coordinate, uint32_t size)
{
    if (coordinate < size)
        return coordinate;
    return size ? size - 1 : 0;
}

uint32_t picture_sample(const struct picture *picture, enum picture_component component, uint32_t x, uint32_t y)
{
    const uint8_t *plane = component == LUMA ? picture->luma : picture->chroma;
    size_t index;

    if (!plane)
        return (uint32_t)(component == LUMA ? BLACK_LUMA : BLACK_CHROMA) << (picture->bit_depth - 8);
    if (component == LUMA) {
        plane += (size_t)nearest(y, picture->height) * picture->luma_pitch;
        index = nearest(x, picture->width);
    } else {
        plane += (size_t)nearest(y, picture->height / 2) * picture->chroma_pitch;
        index = 2 * (size_t)nearest(x, picture->width / 2) + (component == CR);
    }
    if (picture->bit_depth == 8)
        return plane[index];
    return (plane[2 * index] | (uint32_t)plane[2 * index + 1] << 8) >> P010_SHIFT;
}
