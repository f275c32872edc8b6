// The bitmaps of text in pictures: of a font that is built in, and of font files through FreeType.
//
// FreeType is loaded with the first font file, because most recordings have none.
#ifndef CGLYPHS_H
#define CGLYPHS_H

#include <stdint.h>

enum { GLYPHS_FIXED_WIDTH = 10, GLYPHS_FIXED_HEIGHT = 20 };

// A printable character of ASCII or Latin-1 in the built-in font: GLYPHS_FIXED_HEIGHT rows, each with its leftmost pixel in
// bit GLYPHS_FIXED_WIDTH - 1. NULL for any other.
const uint16_t *glyphs_fixed(uint32_t character);

// A font file at one size. Used by one thread at a time.
struct glyphs_face;

// One character's coverage, 0 to 255: `rows` rows from `top` rows below the line's upper edge on, beginning `left` columns
// after the pen, which then moves on by `advance`. Valid until the face is used again.
struct glyphs_bitmap {
    const uint8_t *coverage;
    int stride, width, rows, left, top, advance;
};

// Opens a font file with lines of `height` pixels. Returns why that failed, until the thread's next call, or NULL.
const char *glyphs_open(const char *path, int height, struct glyphs_face **face);

// Draws a character. Returns 0, or -1 if the font lacks it.
int glyphs_draw(struct glyphs_face *face, uint32_t character, struct glyphs_bitmap *bitmap);

// Releases the face and its file.
void glyphs_close(struct glyphs_face *face);

#endif
