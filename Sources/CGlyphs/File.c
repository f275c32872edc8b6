#include "CGlyphs.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <ft2build.h>
#include FT_FREETYPE_H

struct freetype {
    __typeof__(&FT_Init_FreeType) begin;
    __typeof__(&FT_Done_FreeType) end;
    __typeof__(&FT_New_Face) open;
    __typeof__(&FT_Done_Face) close;
    __typeof__(&FT_Set_Pixel_Sizes) set_size;
    __typeof__(&FT_Get_Char_Index) find;
    __typeof__(&FT_Load_Glyph) load;
};

struct glyphs_face {
    struct freetype freetype;
    FT_Library library;
    FT_Face face;
    // Rows from the line's upper edge to the baseline.
    int ascent;
};

static const char *load(struct freetype *freetype) {
    void *library = dlopen("libfreetype.so.6", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return "FreeType is not installed; install libfreetype6";
#define RESOLVE(member, function) \
    if (!(freetype->member = (__typeof__(freetype->member))dlsym(library, #function))) return "libfreetype.so.6 has no " #function "; install another libfreetype6";
    RESOLVE(begin, FT_Init_FreeType)
    RESOLVE(end, FT_Done_FreeType)
    RESOLVE(open, FT_New_Face)
    RESOLVE(close, FT_Done_Face)
    RESOLVE(set_size, FT_Set_Pixel_Sizes)
    RESOLVE(find, FT_Get_Char_Index)
    RESOLVE(load, FT_Load_Glyph)
#undef RESOLVE
    return NULL;
}

// The size whose lines are as high as wanted, from the heights at a size of as many pixels.
static int fit(struct glyphs_face *face, int height) {
    if (face->freetype.set_size(face->face, 0, (FT_UInt)height)) return -1;
    const FT_Size_Metrics *metrics = &face->face->size->metrics;
    const long line = (metrics->ascender - metrics->descender) / 64;
    if (line > height) {
        const long size = (long)height * height / line;
        if (face->freetype.set_size(face->face, 0, (FT_UInt)(size < 1 ? 1 : size))) return -1;
    }
    const long ascent = metrics->ascender / 64, room = height + metrics->descender / 64;
    face->ascent = (int)(ascent < room ? ascent : room);
    return 0;
}

static const char *open_file(struct glyphs_face *face, const char *path, int height) {
    const char *problem = load(&face->freetype);
    if (problem) return problem;
    if (face->freetype.begin(&face->library)) return "FreeType does not start; close other programs";
    if (face->freetype.open(face->library, path, 0, &face->face)) return "FreeType cannot read it; use another";
    if (fit(face, height)) return "it has no glyphs of that size; use another";
    return NULL;
}

const char *glyphs_open(const char *path, int height, struct glyphs_face **result) {
    struct glyphs_face *face = calloc(1, sizeof *face);
    if (!face) return "out of memory; close other programs";
    const char *problem = open_file(face, path, height);
    if (problem) {
        glyphs_close(face);
        face = NULL;
    }
    *result = face;
    return problem;
}

int glyphs_draw(struct glyphs_face *face, uint32_t character, struct glyphs_bitmap *bitmap) {
    const FT_UInt index = face->freetype.find(face->face, character);
    if (!index || face->freetype.load(face->face, index, FT_LOAD_RENDER | FT_LOAD_TARGET_NORMAL)) return -1;
    const FT_GlyphSlot slot = face->face->glyph;
    // Of the kinds that FreeType draws, only greys and single bits occur without colours.
    if (slot->bitmap.rows && slot->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) return -1;
    *bitmap = (struct glyphs_bitmap){
        .coverage = slot->bitmap.buffer,
        .stride = slot->bitmap.pitch,
        .width = (int)slot->bitmap.width,
        .rows = (int)slot->bitmap.rows,
        .left = slot->bitmap_left,
        .top = face->ascent - slot->bitmap_top,
        .advance = (int)((slot->advance.x + 32) / 64)};
    return 0;
}

void glyphs_close(struct glyphs_face *face) {
    if (face->face) face->freetype.close(face->face);
    if (face->library) face->freetype.end(face->library);
    free(face);
}
