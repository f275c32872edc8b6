/* A plane of a surface in a GPU's memory, in rows or in Intel's Y tiles. */
#ifndef SURFACE_H
#define SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct surface_plane {
    uint8_t *bytes;   /* of its first row; null: nothing is mapped there */
    size_t available; /* bytes from there on */
    uint32_t pitch;   /* bytes from a row to the next */
    bool tiled;
    uint32_t first_row; /* of a plane within a tiled surface, where `bytes` is the surface's */
};

/* Copies a row out of the plane; what is not mapped is 0. */
void surface_read_row(const struct surface_plane *plane, uint32_t row, uint8_t *target, size_t size);

/* Copies a row into the plane; false where a part of it is not mapped, and was not written. */
bool surface_write_row(const struct surface_plane *plane, uint32_t row, const uint8_t *source, size_t size);

#endif
