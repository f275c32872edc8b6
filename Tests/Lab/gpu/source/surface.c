#include "surface.h"

#include <string.h>

enum {
    TILE_WIDTH = 128, /* of Y tiling: bytes, rows, and the columns of 16 bytes that a tile consists of */
    TILE_HEIGHT = 32,
    TILE_SIZE = TILE_WIDTH * TILE_HEIGHT,
    TILE_COLUMN = 16,
};

/* `count` bytes from column `x` of a row on, which lie in one piece; null where they are not mapped. */
static uint8_t *piece(const struct surface_plane *plane, uint32_t row, size_t x, size_t count)
{
    size_t offset;

    row += plane->first_row;
    offset = (size_t)row * plane->pitch + x;
    if (plane->tiled)
        offset = ((size_t)(row / TILE_HEIGHT) * (plane->pitch / TILE_WIDTH) + x / TILE_WIDTH) * TILE_SIZE +
                 x % TILE_WIDTH / TILE_COLUMN * (TILE_COLUMN * TILE_HEIGHT) + row % TILE_HEIGHT * TILE_COLUMN;
    if (!plane->bytes || offset > plane->available || count > plane->available - offset)
        return NULL;
    return plane->bytes + offset;
}

/* The bytes from column `x` on that lie in one piece, tiled or not. */
static size_t piece_size(size_t x, size_t size)
{
    return size - x < TILE_COLUMN ? size - x : TILE_COLUMN;
}

void surface_read_row(const struct surface_plane *plane, uint32_t row, uint8_t *target, size_t size)
{
    for (size_t x = 0, count; x < size; x += count) {
        const uint8_t *source;

        count = piece_size(x, size);
        source = piece(plane, row, x, count);
        if (source)
            memcpy(target + x, source, count);
        else
            memset(target + x, 0, count);
    }
}

bool surface_write_row(const struct surface_plane *plane, uint32_t row, const uint8_t *source, size_t size)
{
    bool written = true;

    for (size_t x = 0, count; x < size; x += count) {
        uint8_t *target;

        count = piece_size(x, size);
        target = piece(plane, row, x, count);
        if (target)
            memcpy(target, source + x, count);
        written &= target != NULL;
    }
    return written;
}
