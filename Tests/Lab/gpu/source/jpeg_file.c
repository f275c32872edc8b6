#include "jpeg_file.h"

#include "zigzag.h"

/* Markers, Table B.1 */
enum { SOF0 = 0xc0, DHT = 0xc4, SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DQT = 0xdb, DRI = 0xdd };

enum { BLOCK = 64, LAST_COEFFICIENT = 63, AC_CLASS = 1 << 4 };

static void write_marker(struct bit_writer *output, unsigned marker)
{
    bits_write_byte(output, 0xff);
    bits_write_byte(output, (uint8_t)marker);
}

/* `size`: of what follows the length. */
static void write_segment(struct bit_writer *output, unsigned marker, size_t size)
{
    write_marker(output, marker);
    bits_write(output, (uint32_t)size + 2, 16);
}

static void write_bytes(struct bit_writer *output, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bits_write_byte(output, bytes[i]);
}

void jpeg_write_header(struct bit_writer *output, const struct jpeg_file *file)
{
    write_marker(output, SOI);
    for (unsigned component = 0; component < file->components; component++) {
        write_segment(output, DQT, 1 + BLOCK);
        bits_write_byte(output, (uint8_t)component);
        for (size_t i = 0; i < BLOCK; i++)
            bits_write_byte(output, file->quantisation[component][zigzag_8x8[i]]);
    }
    write_segment(output, SOF0, 6 + 3 * (size_t)file->components);
    bits_write_byte(output, 8);
    bits_write(output, file->height, 16);
    bits_write(output, file->width, 16);
    bits_write_byte(output, (uint8_t)file->components);
    for (unsigned component = 0; component < file->components; component++) {
        bits_write_byte(output, (uint8_t)(component + 1));
        bits_write_byte(output, file->sampling[component]);
        bits_write_byte(output, (uint8_t)component);
    }
}

/* Of the values only as many as there are codes: what stands behind them is of an earlier table. */
static void write_table(struct bit_writer *output, unsigned kind, const uint8_t *counts, const uint8_t *values,
                        size_t most)
{
    size_t size = 0;

    for (size_t i = 0; i < JPEG_LENGTHS; i++)
        size += counts[i];
    if (size > most)
        size = most;
    write_segment(output, DHT, 1 + JPEG_LENGTHS + size);
    bits_write_byte(output, (uint8_t)kind);
    write_bytes(output, counts, JPEG_LENGTHS);
    write_bytes(output, values, size);
}

static unsigned huffman_table(const struct jpeg_file *file, unsigned component)
{
    return component && file->huffman[1].is_known ? 1 : 0;
}

void jpeg_write_scan(struct bit_writer *output, const struct jpeg_file *file, unsigned components,
                     uint32_t restart_interval, const uint8_t *data, size_t size)
{
    unsigned count = 0;

    for (unsigned component = 0; component < file->components; component++)
        count += components >> component & 1;
    for (unsigned table = 0; table < JPEG_HUFFMAN_TABLES; table++) {
        const struct jpeg_huffman *huffman = &file->huffman[table];

        if (!huffman->is_known)
            continue;
        write_table(output, table, huffman->dc_counts, huffman->dc_values, JPEG_DC_VALUES);
        write_table(output, AC_CLASS | table, huffman->ac_counts, huffman->ac_values, JPEG_AC_VALUES);
    }
    write_segment(output, DRI, 2);
    bits_write(output, restart_interval, 16);
    write_segment(output, SOS, 4 + 2 * (size_t)count);
    bits_write_byte(output, (uint8_t)count);
    for (unsigned component = 0; component < file->components; component++) {
        unsigned table = huffman_table(file, component);

        if (!(components >> component & 1))
            continue;
        bits_write_byte(output, (uint8_t)(component + 1));
        bits_write_byte(output, (uint8_t)(table << 4 | table));
    }
    bits_write_byte(output, 0);
    bits_write_byte(output, LAST_COEFFICIENT);
    bits_write_byte(output, 0);
    write_bytes(output, data, size);
}

void jpeg_write_end(struct bit_writer *output)
{
    write_marker(output, EOI);
}
