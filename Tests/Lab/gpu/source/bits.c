#include "bits.h"

#include <stdlib.h>

enum {
    INITIAL_CAPACITY = 1 << 16,
    MAXIMUM_GOLOMB_PREFIX = 31,
    EMULATION_PREVENTION_THREE_BYTE = 3,
};

void bits_clear(struct bit_writer *writer)
{
    writer->count = 0;
    writer->partial = writer->partial_count = 0;
    writer->failed = false;
}

void bits_free(struct bit_writer *writer)
{
    free(writer->bytes);
    *writer = (struct bit_writer){0};
}

static bool grow(struct bit_writer *writer)
{
    size_t capacity = writer->capacity ? writer->capacity * 2 : INITIAL_CAPACITY;
    uint8_t *bytes = realloc(writer->bytes, capacity);

    if (!bytes) {
        writer->failed = true;
        return false;
    }
    writer->bytes = bytes;
    writer->capacity = capacity;
    return true;
}

void bits_write_byte(struct bit_writer *writer, uint8_t byte)
{
    if (writer->count == writer->capacity && !grow(writer))
        return;
    writer->bytes[writer->count++] = byte;
}

void bits_write_flag(struct bit_writer *writer, bool flag)
{
    writer->partial = writer->partial << 1 | (flag ? 1U : 0U);
    if (++writer->partial_count < 8)
        return;
    bits_write_byte(writer, (uint8_t)writer->partial);
    writer->partial = writer->partial_count = 0;
}

void bits_write(struct bit_writer *writer, uint32_t value, unsigned count)
{
    while (count--)
        bits_write_flag(writer, value >> count & 1);
}

void bits_write_ue(struct bit_writer *writer, uint32_t value)
{
    unsigned prefix = (unsigned)(MAXIMUM_GOLOMB_PREFIX - __builtin_clz(value + 1));

    bits_write(writer, 0, prefix);
    bits_write(writer, value + 1, prefix + 1);
}

void bits_write_se(struct bit_writer *writer, int32_t value)
{
    bits_write_ue(writer, value > 0 ? 2 * (uint32_t)value - 1 : 2 * (uint32_t)-value);
}

void bits_align(struct bit_writer *writer, bool flag)
{
    while (writer->partial_count)
        bits_write_flag(writer, flag);
}

uint32_t bits_read(struct bit_reader *reader, unsigned count)
{
    uint32_t value = 0;

    for (; count; count--, reader->position++) {
        size_t byte = reader->position / 8;
        unsigned bit = byte < reader->count ? reader->bytes[byte] >> (7 - reader->position % 8) & 1U : 0;

        value = value << 1 | bit;
    }
    return value;
}

uint32_t bits_read_ue(struct bit_reader *reader)
{
    unsigned prefix = 0;

    while (prefix < MAXIMUM_GOLOMB_PREFIX && !bits_read(reader, 1))
        prefix++;
    return (1U << prefix) - 1 + bits_read(reader, prefix);
}

int32_t bits_read_se(struct bit_reader *reader)
{
    uint32_t code = bits_read_ue(reader);

    return code & 1 ? (int32_t)(code / 2) + 1 : -(int32_t)(code / 2);
}

void bits_skip(struct bit_reader *reader, size_t count)
{
    reader->position += count;
}

size_t bits_unescape(const uint8_t *bytes, size_t count, uint8_t *payload, size_t capacity)
{
    size_t written = 0;
    unsigned zeros = 0;

    for (size_t i = 0; i < count && written < capacity; i++) {
        if (zeros >= 2 && bytes[i] == EMULATION_PREVENTION_THREE_BYTE) {
            zeros = 0;
            continue;
        }
        payload[written++] = bytes[i];
        zeros = bytes[i] ? 0 : zeros + 1;
    }
    return written;
}

void bits_append_unit(struct bit_writer *output, const uint8_t *header, size_t header_size, struct bit_writer *payload)
{
    unsigned zeros = 0;

    bits_write_flag(payload, true); /* rbsp_trailing_bits */
    bits_align(payload, false);
    bits_write(output, 1, 8 * START_CODE_SIZE);
    for (size_t i = 0; i < header_size; i++)
        bits_write_byte(output, header[i]);
    for (size_t i = 0; i < payload->count; i++) {
        uint8_t byte = payload->bytes[i];

        if (zeros >= 2 && byte <= EMULATION_PREVENTION_THREE_BYTE) {
            bits_write_byte(output, EMULATION_PREVENTION_THREE_BYTE);
            zeros = 0;
        }
        bits_write_byte(output, byte);
        zeros = byte ? 0 : zeros + 1;
    }
    output->failed |= payload->failed;
    bits_free(payload);
}

size_t bits_next_unit(const uint8_t *bytes, size_t count, size_t from)
{
    for (size_t i = from; i + 3 < count; i++)
        if (!bytes[i] && !bytes[i + 1] && bytes[i + 2] == 1)
            return i + 3;
    return count;
}

void coded_write(struct coded_output *output, uint8_t byte)
{
    if (output->count == output->capacity) {
        output->overflow = true;
        return;
    }
    output->bytes[output->count++] = byte;
    output->zeros = byte ? 0 : output->zeros + 1;
}

void coded_write_start_code(struct coded_output *output)
{
    static const uint8_t start_code[] = {0, 0, 0, 1};

    for (size_t i = 0; i < sizeof start_code; i++)
        coded_write(output, start_code[i]);
}

void coded_write_escaped(struct coded_output *output, uint8_t byte)
{
    if (output->zeros >= 2 && byte <= EMULATION_PREVENTION_THREE_BYTE)
        coded_write(output, EMULATION_PREVENTION_THREE_BYTE);
    coded_write(output, byte);
}
