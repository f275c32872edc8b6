// Decodes JPEG pictures to Y'CbCr in bands, with libjpeg's calls and the longjmp of its error handling
// kept inside: every function returns a status. One thread at a time may use a decoder.
#ifndef CYUV_JPEG_DECODER_H
#define CYUV_JPEG_DECODER_H

#include <stddef.h>
#include <stdint.h>

typedef struct cyuv_jpeg_decoder cyuv_jpeg_decoder;

typedef enum {
    CYUV_JPEG_OK,
    // The data is damaged, or ends before the last pixel. A missing end marker alone is no damage.
    CYUV_JPEG_CORRUPT,
    // A good JPEG of a kind that is not decoded here.
    CYUV_JPEG_UNSUPPORTED,
    // The picture is smaller than expected, or larger by an MCU or more.
    CYUV_JPEG_OTHER_SIZE,
} cyuv_jpeg_status;

// What the planes of a band look like; all of them hold whole 8x8 blocks.
typedef struct {
    // 3, or 1 for a grey picture.
    int plane_count;
    // Luma rows in a band: 8, 16, 24 or 32.
    int band_rows;
    // Luma samples for one chroma sample, across and down: 1, 2 or 4 each.
    int horizontal_subsampling;
    int vertical_subsampling;
} cyuv_jpeg_layout;

// The largest number of rows in a band, of luma and chroma alike.
enum { CYUV_JPEG_MAXIMUM_BAND_ROWS = 32 };

// NULL where memory is short. The caller destroys it.
cyuv_jpeg_decoder *cyuv_jpeg_create(void);
void cyuv_jpeg_destroy(cyuv_jpeg_decoder *decoder);

// Reads a picture's header. What a picture has beyond `width` and `height` is to be cut off: its bands have more
// columns, less than an MCU, and of those at its end some may be left unread. The bytes must stay valid until its last band is read. A picture that was
// begun before and not read to its end is given up.
cyuv_jpeg_status cyuv_jpeg_begin(
    cyuv_jpeg_decoder *decoder, const uint8_t *bytes, size_t count, int width, int height,
    cyuv_jpeg_layout *layout);

// Decodes the next band. A plane has the layout's rows, each with room for the picture's width and 31 columns more,
// divided by the plane's subsampling and rounded up to whole blocks of 8. After a failure the picture is over.
cyuv_jpeg_status cyuv_jpeg_read_band(
    cyuv_jpeg_decoder *decoder, uint8_t *const planes[3], const size_t strides[3]);

// One line about the last failure.
const char *cyuv_jpeg_message(const cyuv_jpeg_decoder *decoder);

#endif
