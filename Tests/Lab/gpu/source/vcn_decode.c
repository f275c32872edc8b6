#include "vcn_decode.h"

#include "device.h"
#include "engine.h"
#include "h264.h"
#include "h264_decoding.h"
#include "layout.h"
#include "message.h"
#include "report.h"
#include "vcn_decode_packets.h"

#include <stdlib.h>
#include <string.h>

/* A decoder of the driver's, by the number that it has chosen. */
struct vcn_decoder {
    uint32_t handle;
    struct h264_decoding h264;
    struct vcn_decoder *next;
};

/* What a submission asks for: the addresses that it gives, one by one. */
struct task {
    struct file *file;
    uint32_t address[2];
    uint64_t message, bitstream, target; /* 0: not given */
};

/* ---- Sessions */

static struct vcn_decoder *find_decoder(struct file *file, uint32_t handle)
{
    struct vcn_decoder *decoder = file->vcn_decoders;

    while (decoder && decoder->handle != handle)
        decoder = decoder->next;
    if (decoder)
        return decoder;
    decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->handle = handle;
    decoder->next = file->vcn_decoders;
    file->vcn_decoders = decoder;
    report_session_opened(file->device);
    return decoder;
}

static void close_decoder(struct file *file, uint32_t handle)
{
    struct vcn_decoder **link = &file->vcn_decoders, *decoder;

    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    decoder = *link;
    if (!decoder)
        return;
    *link = decoder->next;
    report_session_closed(file->device, decoder->h264.pictures);
    h264_decoding_free(&decoder->h264);
    free(decoder);
}

/* Without a word in the report: the driver has not closed them. */
void vcn_free_decoders(struct file *file)
{
    while (file->vcn_decoders) {
        struct vcn_decoder *decoder = file->vcn_decoders;

        file->vcn_decoders = decoder->next;
        h264_decoding_free(&decoder->h264);
        free(decoder);
    }
}

/* ---- Messages */

/* Copies the part of a message with that id; what it is too short for is 0. False where there is none. */
static bool take_part(const struct task *task, const struct vcn_message_header *header, uint32_t id, void *part,
                      size_t size)
{
    uint64_t indices = task->message + sizeof *header;

    for (uint32_t i = 0; i < header->num_buffers; i++) {
        const struct vcn_message_index *index =
            mapping_bytes(&task->file->handles, indices + i * sizeof *index, sizeof *index);
        const void *bytes;
        size_t available;

        if (!index)
            return false;
        if (index->message_id != id)
            continue;
        available = index->size < size ? index->size : size;
        bytes = mapping_bytes(&task->file->handles, task->message + index->offset, available);
        memset(part, 0, size);
        if (bytes)
            memcpy(part, bytes, available);
        return bytes != NULL;
    }
    return false;
}

static void take_sps(struct h264_parameters *parameters, const struct vcn_message_decode *decode,
                     const struct vcn_message_avc *avc)
{
    uint32_t flags = avc->sps_info_flags;

    parameters->width = (decode->width_in_samples + H264_MACROBLOCK_SIZE - 1) / H264_MACROBLOCK_SIZE;
    parameters->height = (decode->height_in_samples + H264_MACROBLOCK_SIZE - 1) / H264_MACROBLOCK_SIZE;
    parameters->is_monochrome = !avc->chroma_format;
    parameters->direct_8x8_inference = flags & SPS_DIRECT_8X8_INFERENCE;
    parameters->mb_adaptive_frame_field = flags & SPS_MB_ADAPTIVE_FRAME_FIELD;
    parameters->frame_mbs_only = flags & SPS_FRAME_MBS_ONLY;
    parameters->delta_pic_order_always_zero = flags & SPS_DELTA_PIC_ORDER_ALWAYS_ZERO;
    parameters->gaps_in_frame_num_allowed = flags & SPS_GAPS_IN_FRAME_NUM_VALUE_ALLOWED;
    parameters->log2_max_frame_num = avc->log2_max_frame_num_minus4 + 4U;
    parameters->pic_order_cnt_type = avc->pic_order_cnt_type;
    parameters->log2_max_pic_order_cnt_lsb = avc->log2_max_pic_order_cnt_lsb_minus4 + 4U;
    parameters->max_num_ref_frames = avc->num_ref_frames;
}

static void take_pps(struct h264_parameters *parameters, const struct vcn_message_avc *avc)
{
    uint32_t flags = avc->pps_info_flags;

    parameters->entropy_coding_mode = flags & PPS_ENTROPY_CODING_MODE;
    parameters->bottom_field_pic_order_in_frame_present = flags & PPS_BOTTOM_FIELD_PIC_ORDER_IN_FRAME_PRESENT;
    parameters->weighted_pred = flags & PPS_WEIGHTED_PRED;
    parameters->weighted_bipred_idc = flags >> PPS_WEIGHTED_BIPRED_IDC_SHIFT & PPS_WEIGHTED_BIPRED_IDC_MASK;
    parameters->pic_init_qp = avc->pic_init_qp_minus26 + 26;
    parameters->pic_init_qs = avc->pic_init_qs_minus26 + 26;
    parameters->chroma_qp_index_offset[0] = avc->chroma_qp_index_offset;
    parameters->chroma_qp_index_offset[1] = avc->second_chroma_qp_index_offset;
    parameters->deblocking_filter_control_present = flags & PPS_DEBLOCKING_FILTER_CONTROL_PRESENT;
    parameters->constrained_intra_pred = flags & PPS_CONSTRAINED_INTRA_PRED;
    parameters->redundant_pic_cnt_present = flags & PPS_REDUNDANT_PIC_CNT_PRESENT;
    parameters->transform_8x8_mode = flags & PPS_TRANSFORM_8X8_MODE;
    for (size_t list = 0; list < H264_LISTS_4X4; list++)
        memcpy(parameters->scaling_lists[list], avc->scaling_list_4x4[list], sizeof avc->scaling_list_4x4[list]);
    for (size_t list = 0; list < H264_LISTS_8X8; list++)
        memcpy(parameters->scaling_lists[H264_LISTS_4X4 + list], avc->scaling_list_8x8[list],
               sizeof avc->scaling_list_8x8[list]);
}

/* ---- A picture */

static struct surface_plane plane_at(const struct task *task, uint32_t offset, uint32_t pitch)
{
    uint64_t address = task->target + offset;
    size_t available;
    uint8_t *bytes = mapping_rest(&task->file->handles, address, &available);

    return (struct surface_plane){.bytes = bytes, .available = available, .pitch = pitch};
}

/* Mesa 22.3's surfaces for H.264 have their even and odd rows in halves of their own. */
static struct layout_plane layout_plane(const struct task *task, const struct vcn_message_decode *decode,
                                        uint32_t top, uint32_t bottom)
{
    return (struct layout_plane){
        .halves = {plane_at(task, top, decode->dt_pitch), plane_at(task, bottom, decode->dt_pitch)},
        .is_halved = decode->dt_field_mode,
    };
}

static enum picture_result put(const struct task *task, const struct vcn_message_decode *decode,
                               const struct decoded *picture)
{
    struct layout_plane luma =
        layout_plane(task, decode, decode->dt_luma_top_offset, decode->dt_luma_bottom_offset);
    struct layout_plane chroma =
        layout_plane(task, decode, decode->dt_chroma_top_offset, decode->dt_chroma_bottom_offset);

    if (decode->dt_swizzle_mode)
        report_unmodelled(task->file->device, "the target's swizzle mode", decode->dt_swizzle_mode);
    if (layout_nv12(picture, &luma, &chroma, false))
        return PICTURE_CODED;
    message("a picture of %ux%u does not fit into its target", picture->width, picture->height);
    return PICTURE_OVERFLOW;
}

static void add_slices(const struct task *task, struct h264_decoding *h264, uint32_t size,
                       const struct vcn_message_avc *avc)
{
    const uint8_t *bytes = mapping_bytes(&task->file->handles, task->bitstream, size);
    unsigned references[2] = {avc->num_ref_idx_l0_active_minus1 + 1U, avc->num_ref_idx_l1_active_minus1 + 1U};

    if (!bytes) {
        message("the bitstream of %u bytes is not where the driver says", size);
        return;
    }
    for (size_t unit = bits_next_unit(bytes, size, 0), next; unit < size; unit = next) {
        next = bits_next_unit(bytes, size, unit);
        h264_decoding_add(h264, bytes + unit, (next < size ? next - H264_START_CODE_SIZE : size) - unit, references);
    }
}

static void decode(const struct task *task, const struct vcn_message_header *header)
{
    struct device *device = task->file->device;
    struct vcn_decoder *decoder = find_decoder(task->file, header->stream_handle);
    struct vcn_message_decode decode;
    struct vcn_message_avc avc;
    struct decoded picture = {0};
    struct decode_record record = {.codec = DECODER_H264, .result = PICTURE_IMPOSSIBLE};

    if (!decoder || !take_part(task, header, RDECODE_MESSAGE_DECODE, &decode, sizeof decode))
        return;
    if ((decode.stream_type != RDECODE_CODEC_H264 && decode.stream_type != RDECODE_CODEC_H264_PERF) ||
        !take_part(task, header, RDECODE_MESSAGE_AVC, &avc, sizeof avc)) {
        report_undone(device, "decoding of other codecs than H.264 and JPEG");
        return;
    }
    if (!engine_begin_picture(device))
        return;
    take_sps(&decoder->h264.parameters, &decode, &avc);
    take_pps(&decoder->h264.parameters, &avc);
    add_slices(task, &decoder->h264, decode.bsd_size, &avc);
    record.number = decoder->h264.pictures;
    record.bytes = decode.bsd_size;
    if (h264_decoding_finish(&decoder->h264, &picture))
        record.result = put(task, &decode, &picture);
    report_decoded(device, &record, &picture);
    decoded_free(&picture);
}

static void finish(struct task *task)
{
    const struct vcn_message_header *header =
        task->message ? mapping_bytes(&task->file->handles, task->message, sizeof *header) : NULL;

    if (header && header->msg_type == RDECODE_MSG_CREATE)
        find_decoder(task->file, header->stream_handle);
    else if (header && header->msg_type == RDECODE_MSG_DESTROY)
        close_decoder(task->file, header->stream_handle);
    else if (header && header->msg_type == RDECODE_MSG_DECODE)
        decode(task, header);
    task->message = task->bitstream = task->target = 0;
}

/* ---- The ring */

static void take_address(struct task *task, uint32_t command)
{
    uint64_t address = (uint64_t)task->address[1] << 32 | task->address[0];

    switch (command) {
    case RDECODE_CMD_MSG_BUFFER:
        finish(task); /* the one before */
        task->message = address;
        break;
    case RDECODE_CMD_BITSTREAM_BUFFER:
        task->bitstream = address;
        break;
    case RDECODE_CMD_DECODING_TARGET_BUFFER:
        task->target = address;
        break;
    default:
        break; /* the engine's own memory: its reference pictures, tables and contexts */
    }
}

void vcn_decode_execute(struct file *file, const uint32_t *words, size_t count)
{
    struct task task = {.file = file};

    for (size_t position = 0; position + 1 < count; position += 2) {
        uint32_t value = words[position + 1];

        if (words[position] >> RDECODE_PACKET_TYPE_SHIFT == RDECODE_PACKET_NOTHING) {
            position--; /* a single dword */
            continue;
        }
        switch (words[position] & RDECODE_REGISTER_MASK) {
        case RDECODE_VCN2_DATA0:
        case RDECODE_VCN3_DATA0:
            task.address[0] = value;
            break;
        case RDECODE_VCN2_DATA1:
        case RDECODE_VCN3_DATA1:
            task.address[1] = value;
            break;
        case RDECODE_VCN2_CMD:
        case RDECODE_VCN3_CMD:
            take_address(&task, value >> 1);
            break;
        default:
            break;
        }
    }
    finish(&task);
}
