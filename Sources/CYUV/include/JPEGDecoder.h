// Decodes JPEG pictures to Y'CbCr in bands. libjpeg's calls and the longjmp of its error handling stay inside:
// every function returns a status. Only one thread at a time may use a decoder.
#ifndef CYUV_JPEG_DECODER_H
#define CYUV_JPEG_DECODER_H

#include <stddef.h>
#include <stdint.h>

typedef struct cyuv_jpeg_decoder cyuv_jpeg_decoder;

typedef enum {
    CYUV_JPEG_OK,
    // The data is damaged, or ends before the last pixel. A missing end marker alone does not count.
    CYUV_JPEG_CORRUPT,
    // A valid JPEG of an unsupported kind.
    CYUV_JPEG_UNSUPPORTED,
    // The picture is smaller than expected, or larger by an MCU or more.
    CYUV_JPEG_OTHER_SIZE,
} cyuv_jpeg_status;

// The layout of a band's planes, which all hold whole 8x8 blocks.
typedef struct {
    // 3, or 1 for a grey picture.
    int plane_count;
    // Luma rows per band: 8, 16, 24 or 32.
    int band_rows;
    // Luma samples per chroma sample, horizontally and vertically: 1, 2 or 4 each.
    int horizontal_subsampling;
    int vertical_subsampling;
} cyuv_jpeg_layout;

// The largest number of rows in a band, for luma and chroma alike.
enum { CYUV_JPEG_MAXIMUM_BAND_ROWS = 32 };

// NULL if out of memory. The caller destroys it.
cyuv_jpeg_decoder *cyuv_jpeg_create(void);
void cyuv_jpeg_destroy(cyuv_jpeg_decoder *decoder);

// Reads a picture's header. Anything beyond `width` and `height` must be cut off: bands have up to an MCU more
// columns, and the last ones may be left unread. The bytes must stay valid until the last band is read. A
// picture begun earlier and not read to its end is given up.
cyuv_jpeg_status cyuv_jpeg_begin(
    cyuv_jpeg_decoder *decoder, const uint8_t *bytes, size_t count, int width, int height,
    cyuv_jpeg_layout *layout);

// Decodes the next band into three planes, which follow one another: each has CYUV_JPEG_MAXIMUM_BAND_ROWS rows of
// `stride` bytes. A row needs room for the picture's width plus 31 columns, rounded up to whole blocks of 8. After a
// failure the picture cannot be continued.
cyuv_jpeg_status cyuv_jpeg_read_band(cyuv_jpeg_decoder *decoder, uint8_t *planes, size_t stride);

// One line about the last failure.
const char *cyuv_jpeg_message(const cyuv_jpeg_decoder *decoder);

#endif
