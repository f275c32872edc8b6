#include "vcn.h"

#include "device.h"
#include "engine.h"
#include "h264.h"
#include "h265.h"
#include "message.h"
#include "report.h"
#include "settings.h"
#include "vcn_packets.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER_QP = 26, /* what drivers write into the PPS of H.264, and what slice_qp_delta is left at */
    LARGEST_SIZE = 8192,
    HEADER_BITS = 32 * RENCODE_SLICE_HEADER_TEMPLATE_MAX_TEMPLATE_SIZE_IN_DWORDS,
};

/* An encoder of the driver's: the engine knows it by the address of its software context. */
struct vcn_session {
    uint64_t context;
    struct vcn_session_init init;
    struct vcn_rate_control_session rate_control;
    struct vcn_rate_control_layer layer;
    struct vcn_rate_control_picture picture_control;
    struct vcn_h264_slice_control slices;
    struct vcn_h264_misc h264;
    struct vcn_hevc_misc hevc;
    struct vcn_hevc_loop_filter loop_filter;
    struct h265_parameters parameters;
    unsigned pictures;
    struct vcn_session *next;
};

/* What a submission asks for, up to its RENCODE_IB_OP_ENCODE. */
struct task {
    struct file *file;
    struct vcn_session *session;
    struct bit_writer units[VCN_NALU_TYPE_COUNT]; /* the driver's NAL units, by vcn_nalu_type */
    struct vcn_slice_header header;
    bool has_header;
    struct vcn_input_format format;
    struct vcn_encode_params parameters;
    struct vcn_bitstream_buffer bitstream;
    struct vcn_feedback_buffer feedback;
    struct picture_record record;
};

struct packet {
    uint32_t command;
    const uint32_t *words;
    size_t count;
};

static uint64_t join(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Copies a packet's fields; what it is too short for is 0. */
static void take(const struct packet *packet, void *fields, size_t size)
{
    size_t available = packet->count * sizeof *packet->words;

    memset(fields, 0, size);
    memcpy(fields, packet->words, available < size ? available : size);
}

#define TAKE(packet, field) take((packet), &(field), sizeof(field))

/* ---- Sessions */

static struct vcn_session *find_session(struct file *file, uint64_t context)
{
    struct vcn_session *session = file->vcn_sessions;

    while (session && session->context != context)
        session = session->next;
    if (session)
        return session;
    session = calloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->context = context;
    session->next = file->vcn_sessions;
    file->vcn_sessions = session;
    return session;
}

static void close_session(struct file *file, struct vcn_session *session)
{
    struct vcn_session **link = &file->vcn_sessions;

    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    free(session);
}

void vcn_free_sessions(struct file *file)
{
    while (file->vcn_sessions)
        close_session(file, file->vcn_sessions);
}

/* ---- A picture */

static bool is_h264(const struct task *task)
{
    return task->session->init.standard == RENCODE_ENCODE_STANDARD_H264;
}

static bool is_predictive(const struct task *task)
{
    return task->parameters.picture_type != RENCODE_PICTURE_TYPE_I;
}

static uint32_t less(uint32_t size, uint32_t padding)
{
    return padding < size ? size - padding : 0;
}

static struct picture input_picture(const struct task *task)
{
    const struct vcn_encode_params *parameters = &task->parameters;
    const struct handle_table *handles = &task->file->handles;
    bool ten_bits = task->format.color_bit_depth == RENCODE_COLOR_BIT_DEPTH_10_BIT;
    struct picture picture = {
        .width = less(task->session->init.aligned_width, task->session->init.padding_width),
        .height = less(task->session->init.aligned_height, task->session->init.padding_height),
        .bit_depth = ten_bits ? 10 : 8,
        .luma_pitch = parameters->luma_pitch << ten_bits,
        .chroma_pitch = parameters->chroma_pitch << 1 << ten_bits,
    };

    picture.luma =
        mapping_bytes(handles, join(parameters->luma_high, parameters->luma_low), picture_luma_size(&picture));
    picture.chroma =
        mapping_bytes(handles, join(parameters->chroma_high, parameters->chroma_low), picture_chroma_size(&picture));
    if (!picture.luma || !picture.chroma)
        message("the input picture of %ux%u is not where the driver says: it is coded as black", picture.width,
                picture.height);
    if (parameters->swizzle_mode != RENCODE_INPUT_SWIZZLE_MODE_LINEAR)
        report_unmodelled(task->file->device, "the input swizzle mode", parameters->swizzle_mode);
    return picture;
}

/* The part of the slice header that the driver has written, with what the engine fills in. */
static void write_header(const struct task *task, struct bit_writer *output, uint32_t first)
{
    const struct vcn_slice_header *header = &task->header;
    size_t position = 0; /* each copy begins at a dword */

    for (size_t i = 0; i < RENCODE_SLICE_HEADER_TEMPLATE_MAX_NUM_INSTRUCTIONS; i++) {
        uint32_t count = header->instructions[i].bit_count;

        switch (header->instructions[i].instruction) {
        case RENCODE_HEADER_INSTRUCTION_END:
            return;
        case RENCODE_HEADER_INSTRUCTION_COPY:
            for (uint32_t bit = 0; bit < count && position + bit < HEADER_BITS; bit++)
                bits_write_flag(output, header->bits[(position + bit) / 32] >> (31 - (position + bit) % 32) & 1);
            position += (count + 31) / 32 * 32;
            break;
        case RENCODE_H264_HEADER_INSTRUCTION_FIRST_MB:
            bits_write_ue(output, first);
            break;
        case RENCODE_H264_HEADER_INSTRUCTION_SLICE_QP_DELTA:
        case RENCODE_HEVC_HEADER_INSTRUCTION_SLICE_QP_DELTA:
            bits_write_se(output, 0);
            break;
        case RENCODE_HEVC_HEADER_INSTRUCTION_FIRST_SLICE:
            bits_write_flag(output, first == 0);
            break;
        case RENCODE_HEVC_HEADER_INSTRUCTION_DEPENDENT_SLICE_END:
        case RENCODE_HEVC_HEADER_INSTRUCTION_SLICE_SEGMENT:
            break; /* a slice is a whole picture */
        case RENCODE_HEVC_HEADER_INSTRUCTION_SAO_ENABLE:
            bits_write(output, 0, 2);
            break;
        case RENCODE_HEVC_HEADER_INSTRUCTION_LOOP_FILTER_ACROSS_SLICES_ENABLE:
            if (!task->session->loop_filter.deblocking_filter_disabled)
                bits_write_flag(output, true);
            break;
        default:
            report_unmodelled(task->file->device, "the header instruction", header->instructions[i].instruction);
        }
    }
}

/* Newer radeonsi writes the parameter sets in front of the data offset by itself. */
static void read_units_before(struct task *task, const uint8_t *bytes)
{
    size_t size = task->bitstream.data_offset;

    for (size_t unit = bits_next_unit(bytes, size, 0); unit < size; unit = bits_next_unit(bytes, size, unit)) {
        if (is_h264(task)) {
            report_unit(&task->record, "drv", bytes[unit] & 31);
        } else {
            report_unit(&task->record, "drv", (int)h265_unit_type(bytes + unit));
            h265_read_unit(&task->session->parameters, bytes + unit, size - unit);
        }
    }
}

/* The engine writes the units by their type: radeonsi gives an H.265 PPS before the SPS. */
static void write_units(const struct task *task, struct coded_output *output)
{
    static const enum vcn_nalu_type order[] = {
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_AUD,
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_VPS,
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_SPS,
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_PPS,
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_SEI,
        VCN_NALU_TYPE_OTHER,
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_END_OF_SEQUENCE,
        RENCODE_DIRECT_OUTPUT_NALU_TYPE_PREFIX,
    };

    for (size_t i = 0; i < VCN_NALU_TYPE_COUNT; i++) {
        const struct bit_writer *unit = &task->units[order[i]];

        for (size_t j = 0; j < unit->count; j++)
            coded_write(output, unit->bytes[j]);
    }
}

static void write_slice(const struct bit_writer *slice, struct coded_output *output)
{
    coded_write_start_code(output);
    output->zeros = 0;
    for (size_t i = 0; i < slice->count; i++)
        coded_write_escaped(output, slice->bytes[i]);
    if (slice->failed)
        output->overflow = true;
}

/* I_PCM where the buffer has room for it, else P_Skip; an I picture has no alternative, and a fault allows none. */
static enum h264_coding h264_coding(const struct task *task, const struct coded_output *output, size_t macroblocks)
{
    size_t room = output->capacity - output->count;

    if (settings()->cheap)
        return is_predictive(task) ? H264_SKIPPED : H264_FLAT;
    if (!is_predictive(task) || engine_limits_coded(task->file->device))
        return H264_EXACT;
    return macroblocks * H264_PCM_MACROBLOCK_ROOM > room ? H264_SKIPPED : H264_EXACT;
}

static void encode_h264(struct task *task, const struct picture *picture, struct coded_output *output)
{
    const struct vcn_session *session = task->session;
    uint32_t width = session->init.aligned_width / H264_MACROBLOCK_SIZE;
    uint32_t total = width * (session->init.aligned_height / H264_MACROBLOCK_SIZE);
    uint32_t step = session->slices.macroblocks_per_slice ? session->slices.macroblocks_per_slice : total;
    enum h264_coding coding = h264_coding(task, output, total);
    struct bit_writer bits = {0};

    task->record.skipped = coding == H264_SKIPPED;
    for (uint32_t first = 0; first < total; first += step) {
        struct h264_slice slice = {
            .predictive = is_predictive(task),
            .cabac = session->h264.cabac_enable,
            .cabac_init_idc = session->h264.cabac_init_idc,
            .qp = HEADER_QP,
            .width_in_macroblocks = width,
            .first = first,
            .count = step < total - first ? step : total - first,
            .coding = coding,
        };

        bits_clear(&bits);
        write_header(task, &bits, first);
        h264_write_slice_data(&bits, &slice, picture);
        write_slice(&bits, output);
        if (step >= total - first)
            break; /* `first` could overflow */
    }
    bits_free(&bits);
}

static void encode_hevc(struct task *task, const struct picture *picture, struct coded_output *output)
{
    const struct vcn_session *session = task->session;
    const struct h265_parameters *parameters = &session->parameters;
    struct bit_writer bits = {0};
    struct h265_slice slice = {
        .type = (enum h265_slice_type)task->parameters.picture_type,
        .cabac_init_flag = session->hevc.cabac_init_flag,
        .qp = parameters->has_pps ? parameters->init_qp : HEADER_QP,
        .width = session->init.aligned_width,
        .height = session->init.aligned_height,
        .coding = !settings()->cheap && h265_has_mosaic(parameters, picture) ? H265_MOSAIC : H265_CHEAP,
    };

    if (slice.type > H265_I)
        slice.type = H265_P; /* RENCODE_PICTURE_TYPE_P_SKIP */
    write_header(task, &bits, 0);
    bits_write_flag(&bits, true); /* byte_alignment() */
    bits_align(&bits, false);
    if (!h265_write_slice_data(&bits, &slice, parameters, picture))
        output->overflow = true;
    write_slice(&bits, output);
    bits_free(&bits);
}

static bool has_size(const struct task *task)
{
    const struct vcn_session_init *init = &task->session->init;

    return init->aligned_width >= H264_MACROBLOCK_SIZE && init->aligned_width <= LARGEST_SIZE &&
           init->aligned_height >= H264_MACROBLOCK_SIZE && init->aligned_height <= LARGEST_SIZE &&
           init->aligned_width % 8 == 0 && init->aligned_height % 8 == 0;
}

static enum picture_result encode_to(struct task *task, const struct picture *picture, struct coded_output *output)
{
    if (!task->has_header || !output->bytes || !has_size(task)) {
        message("a picture of %ux%u without %s is not coded", task->session->init.aligned_width,
                task->session->init.aligned_height,
                !task->has_header ? "a slice header"
                : !output->bytes  ? "a bitstream buffer"
                                  : "a size that is possible");
        return PICTURE_IMPOSSIBLE;
    }
    write_units(task, output);
    if (is_h264(task))
        encode_h264(task, picture, output);
    else
        encode_hevc(task, picture, output);
    return output->overflow ? PICTURE_OVERFLOW : PICTURE_CODED;
}

static void give_feedback(const struct task *task, const struct coded_output *output)
{
    uint32_t feedback[FEEDBACK_WORDS] = {0};
    void *bytes = mapping_bytes(&task->file->handles, join(task->feedback.address_high, task->feedback.address_low),
                                sizeof feedback);

    if (!bytes) {
        message("the feedback buffer is not where the driver says");
        return;
    }
    feedback[FEEDBACK_HAS_BITSTREAM] = task->record.result == PICTURE_CODED;
    feedback[FEEDBACK_BITSTREAM_SIZE] = (uint32_t)output->count;
    memcpy(bytes, feedback, sizeof feedback);
}

static void record(struct task *task, const struct picture *picture, const struct coded_output *output)
{
    static const char types[] = "BPIS";
    const struct vcn_session *session = task->session;
    struct picture_record *record = &task->record;

    record->h264 = is_h264(task);
    record->number = session->pictures;
    record->type = types[task->parameters.picture_type & 3];
    record->coded_width = session->init.aligned_width;
    record->coded_height = session->init.aligned_height;
    record->tiling = task->parameters.swizzle_mode;
    record->cabac = session->h264.cabac_enable;
    record->qp = (int)session->picture_control.qp;
    record->rate_control = session->rate_control.method;
    record->bit_rate = session->layer.target_bit_rate;
    record->peak_bit_rate = session->layer.peak_bit_rate;
    record->frame_rate[0] = session->layer.frame_rate_numerator;
    record->frame_rate[1] = session->layer.frame_rate_denominator;
    record->vbv_size = session->layer.vbv_size;
    record->vbv_level = session->rate_control.vbv_level;
    record->buffer_size = task->bitstream.size;
    record->bytes = output->count;
    report_picture(task->file->device, record, picture);
}

static void encode(struct task *task)
{
    const struct vcn_bitstream_buffer *buffer = &task->bitstream;
    uint8_t *bytes = mapping_bytes(&task->file->handles, join(buffer->address_high, buffer->address_low), buffer->size);
    struct picture picture = input_picture(task);
    struct coded_output output = {0};

    if (bytes && buffer->data_offset <= buffer->size) {
        read_units_before(task, bytes);
        output.bytes = bytes + buffer->data_offset;
        output.capacity = engine_coded_room(task->file->device, buffer->size - buffer->data_offset);
    }
    if (!engine_begin_picture(task->file->device))
        return;
    task->record.result = encode_to(task, &picture, &output);
    give_feedback(task, &output);
    record(task, &picture, &output);
    task->session->pictures++;
}

/* ---- The ring */

static void add_unit(struct task *task, const struct packet *packet)
{
    static const char *const names[] = {"AUD", "VPS", "SPS", "PPS", "PREFIX", "EOS", "SEI"};
    enum { FIELDS = sizeof(struct vcn_direct_output) / sizeof(uint32_t), LONG_START_CODE_SIZE = 4 };
    struct vcn_direct_output unit;
    struct bit_writer *writer;
    size_t size, start;

    TAKE(packet, unit);
    if (packet->count < FIELDS)
        return;
    size = (packet->count - FIELDS) * sizeof(uint32_t);
    if (unit.size < size)
        size = unit.size;
    if (unit.type >= VCN_NALU_TYPE_OTHER)
        unit.type = VCN_NALU_TYPE_OTHER;
    else
        report_unit(&task->record, names[unit.type], REPORT_NO_NUMBER);
    writer = &task->units[unit.type];
    start = writer->count;
    for (size_t i = 0; i < size; i++)
        bits_write_byte(writer, (uint8_t)(packet->words[FIELDS + i / 4] >> (24 - 8 * (i % 4))));
    if (!is_h264(task) && size > LONG_START_CODE_SIZE && writer->count == start + size)
        h265_read_unit(&task->session->parameters, writer->bytes + start + LONG_START_CODE_SIZE, size - LONG_START_CODE_SIZE);
}

static void take_parameters(struct task *task, const struct packet *packet)
{
    struct vcn_session *session = task->session;

    switch (packet->command) {
    case RENCODE_IB_PARAM_SESSION_INIT:
        TAKE(packet, session->init);
        break;
    case RENCODE_IB_PARAM_RATE_CONTROL_SESSION_INIT:
        TAKE(packet, session->rate_control);
        break;
    case RENCODE_IB_PARAM_RATE_CONTROL_LAYER_INIT:
        TAKE(packet, session->layer);
        break;
    case RENCODE_IB_PARAM_RATE_CONTROL_PER_PICTURE:
        TAKE(packet, session->picture_control);
        break;
    case RENCODE_H264_IB_PARAM_SLICE_CONTROL:
        TAKE(packet, session->slices);
        break;
    case RENCODE_H264_IB_PARAM_SPEC_MISC:
        TAKE(packet, session->h264);
        break;
    case RENCODE_HEVC_IB_PARAM_SPEC_MISC:
        TAKE(packet, session->hevc);
        break;
    case RENCODE_HEVC_IB_PARAM_LOOP_FILTER:
        TAKE(packet, session->loop_filter);
        break;
    case RENCODE_IB_PARAM_DIRECT_OUTPUT_NALU:
        add_unit(task, packet);
        break;
    case RENCODE_IB_PARAM_SLICE_HEADER:
        TAKE(packet, task->header);
        task->has_header = true;
        break;
    case RENCODE_IB_PARAM_INPUT_FORMAT:
        TAKE(packet, task->format);
        break;
    case RENCODE_IB_PARAM_ENCODE_PARAMS:
        TAKE(packet, task->parameters);
        break;
    case RENCODE_IB_PARAM_VIDEO_BITSTREAM_BUFFER:
        TAKE(packet, task->bitstream);
        break;
    case RENCODE_IB_PARAM_FEEDBACK_BUFFER:
        TAKE(packet, task->feedback);
        break;
    default:
        debug("the packet %x is passed over", packet->command);
    }
}

static void execute_packet(struct task *task, const struct packet *packet)
{
    if (packet->command == RENCODE_IB_PARAM_SESSION_INFO) {
        struct vcn_session_info info;

        TAKE(packet, info);
        task->session = find_session(task->file, join(info.software_context_high, info.software_context_low));
        return;
    }
    if (!task->session)
        return;
    switch (packet->command) {
    case RENCODE_IB_OP_INITIALIZE:
        report_session_opened(task->file->device);
        break;
    case RENCODE_IB_OP_CLOSE_SESSION:
        report_session_closed(task->file->device, task->session->pictures);
        close_session(task->file, task->session);
        task->session = NULL;
        break;
    case RENCODE_IB_OP_ENCODE:
        encode(task);
        break;
    default:
        take_parameters(task, packet);
    }
}

void vcn_execute(struct file *file, const uint32_t *words, size_t count)
{
    enum { PACKET_HEADER = 2 }; /* the size in bytes, the command */
    struct task task = {.file = file};

    for (size_t position = 0; position + PACKET_HEADER <= count;) {
        size_t size = words[position] / sizeof *words;
        struct packet packet = {words[position + 1], words + position + PACKET_HEADER, size - PACKET_HEADER};

        if (size < PACKET_HEADER || size > count - position) {
            message("a packet of %u bytes at dword %zu of %zu of the encode ring", words[position], position, count);
            break;
        }
        execute_packet(&task, &packet);
        position += size;
    }
    for (size_t i = 0; i < VCN_NALU_TYPE_COUNT; i++)
        bits_free(&task.units[i]);
}
