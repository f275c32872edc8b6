#include "layout.h"

#include <stdlib.h>
#include <string.h>

enum { NO_COLOUR = 128 };

static bool put(const struct layout_plane *plane, uint32_t row, const uint8_t *bytes, size_t size)
{
    if (plane->is_halved)
        return surface_write_row(&plane->halves[row % 2], row / 2, bytes, size);
    return surface_write_row(&plane->halves[0], row, bytes, size);
}

/* Cb and Cr in turn: `count` of each. */
static void interleave(const struct decoded *picture, uint32_t row, uint32_t count, uint8_t *pairs)
{
    size_t start = (size_t)row * picture->chroma_width;

    if (picture->planes == 1) {
        memset(pairs, NO_COLOUR, 2 * (size_t)count);
        return;
    }
    for (uint32_t x = 0; x < count; x++) {
        pairs[2 * x] = picture->bytes[1][start + x];
        pairs[2 * x + 1] = picture->bytes[2][start + x];
    }
}

static uint32_t half(uint32_t size)
{
    return size / 2 + size % 2;
}

bool layout_nv12(const struct decoded *picture, const struct layout_plane *luma, const struct layout_plane *chroma,
                 bool halves_chroma)
{
    uint32_t columns = half(picture->width), rows = half(picture->height);
    uint32_t step = halves_chroma && picture->chroma_height == picture->height ? 2 : 1;
    uint8_t *pairs = malloc(2 * (size_t)columns);
    bool fits = pairs != NULL;

    if (picture->planes != 1 &&
        (picture->chroma_width != columns || (picture->chroma_height + step - 1) / step != rows))
        fits = false;
    for (uint32_t y = 0; fits && y < picture->height; y++)
        fits = put(luma, y, picture->bytes[0] + (size_t)y * picture->width, picture->width);
    for (uint32_t y = 0; fits && y < rows; y++) {
        interleave(picture, y * step, columns, pairs);
        fits = put(chroma, y, pairs, 2 * (size_t)columns);
    }
    free(pairs);
    return fits;
}

static void pack(const struct decoded *picture, uint32_t row, bool luma_first, uint8_t *packed)
{
    const uint8_t *luma = picture->bytes[0] + (size_t)row * picture->width;
    size_t chroma = (size_t)row * picture->chroma_width;

    for (uint32_t x = 0; x < picture->chroma_width; x++) {
        uint8_t first = luma[2 * x], second = 2 * x + 1 < picture->width ? luma[2 * x + 1] : first;
        uint8_t cb = picture->bytes[1][chroma + x], cr = picture->bytes[2][chroma + x];
        uint8_t yuyv[] = {first, cb, second, cr}, uyvy[] = {cb, first, cr, second};

        memcpy(packed + 4 * (size_t)x, luma_first ? yuyv : uyvy, sizeof yuyv);
    }
}

bool layout_packed(const struct decoded *picture, const struct surface_plane *plane, bool luma_first)
{
    size_t size = 4 * (size_t)picture->chroma_width;
    bool fits = picture->planes == DECODER_PLANES && picture->chroma_width == half(picture->width) &&
                picture->chroma_height == picture->height;
    uint8_t *packed = fits ? malloc(size) : NULL;

    for (uint32_t y = 0; packed && fits && y < picture->height; y++) {
        pack(picture, y, luma_first, packed);
        fits = surface_write_row(plane, y, packed, size);
    }
    fits = fits && packed;
    free(packed);
    return fits;
}

bool layout_planar(const struct decoded *picture, const struct surface_plane planes[DECODER_PLANES])
{
    for (unsigned plane = 0; plane < picture->planes; plane++) {
        uint32_t width = plane ? picture->chroma_width : picture->width;
        uint32_t height = plane ? picture->chroma_height : picture->height;

        for (uint32_t y = 0; y < height; y++)
            if (!surface_write_row(&planes[plane], y, picture->bytes[plane] + (size_t)y * width, width))
                return false;
    }
    return true;
}
