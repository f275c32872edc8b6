/* A JPEG file (ITU-T T.81), rebuilt from an engine's commands. */
#ifndef JPEG_FILE_H
#define JPEG_FILE_H

#include "bits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JPEG_COMPONENTS = 3,
    JPEG_HUFFMAN_TABLES = 2, /* for luma, and for chroma */
    JPEG_LENGTHS = 16,
    JPEG_DC_VALUES = 12,
    JPEG_AC_VALUES = 162,
};

/* Counts of codes by their length, and the values in their order. */
struct jpeg_huffman {
    bool is_known;
    uint8_t dc_counts[JPEG_LENGTHS], dc_values[JPEG_DC_VALUES];
    uint8_t ac_counts[JPEG_LENGTHS], ac_values[JPEG_AC_VALUES];
};

struct jpeg_file {
    uint32_t width, height;
    unsigned components;               /* 1 or 3 */
    uint8_t sampling[JPEG_COMPONENTS]; /* H and V, 4 bits each */
    uint8_t quantisation[JPEG_COMPONENTS][64]; /* in rows */
    struct jpeg_huffman huffman[JPEG_HUFFMAN_TABLES];
};

/* Append to the file: the tables and the frame's header; a scan of the components whose bits are set, with its data as
 * it was coded; the end. */
void jpeg_write_header(struct bit_writer *output, const struct jpeg_file *file);
void jpeg_write_scan(struct bit_writer *output, const struct jpeg_file *file, unsigned components,
                     uint32_t restart_interval, const uint8_t *data, size_t size);
void jpeg_write_end(struct bit_writer *output);

#endif
