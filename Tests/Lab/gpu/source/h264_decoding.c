#include "h264_decoding.h"

#include "h264.h"
#include "message.h"

#include <string.h>

enum { SLICE_P = 0, SLICE_B = 1, LEAST_LOG2 = 4, LARGEST_LOG2 = 16, LARGEST_REFERENCES = 16 };

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
    decoding->uses[header.pic_parameter_set_id] = true;
    bits_write(&decoding->slices, 1, 8 * START_CODE_SIZE);
    for (size_t i = 0; i < size; i++)
        bits_write_byte(&decoding->slices, unit[i]);
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

bool h264_decoding_finish(struct h264_decoding *decoding, struct decoded *picture)
{
    struct bit_writer unit = {0};
    bool is_decoded = false;

    if (!is_possible(&decoding->parameters)) {
        message("a picture of %ux%u macroblocks with parameters that H.264 does not have is not decoded",
                decoding->parameters.width, decoding->parameters.height);
    } else if (decoding->slices.count) {
        h264_write_sps(&unit, &decoding->parameters);
        for (uint32_t id = 0; id < H264_PARAMETER_SET_IDS; id++)
            if (decoding->uses[id])
                h264_write_pps(&unit, &decoding->parameters, id);
        for (size_t i = 0; i < decoding->slices.count; i++)
            bits_write_byte(&unit, decoding->slices.bytes[i]);
        is_decoded = !unit.failed && !decoding->slices.failed &&
                     decoder_decode(&decoding->decoder, DECODER_H264, unit.bytes, unit.count, picture);
    }
    bits_free(&unit);
    bits_clear(&decoding->slices);
    memset(decoding->uses, 0, sizeof decoding->uses);
    decoding->pictures++;
    return is_decoded;
}

void h264_decoding_free(struct h264_decoding *decoding)
{
    decoder_close(&decoding->decoder);
    bits_free(&decoding->slices);
}
