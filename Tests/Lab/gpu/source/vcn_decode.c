#include "vcn_decode.h"

#include "device.h"
#include "engine.h"
#include "h264.h"
#include "h264_decoding.h"
#include "h265_decoding.h"
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
    struct h265_decoding h265;
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

static void free_decoder(struct vcn_decoder *decoder)
{
    h264_decoding_free(&decoder->h264);
    h265_decoding_free(&decoder->h265);
    free(decoder);
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
    report_session_closed(file->device, decoder->h264.pictures + decoder->h265.pictures);
    free_decoder(decoder);
}

/* Without a word in the report: the driver has not closed them. */
void vcn_free_decoders(struct file *file)
{
    while (file->vcn_decoders) {
        struct vcn_decoder *decoder = file->vcn_decoders;

        file->vcn_decoders = decoder->next;
        free_decoder(decoder);
    }
}

/* ---- Messages */

/* Copies the part of a message with that id; what it is too short for is 0. False where there is none. */
static bool take_part(const struct task *task, const struct vcn_message_header *header, uint32_t id, void *part,
                      size_t size)
{
    uint64_t indices = task->message + sizeof *header;

    for (uint32_t i = 0; i < header->num_buffers; i++) {
        struct vcn_message_index index;
        const void *bytes = mapping_bytes(&task->file->handles, indices + i * sizeof index, sizeof index);
        size_t available;

        if (!bytes)
            return false;
        memcpy(&index, bytes, sizeof index); /* the program may change it at any time */
        if (index.message_id != id)
            continue;
        available = index.size < size ? index.size : size;
        bytes = mapping_bytes(&task->file->handles, task->message + index.offset, available);
        memset(part, 0, size);
        if (bytes)
            memcpy(part, bytes, available);
        return bytes != NULL;
    }
    return false;
}

static void take_avc_sps(struct h264_parameters *parameters, const struct vcn_message_decode *decode,
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

static void take_avc_pps(struct h264_parameters *parameters, const struct vcn_message_avc *avc)
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

static void take_hevc_sps(struct h265_sets *sets, const struct vcn_message_decode *decode,
                          const struct vcn_message_hevc *hevc)
{
    uint32_t flags = hevc->sps_info_flags, block = 8U << (hevc->log2_min_luma_coding_block_size_minus3 & 3);

    sets->width = (decode->width_in_samples + block - 1) / block * block;
    sets->height = (decode->height_in_samples + block - 1) / block * block;
    sets->chroma_format_idc = hevc->chroma_format;
    sets->bit_depth_luma_minus8 = hevc->bit_depth_luma_minus8;
    sets->bit_depth_chroma_minus8 = hevc->bit_depth_chroma_minus8;
    sets->log2_max_pic_order_cnt_lsb_minus4 = hevc->log2_max_pic_order_cnt_lsb_minus4;
    sets->max_dec_pic_buffering_minus1 = hevc->sps_max_dec_pic_buffering_minus1;
    sets->log2_min_coding_block_minus3 = hevc->log2_min_luma_coding_block_size_minus3;
    sets->log2_diff_coding_block = hevc->log2_diff_max_min_luma_coding_block_size;
    sets->log2_min_transform_block_minus2 = hevc->log2_min_transform_block_size_minus2;
    sets->log2_diff_transform_block = hevc->log2_diff_max_min_transform_block_size;
    sets->max_transform_hierarchy_depth_inter = hevc->max_transform_hierarchy_depth_inter;
    sets->max_transform_hierarchy_depth_intra = hevc->max_transform_hierarchy_depth_intra;
    sets->amp_enabled = flags & SPS_AMP_ENABLED;
    sets->sample_adaptive_offset_enabled = flags & SPS_SAMPLE_ADAPTIVE_OFFSET_ENABLED;
    sets->pcm_enabled = flags & SPS_PCM_ENABLED;
    sets->pcm_loop_filter_disabled = flags & SPS_PCM_LOOP_FILTER_DISABLED;
    sets->pcm_bit_depth_luma_minus1 = hevc->pcm_sample_bit_depth_luma_minus1;
    sets->pcm_bit_depth_chroma_minus1 = hevc->pcm_sample_bit_depth_chroma_minus1;
    sets->log2_min_pcm_minus3 = hevc->log2_min_pcm_luma_coding_block_size_minus3;
    sets->log2_diff_pcm = hevc->log2_diff_max_min_pcm_luma_coding_block_size;
    sets->long_term_ref_pics_present = flags & SPS_LONG_TERM_REF_PICS_PRESENT;
    sets->temporal_mvp_enabled = flags & SPS_TEMPORAL_MVP_ENABLED;
    sets->strong_intra_smoothing_enabled = flags & SPS_STRONG_INTRA_SMOOTHING_ENABLED;
}

static void take_hevc_pps(struct h265_sets *sets, const struct vcn_message_hevc *hevc)
{
    uint32_t flags = hevc->pps_info_flags;

    sets->dependent_slice_segments_enabled = flags & PPS_DEPENDENT_SLICE_SEGMENTS_ENABLED;
    sets->output_flag_present = flags & PPS_OUTPUT_FLAG_PRESENT;
    sets->num_extra_slice_header_bits = hevc->num_extra_slice_header_bits;
    sets->sign_data_hiding_enabled = flags & PPS_SIGN_DATA_HIDING_ENABLED;
    sets->cabac_init_present = flags & PPS_CABAC_INIT_PRESENT;
    sets->num_ref_idx_default_active_minus1[0] = hevc->num_ref_idx_l0_default_active_minus1;
    sets->num_ref_idx_default_active_minus1[1] = hevc->num_ref_idx_l1_default_active_minus1;
    sets->init_qp_minus26 = hevc->init_qp_minus26;
    sets->constrained_intra_pred = flags & PPS_HEVC_CONSTRAINED_INTRA_PRED;
    sets->transform_skip_enabled = flags & PPS_TRANSFORM_SKIP_ENABLED;
    sets->cu_qp_delta_enabled = flags & PPS_CU_QP_DELTA_ENABLED;
    sets->diff_cu_qp_delta_depth = hevc->diff_cu_qp_delta_depth;
    sets->cb_qp_offset = hevc->pps_cb_qp_offset;
    sets->cr_qp_offset = hevc->pps_cr_qp_offset;
    sets->slice_chroma_qp_offsets_present = flags & PPS_SLICE_CHROMA_QP_OFFSETS_PRESENT;
    sets->weighted_pred = flags & PPS_HEVC_WEIGHTED_PRED;
    sets->weighted_bipred = flags & PPS_WEIGHTED_BIPRED;
    sets->transquant_bypass_enabled = flags & PPS_TRANSQUANT_BYPASS_ENABLED;
    sets->tiles_enabled = flags & PPS_TILES_ENABLED;
    sets->entropy_coding_sync_enabled = flags & PPS_ENTROPY_CODING_SYNC_ENABLED;
    sets->num_tile_columns_minus1 = hevc->num_tile_columns_minus1;
    sets->num_tile_rows_minus1 = hevc->num_tile_rows_minus1;
    sets->uniform_spacing = flags & PPS_UNIFORM_SPACING;
    sets->loop_filter_across_tiles_enabled = flags & PPS_LOOP_FILTER_ACROSS_TILES_ENABLED;
    for (size_t i = 0; i < sizeof hevc->column_width_minus1 / sizeof *hevc->column_width_minus1; i++)
        sets->column_width_minus1[i] = hevc->column_width_minus1[i];
    for (size_t i = 0; i < sizeof hevc->row_height_minus1 / sizeof *hevc->row_height_minus1; i++)
        sets->row_height_minus1[i] = hevc->row_height_minus1[i];
    sets->loop_filter_across_slices_enabled = flags & PPS_LOOP_FILTER_ACROSS_SLICES_ENABLED;
    sets->deblocking_filter_override_enabled = flags & PPS_DEBLOCKING_FILTER_OVERRIDE_ENABLED;
    sets->deblocking_filter_disabled = flags & PPS_DEBLOCKING_FILTER_DISABLED;
    sets->beta_offset_div2 = hevc->pps_beta_offset_div2;
    sets->tc_offset_div2 = hevc->pps_tc_offset_div2;
    sets->lists_modification_present = flags & PPS_LISTS_MODIFICATION_PRESENT;
    sets->slice_header_extension_present = flags & PPS_SLICE_SEGMENT_HEADER_EXTENSION_PRESENT;
    sets->log2_parallel_merge_level_minus2 = hevc->log2_parallel_merge_level_minus2;
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

/* The bitstream; null where there is none. */
static const uint8_t *bitstream(const struct task *task, size_t size)
{
    const uint8_t *bytes = mapping_bytes(&task->file->handles, task->bitstream, size);

    if (!bytes)
        message("the bitstream of %zu bytes is not where the driver says", size);
    return bytes;
}

/* The NAL unit that begins at `unit`: its size, and by `next` where the one after it begins. */
static size_t unit_size(const uint8_t *bytes, size_t size, size_t unit, size_t *next)
{
    *next = bits_next_unit(bytes, size, unit);
    return (*next < size ? *next - START_CODE_SIZE : size) - unit;
}

static bool decode_avc(const struct task *task, struct h264_decoding *h264, const struct vcn_message_decode *decode,
                       const struct vcn_message_avc *avc, struct decoded *picture)
{
    size_t size = decode->bsd_size;
    const uint8_t *bytes = bitstream(task, size);
    unsigned references[2] = {avc->num_ref_idx_l0_active_minus1 + 1U, avc->num_ref_idx_l1_active_minus1 + 1U};

    take_avc_sps(&h264->parameters, decode, avc);
    take_avc_pps(&h264->parameters, avc);
    for (size_t unit = bytes ? bits_next_unit(bytes, size, 0) : size, next; unit < size; unit = next) {
        size_t length = unit_size(bytes, size, unit, &next);

        h264_decoding_add(h264, bytes + unit, length, references);
    }
    return h264_decoding_finish(h264, picture);
}

static bool decode_hevc(const struct task *task, struct h265_decoding *h265, const struct vcn_message_decode *decode,
                        const struct vcn_message_hevc *hevc, struct decoded *picture)
{
    size_t size = decode->bsd_size;
    const uint8_t *bytes = bitstream(task, size);

    if (hevc->sps_info_flags & SPS_SCALING_LIST_ENABLED || hevc->bit_depth_luma_minus8 ||
        hevc->num_short_term_ref_pic_sets || hevc->num_long_term_ref_pic_sps)
        report_undone(task->file->device, "H.265 of 10 bits, with scaling lists or reference sets in the SPS");
    take_hevc_sps(&h265->sets, decode, hevc);
    take_hevc_pps(&h265->sets, hevc);
    for (size_t unit = bytes ? bits_next_unit(bytes, size, 0) : size, next; unit < size; unit = next) {
        size_t length = unit_size(bytes, size, unit, &next);

        h265_decoding_add(h265, bytes + unit, length);
    }
    return h265_decoding_finish(h265, picture);
}

static void decode(const struct task *task, const struct vcn_message_header *header)
{
    struct device *device = task->file->device;
    struct vcn_decoder *decoder = find_decoder(task->file, header->stream_handle);
    struct vcn_message_decode decode;
    struct vcn_message_avc avc;
    struct vcn_message_hevc hevc;
    struct decoded picture = {0};
    struct decode_record record = {.result = PICTURE_IMPOSSIBLE};
    bool is_avc = take_part(task, header, RDECODE_MESSAGE_AVC, &avc, sizeof avc), is_decoded;

    if (!decoder || !take_part(task, header, RDECODE_MESSAGE_DECODE, &decode, sizeof decode))
        return;
    if (!is_avc && !take_part(task, header, RDECODE_MESSAGE_HEVC, &hevc, sizeof hevc)) {
        report_undone(device, "decoding of other codecs than H.264, H.265 and JPEG");
        return;
    }
    if (!engine_begin_picture(device))
        return;
    record.codec = is_avc ? DECODER_H264 : DECODER_H265;
    record.number = is_avc ? decoder->h264.pictures : decoder->h265.pictures;
    record.bytes = decode.bsd_size;
    is_decoded = is_avc ? decode_avc(task, &decoder->h264, &decode, &avc, &picture)
                        : decode_hevc(task, &decoder->h265, &decode, &hevc, &picture);
    if (is_decoded)
        record.result = put(task, &decode, &picture);
    report_decoded(device, &record, &picture);
    decoded_free(&picture);
}

static void finish(struct task *task)
{
    struct vcn_message_header header;
    const void *bytes = task->message ? mapping_bytes(&task->file->handles, task->message, sizeof header) : NULL;

    if (bytes) {
        memcpy(&header, bytes, sizeof header);
        if (header.msg_type == RDECODE_MSG_CREATE)
            find_decoder(task->file, header.stream_handle);
        else if (header.msg_type == RDECODE_MSG_DESTROY)
            close_decoder(task->file, header.stream_handle);
        else if (header.msg_type == RDECODE_MSG_DECODE)
            decode(task, &header);
    }
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
