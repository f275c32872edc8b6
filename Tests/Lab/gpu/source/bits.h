/* Bit strings as the video standards write them: most significant bit first, Exp-Golomb codes, NAL units. */
#ifndef BITS_H
#define BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { START_CODE_SIZE = 3 };

/* A bit string that grows as it is written. `failed`: memory ran out, and what followed is lost. */
struct bit_writer {
    uint8_t *bytes;
    size_t count; /* whole bytes */
    size_t capacity;
    unsigned partial;       /* the bits of the byte that has begun */
    unsigned partial_count; /* 0 where the string ends on a byte */
    bool failed;
};

void bits_clear(struct bit_writer *writer);
void bits_free(struct bit_writer *writer);
void bits_write_byte(struct bit_writer *writer, uint8_t byte);
void bits_write(struct bit_writer *writer, uint32_t value, unsigned count);
void bits_write_flag(struct bit_writer *writer, bool flag);
void bits_write_ue(struct bit_writer *writer, uint32_t value); /* ue(v), H.264 9.1 and H.265 9.2 */
void bits_write_se(struct bit_writer *writer, int32_t value);  /* se(v) */
void bits_align(struct bit_writer *writer, bool flag);         /* to the next byte, with copies of `flag` */

/* Reads zeros beyond the end: no driver's header can lead it outside. */
struct bit_reader {
    const uint8_t *bytes;
    size_t count;
    size_t position; /* in bits */
};

uint32_t bits_read(struct bit_reader *reader, unsigned count);
uint32_t bits_read_ue(struct bit_reader *reader);
int32_t bits_read_se(struct bit_reader *reader);
void bits_skip(struct bit_reader *reader, size_t count);

/* A NAL unit's bytes without emulation_prevention_three_byte (H.264 7.3.1, H.265 7.3.1.1), at most `capacity`. */
size_t bits_unescape(const uint8_t *bytes, size_t count, uint8_t *payload, size_t capacity);

/* Appends a NAL unit: a start code, the header, and the payload with rbsp_trailing_bits and emulation prevention. Frees the
 * payload. */
void bits_append_unit(struct bit_writer *output, const uint8_t *header, size_t header_size, struct bit_writer *payload);

/* The index after the next start code 00 00 01 at or after `from`; `count` where there is none. */
size_t bits_next_unit(const uint8_t *bytes, size_t count, size_t from);

/* A buffer of the driver's that a coded picture goes to. What does not fit is counted as overflow. */
struct coded_output {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    unsigned zeros; /* zero bytes since the last other one, for the emulation prevention */
    bool overflow;
};

void coded_write(struct coded_output *output, uint8_t byte);
void coded_write_start_code(struct coded_output *output);
/* Writes `byte`, after an emulation_prevention_three_byte where one is needed. */
void coded_write_escaped(struct coded_output *output, uint8_t byte);

#endif
