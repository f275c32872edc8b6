#include "h264_decoding.h"

#include "h264.h"
#include "message.h"

#include <stdlib.h>
#include <string.h>

enum {
    IDR_SLICE = 5, /* nal_unit_type */
    SLICE_B = 1,
    LEAST_LOG2 = 4,
    LARGEST_LOG2 = 16,
    LARGEST_REFERENCES = 16,
    LONGEST_HISTORY = 64 << 20, /* bytes */
};

/* A slice that does not say how many references it has goes by its parameter set, and the driver knows how many those
 * are. */
static void take_references(struct h264_parameters *parameters, const struct h264_slice_header *header,
                            const unsigned references[2])
{
    if (header->has_own_references || header->type == 2)
        return;
    parameters->default_references[0] = references[0];
    if (header->type == SLICE_B)
        parameters->default_references[1] = references[1];
}

void h264_decoding_add(struct h264_decoding *decoding, const uint8_t *unit, size_t size, const unsigned references[2])
{
    struct h264_slice_header header;

    if (!h264_read_slice_header(&decoding->parameters, unit, size, &header) ||
        header.pic_parameter_set_id >= H264_PARAMETER_SET_IDS)
        return;
    take_references(&decoding->parameters, &header, references);
    decoding->is_idr = (unit[0] & 0x1f) == IDR_SLICE;
    decoding->is_reference = unit[0] >> 5 & 3; /* nal_ref_idc */
    decoding->uses[header.pic_parameter_set_id] = true;
    bits_write(&decoding->slices, 1, 8 * START_CODE_SIZE);
    for (size_t i = 0; i < size; i++)
        bits_write_byte(&decoding->slices, unit[i]);
}

void h264_decoding_begin(struct h264_decoding *decoding)
{
    bits_clear(&decoding->slices);
    memset(decoding->uses, 0, sizeof decoding->uses);
}

static bool is_possible(const struct h264_parameters *parameters)
{
    uint32_t largest = DECODER_LARGEST_SIZE / H264_MACROBLOCK_SIZE;

    return parameters->width && parameters->width <= largest && parameters->height && parameters->height <= largest &&
           parameters->log2_max_frame_num >= LEAST_LOG2 && parameters->log2_max_frame_num <= LARGEST_LOG2 &&
           (parameters->pic_order_cnt_type || (parameters->log2_max_pic_order_cnt_lsb >= LEAST_LOG2 &&
                                               parameters->log2_max_pic_order_cnt_lsb <= LARGEST_LOG2)) &&
           parameters->pic_order_cnt_type <= 2 && parameters->max_num_ref_frames <= LARGEST_REFERENCES;
}

/* ---- References */

/* Decodes one access unit of the history again, behind the SPS as it is now. */
static bool send(struct h264_decoding *decoding, const uint8_t *bytes, size_t size, struct decoded *picture)
{
    struct bit_writer unit = {0};
    bool is_decoded;

    h264_write_sps(&unit, &decoding->parameters);
    for (size_t i = 0; i < size; i++)
        bits_write_byte(&unit, bytes[i]);
    is_decoded = !unit.failed &&
                 decoder_decode(&decoding->decoder, DECODER_H264, unit.bytes, unit.count, picture);
    bits_free(&unit);
    return is_decoded;
}

static void forget(struct h264_history *history)
{
    bits_clear(&history->units);
    history->count = 0;
}

static void remember(struct h264_history *history, const struct bit_writer *unit)
{
    if (history->count == history->capacity) {
        size_t capacity = history->capacity ? history->capacity * 2 : 64;
        size_t *ends = realloc(history->ends, capacity * sizeof *ends);

        if (!ends) {
            forget(history);
            return;
        }
        history->ends = ends;
        history->capacity = capacity;
    }
    for (size_t i = 0; i < unit->count; i++)
        bits_write_byte(&history->units, unit->bytes[i]);
    history->ends[history->count++] = history->units.count;
    if (history->units.failed || history->units.count > LONGEST_HISTORY)
        forget(history);
}

static void decode_again(struct h264_decoding *decoding)
{
    const struct h264_history *history = &decoding->history;

    for (size_t i = 0, start = 0; i < history->count; start = history->ends[i++]) {
        struct decoded picture = {0};

        if (send(decoding, history->units.bytes + start, history->ends[i] - start, &picture))
            decoded_free(&picture);
    }
}

/* max_num_ref_frames, before a picture is decoded: at least as many as it has; and where there are no more after a
 * reference picture than before it, so many exactly, because the oldest one has made room (8.2.5.3). */
static void guess_references(struct h264_decoding *decoding)
{
    struct h264_history *history = &decoding->history;
    unsigned now = decoding->reference_frames, *limit = &decoding->parameters.max_num_ref_frames, before = *limit;

    if (decoding->is_idr) {
        forget(history);
        history->most = 0;
    } else if (now <= LARGEST_REFERENCES) {
        if (now > *limit || (now == history->latest && now >= history->most && now && history->is_reference))
            *limit = now;
        if (*limit != before)
            decode_again(decoding);
    }
    history->latest = now;
    history->is_reference = decoding->is_reference;
    if (now <= LARGEST_REFERENCES && now > history->most)
        history->most = now;
}

/* ---- A picture */

bool h264_decoding_finish(struct h264_decoding *decoding, struct decoded *picture)
{
    struct bit_writer unit = {0};
    bool is_decoded = false;

    if (!is_possible(&decoding->parameters)) {
        message("a picture of %ux%u macroblocks with parameters that H.264 does not have is not decoded",
                decoding->parameters.width, decoding->parameters.height);
    } else if (decoding->slices.count) {
        for (uint32_t id = 0; id < H264_PARAMETER_SET_IDS; id++)
            if (decoding->uses[id])
                h264_write_pps(&unit, &decoding->parameters, id);
        for (size_t i = 0; i < decoding->slices.count; i++)
            bits_write_byte(&unit, decoding->slices.bytes[i]);
        unit.failed |= decoding->slices.failed;
        if (decoding->guesses)
            guess_references(decoding);
        is_decoded = !unit.failed && send(decoding, unit.bytes, unit.count, picture);
        if (decoding->guesses)
            remember(&decoding->history, &unit);
    }
    bits_free(&unit);
    h264_decoding_begin(decoding);
    decoding->pictures++;
    return is_decoded;
}

void h264_decoding_free(struct h264_decoding *decoding)
{
    decoder_close(&decoding->decoder);
    bits_free(&decoding->slices);
    bits_free(&decoding->history.units);
    free(decoding->history.ends);
}
