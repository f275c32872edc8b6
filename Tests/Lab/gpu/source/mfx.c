#include "mfx.h"

#include "device.h"
#include "engine.h"
#include "h264.h"
#include "h265.h"
#include "intel_commands.h"
#include "message.h"
#include "mfd.h"
#include "report.h"
#include "settings.h"
#include "surface.h"
#include "vebox.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_SIZE = 16384,
    H264_PPS = 8,   /* nal_unit_type, Table 7-1 */
    UNIT_START = 3, /* the bytes 00 00 01 */
    SLICE_HEADER_SIZE = 256,
    LOG2_LARGEST_CODING_TREE_BLOCK = 6,
};

/* Regions begin at pages. */
#define HUC_ADDRESS_MASK (GPU_ADDRESS_MASK & ~(uint64_t)(PAGE_SIZE - 1))

/* What VDENC_SRC_SURFACE_STATE and MFX_SURFACE_STATE say. */
struct surface {
    uint32_t width, height;
    uint32_t pitch; /* bytes */
    bool tiled;
    uint32_t chroma_row;
};

/* The headers that were inserted before the slice, and after them the slice itself. */
struct headers {
    struct bit_writer bits;
    bool *plain; /* a byte each: written without emulation prevention */
    size_t plain_capacity;
};

/* The header of H.264 slices as the driver gives it: one bit stands for first_mb_in_slice, and the engine writes the
 * number in its place. */
struct slice_header {
    uint8_t bytes[SLICE_HEADER_SIZE];
    size_t bit_count; /* 0: the driver has given none, or it is among the other headers */
    bool escaped;
    size_t plain_count;
};

struct mfx_context {
    uint32_t id;
    struct mfx_context *next;
    uint64_t registers[MI_MATH_REG_COUNT];
    uint64_t huc_regions[HUC_REGION_COUNT];
    uint64_t huc_next; /* the address of the commands that stand for the next batch that HuC would make; 0: not known */
    unsigned huc_batches; /* that were started for this picture */
    bool hevc;
    struct surface surface;
    uint64_t source;             /* the input picture's address */
    uint64_t output, output_end; /* the coded buffer's: PAK-BSE object */
    size_t coded_bytes;          /* of the picture so far */
    unsigned slice_type;         /* as the slice state has it */
    int qp;
    unsigned cabac_init;
    bool cabac;
    uint32_t first, next_first;       /* macroblocks: where the slice begins, and where the next does */
    uint32_t first_block, next_block; /* of H.265 the same in coding tree blocks; next_block 0: up to the last one */
    uint32_t rows, slice_rows;        /* macroblocks of the picture and of a slice, by VDENC_AVC_IMG_STATE */
    bool last_slice;                  /* of the picture */
    bool sao_luma, sao_chroma;
    uint32_t width, height; /* of HCP_PIC_STATE */
    struct h265_parameters parameters;
    struct headers headers;
    struct slice_header slice_header;
    struct picture_record record;
    unsigned pictures;
    bool decodes;
    struct mfd *mfd; /* null while there was nothing to decode */
    struct vebox vebox;
};

/* ---- Contexts */

struct mfx_context *mfx_context(struct file *file, uint32_t id)
{
    struct mfx_context *context = file->mfx_contexts;

    while (context && context->id != id)
        context = context->next;
    if (context)
        return context;
    context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->id = id;
    context->next = file->mfx_contexts;
    file->mfx_contexts = context;
    return context;
}

void mfx_free_context(struct file *file, uint32_t id)
{
    struct mfx_context **link = &file->mfx_contexts, *context;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    context = *link;
    if (!context)
        return;
    *link = context->next;
    if (context->pictures)
        report_session_closed(file->device, context->pictures);
    mfd_free(file->device, context->mfd);
    bits_free(&context->headers.bits);
    free(context->headers.plain);
    free(context);
}

void mfx_free_contexts(struct file *file)
{
    while (file->mfx_contexts)
        mfx_free_context(file, file->mfx_contexts->id);
}

uint32_t *mfx_registers(struct mfx_context *context)
{
    return (uint32_t *)context->registers;
}

struct vebox *mfx_vebox(struct mfx_context *context)
{
    return &context->vebox;
}

uint32_t mfx_coded_bytes(const struct mfx_context *context)
{
    return (uint32_t)context->coded_bytes;
}

uint32_t mfx_error_flags(const struct mfx_context *context)
{
    return context->decodes ? mfd_error_flags(context->mfd) : 0;
}

uint64_t mfx_huc_region(const struct mfx_context *context, unsigned region)
{
    return context->huc_regions[region];
}

uint64_t mfx_next_huc_batch(const struct mfx_context *context)
{
    return context->huc_next;
}

unsigned mfx_huc_batches(const struct mfx_context *context)
{
    return context->huc_batches;
}

void mfx_took_huc_batch(struct mfx_context *context, uint64_t next)
{
    context->huc_batches++;
    context->huc_next = next;
}

bool mfx_is_hevc(const struct mfx_context *context)
{
    return context->hevc;
}

/* ---- States */

static void clear_headers(struct mfx_context *context)
{
    bits_clear(&context->headers.bits);
    context->slice_header.bit_count = 0;
}

static void begin_picture(struct mfx_context *context, bool hevc)
{
    context->hevc = hevc;
    context->huc_batches = 0;
    context->huc_next = 0;
    context->record = (struct picture_record){0};
    context->coded_bytes = 0;
    clear_headers(context);
}

static void take_surface(struct mfx_context *context, const uint32_t *words)
{
    context->surface = (struct surface){
        .width = get(words, SURFACE_WIDTH) + 1,
        .height = get(words, SURFACE_HEIGHT) + 1,
        .pitch = get(words, SURFACE_PITCH) + 1,
        .tiled = get(words, SURFACE_TILED_Y),
        .chroma_row = get(words, SURFACE_CHROMA_ROW),
    };
}

static void take_source(const struct batch *batch, const uint32_t *words, size_t count)
{
    uint64_t address = 0;

    if (batch->wide_addresses && count > MFX_PIPE_BUF_ORIGINAL + 1)
        address = batch_address(batch, words + MFX_PIPE_BUF_ORIGINAL);
    else if (!batch->wide_addresses && count > MFX_PIPE_BUF_SHORT_FORM)
        address = words[MFX_PIPE_BUF_ORIGINAL];
    else if (!batch->wide_addresses && count > MFX_PIPE_BUF_ORIGINAL_SHORT)
        address = words[MFX_PIPE_BUF_ORIGINAL_SHORT];
    if (address)
        batch->mfx->source = address;
}

static void take_output(const struct batch *batch, const uint32_t *first, const uint32_t *last)
{
    batch->mfx->output = batch_address(batch, first);
    batch->mfx->output_end = batch_address(batch, last);
}

static void take_h264_output(const struct batch *batch, const uint32_t *words, size_t count)
{
    if (count > MFX_IND_OBJ_PAK_BSE_END + 1) {
        take_output(batch, words + MFX_IND_OBJ_PAK_BSE, words + MFX_IND_OBJ_PAK_BSE_END);
    } else if (count > MFX_IND_OBJ_PAK_BSE_END_SHORT) {
        batch->mfx->output = words[MFX_IND_OBJ_PAK_BSE_SHORT];
        batch->mfx->output_end = words[MFX_IND_OBJ_PAK_BSE_END_SHORT];
    }
}

static void take_h264_slice(struct mfx_context *context, const uint32_t *words)
{
    uint32_t width = (context->surface.width + H264_MACROBLOCK_SIZE - 1) / H264_MACROBLOCK_SIZE;

    context->slice_type = get(words, MFX_AVC_SLICE_TYPE);
    context->qp = (int)get(words, MFX_AVC_SLICE_QP);
    context->cabac_init = get(words, MFX_AVC_SLICE_CABAC_INIT_IDC);
    context->first = get(words, MFX_AVC_SLICE_COLUMN) + get(words, MFX_AVC_SLICE_ROW) * width;
    context->next_first = get(words, MFX_AVC_SLICE_NEXT_COLUMN) + get(words, MFX_AVC_SLICE_NEXT_ROW) * width;
    context->last_slice = get(words, MFX_AVC_SLICE_IS_LAST);
}

static void take_vdenc_image(struct mfx_context *context, const uint32_t *words)
{
    context->rows = get(words, VDENC_AVC_FRAME_HEIGHT) + 1;
    context->slice_rows = get(words, VDENC_AVC_SLICE_HEIGHT) + 1;
}

static void take_hevc_picture(struct mfx_context *context, const uint32_t *words)
{
    unsigned log2_min_coding_block = 3 + get(words, HCP_PIC_MIN_CODING_BLOCK);

    context->width = (get(words, HCP_PIC_WIDTH) + 1) << log2_min_coding_block;
    context->height = (get(words, HCP_PIC_HEIGHT) + 1) << log2_min_coding_block;
}

/* The address of a block by its column and row. */
static uint32_t coding_tree_block(const struct mfx_context *context, uint32_t column, uint32_t row)
{
    const struct h265_parameters *parameters = &context->parameters;
    unsigned log2 = parameters->has_sps ? parameters->log2_coding_tree_block : LOG2_LARGEST_CODING_TREE_BLOCK;
    uint32_t columns = (context->width + (1U << log2) - 1) >> log2;

    return column + row * columns;
}

static void take_hevc_slice(struct mfx_context *context, const uint32_t *words)
{
    context->slice_type = get(words, HCP_SLICE_TYPE);
    context->qp = (int)get(words, HCP_SLICE_QP);
    context->sao_luma = get(words, HCP_SLICE_SAO_LUMA);
    context->sao_chroma = get(words, HCP_SLICE_SAO_CHROMA);
    context->cabac_init = get(words, HCP_SLICE_CABAC_INIT);
    context->first_block = coding_tree_block(context, get(words, HCP_SLICE_COLUMN), get(words, HCP_SLICE_ROW));
    context->next_block = coding_tree_block(context, get(words, HCP_SLICE_NEXT_COLUMN), get(words, HCP_SLICE_NEXT_ROW));
    context->last_slice = get(words, HCP_SLICE_IS_LAST);
}

/* HuC came with Broadwell's successors: addresses are always 48 bits. */
static void take_huc_regions(struct mfx_context *context, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < HUC_REGION_COUNT; i++) {
        size_t place = HUC_FIRST_REGION + i * HUC_REGION_DWORDS;

        if (place + 1 < count)
            context->huc_regions[i] = ((uint64_t)words[place + 1] << 32 | words[place]) & HUC_ADDRESS_MASK;
    }
}

/* ---- Inserted headers */

static bool remember_plain(struct headers *headers, size_t start, bool escaped, size_t plain_count)
{
    if (headers->plain_capacity < headers->bits.count) {
        bool *plain = realloc(headers->plain, headers->bits.capacity * sizeof *plain);

        if (!plain)
            return false;
        headers->plain = plain;
        headers->plain_capacity = headers->bits.capacity;
    }
    for (size_t i = start; i < headers->bits.count; i++)
        headers->plain[i] = !escaped || i - start < plain_count;
    return true;
}

/* entropy_coding_mode_flag of a PPS (H.264 7.3.2.2), from its payload on */
static bool pps_has_cabac(const uint8_t *payload, size_t size)
{
    struct bit_reader reader = {.bytes = payload, .count = size};

    bits_read_ue(&reader); /* pic_parameter_set_id */
    bits_read_ue(&reader); /* seq_parameter_set_id */
    return bits_read(&reader, 1);
}

static void read_units(struct mfx_context *context, size_t start)
{
    const uint8_t *bytes = context->headers.bits.bytes;
    size_t size = context->headers.bits.count;

    for (size_t unit = bits_next_unit(bytes, size, start); unit < size; unit = bits_next_unit(bytes, size, unit)) {
        if (context->hevc) {
            report_unit(&context->record, "", (int)h265_unit_type(bytes + unit));
            h265_read_unit(&context->parameters, bytes + unit, size - unit);
            if (h265_unit_type(bytes + unit) == H265_SPS) {
                context->width = context->parameters.width; /* HuC, not the driver, writes the HCP_PIC_STATE */
                context->height = context->parameters.height;
            }
            continue;
        }
        report_unit(&context->record, "", bytes[unit] & 0x1f);
        if ((bytes[unit] & 0x1f) == H264_PPS)
            context->cabac = pps_has_cabac(bytes + unit + 1, size - unit - 1);
    }
}

static void append(struct mfx_context *context, const uint8_t *bytes, size_t bit_count, bool escaped,
                   size_t plain_count, size_t first_macroblock_bit)
{
    struct headers *headers = &context->headers;
    size_t start = headers->bits.count;

    for (size_t i = 0; i < bit_count; i++) {
        if (i == first_macroblock_bit)
            bits_write_ue(&headers->bits, context->first);
        else
            bits_write_flag(&headers->bits, bytes[i / 8] >> (7 - i % 8) & 1);
    }
    if (!remember_plain(headers, start, escaped, plain_count))
        headers->bits.failed = true;
    else
        read_units(context, start);
}

/* MFX_PAK_INSERT_OBJECT, HCP_PAK_INSERT_OBJECT: bytes in memory order, the last dword not always whole */
static void insert(struct mfx_context *context, const uint32_t *words, size_t count)
{
    struct slice_header *header = &context->slice_header;
    uint32_t last_bits = get(words, INSERT_BITS_IN_LAST_DWORD), plain_count = get(words, INSERT_PLAIN_BYTES);
    bool escaped = words[1] & INSERT_EMULATION_PREVENTION;
    const uint8_t *bytes = (const uint8_t *)(words + INSERT_FIRST_DATA);
    size_t bit_count;

    if (count <= INSERT_FIRST_DATA || last_bits > 32)
        return;
    bit_count = (count - INSERT_FIRST_DATA - 1) * 32 + (last_bits ? last_bits : 32);
    if (context->hevc || !(words[1] & INSERT_SLICE_HEADER) || bit_count > 8 * sizeof header->bytes) {
        append(context, bytes, bit_count, escaped, plain_count, bit_count);
        return;
    }
    *header = (struct slice_header){.bit_count = bit_count, .escaped = escaped, .plain_count = plain_count};
    memcpy(header->bytes, bytes, (bit_count + 7) / 8);
}

static void append_slice_header(struct mfx_context *context)
{
    const struct slice_header *header = &context->slice_header;
    size_t unit = bits_next_unit(header->bytes, header->bit_count / 8, 0); /* its header is a byte */

    if (header->bit_count)
        append(context, header->bytes, header->bit_count, header->escaped, header->plain_count, 8 * (unit + 1));
}

/* ---- Slices */

/* The input picture in rows, in memory of its own that the caller frees; null where there is none. */
static uint8_t *read_picture(const struct batch *batch, struct picture *picture)
{
    const struct mfx_context *context = batch->mfx;
    const struct surface *surface = &context->surface;
    struct surface_plane plane = {
        .bytes = batch_bytes(batch, context->source, 1),
        .available = batch_available(batch, context->source),
        .pitch = surface->pitch,
        .tiled = surface->tiled,
    };
    size_t row_size;
    uint8_t *rows;

    *picture = (struct picture){.width = surface->width, .height = surface->height, .bit_depth = 8};
    if (context->hevc && context->parameters.has_sps)
        picture->bit_depth = context->parameters.bit_depth;
    row_size = (size_t)surface->width * (picture->bit_depth > 8 ? 2 : 1);
    picture->luma_pitch = picture->chroma_pitch = surface->pitch;
    rows = plane.bytes && row_size <= surface->pitch
               ? malloc((size_t)surface->pitch * (surface->height + surface->height / 2))
               : NULL;
    if (!rows) {
        message("the input picture of %ux%u is not where the driver says: it is coded as black", picture->width,
                picture->height);
        return NULL;
    }
    for (uint32_t y = 0; y < surface->height + surface->height / 2; y++) {
        uint32_t row = y < surface->height ? y : surface->chroma_row + y - surface->height;

        surface_read_row(&plane, row, rows + (size_t)y * surface->pitch, row_size);
    }
    picture->luma = rows;
    picture->chroma = rows + (size_t)surface->pitch * surface->height;
    return rows;
}

/* `room`: bytes, beyond which P slices are skipped. */
static void write_h264(struct mfx_context *context, const struct picture *picture, size_t room)
{
    uint32_t width = (context->surface.width + H264_MACROBLOCK_SIZE - 1) / H264_MACROBLOCK_SIZE;
    uint32_t height = (context->surface.height + H264_MACROBLOCK_SIZE - 1) / H264_MACROBLOCK_SIZE;
    uint32_t total = width * height, end = context->next_first;
    struct h264_slice slice = {
        .predictive = context->slice_type != SLICE_TYPE_I,
        .cabac = context->cabac,
        .cabac_init_idc = context->cabac_init,
        .qp = context->qp,
        .width_in_macroblocks = width,
        .first = context->first < total ? context->first : 0,
    };

    if (end <= context->first || end > total)
        end = total;
    slice.count = end - slice.first;
    if (settings()->cheap)
        slice.coding = slice.predictive ? H264_SKIPPED : H264_FLAT;
    else if (slice.predictive && (size_t)slice.count * H264_PCM_MACROBLOCK_ROOM > room)
        slice.coding = H264_SKIPPED;
    context->record.skipped = slice.coding == H264_SKIPPED;
    context->record.coded_width = width * H264_MACROBLOCK_SIZE;
    context->record.coded_height = height * H264_MACROBLOCK_SIZE;
    h264_write_slice_data(&context->headers.bits, &slice, picture);
}

static bool write_hevc(struct mfx_context *context, const struct picture *picture)
{
    const struct h265_parameters *parameters = &context->parameters;
    struct h265_slice slice = {
        .type = (enum h265_slice_type)context->slice_type,
        .cabac_init_flag = context->cabac_init,
        .sao_luma = context->sao_luma,
        .sao_chroma = context->sao_chroma,
        .qp = context->qp,
        .width = context->width,
        .height = context->height,
        .first_block = context->first_block,
        .end_block = context->next_block,
        .coding = !settings()->cheap && h265_has_mosaic(parameters, picture) ? H265_MOSAIC : H265_CHEAP,
    };

    context->record.coded_width = slice.width;
    context->record.coded_height = slice.height;
    return h265_write_slice_data(&context->headers.bits, &slice, parameters, picture);
}

/* The coded buffer after what is in it already. */
static struct coded_output coded_output(const struct batch *batch)
{
    const struct mfx_context *context = batch->mfx;
    size_t size = batch_available(batch, context->output);
    struct coded_output output = {.bytes = batch_bytes(batch, context->output, 1)};

    if (context->output_end > context->output && context->output_end - context->output < size)
        size = context->output_end - context->output;
    size = engine_coded_room(batch->file->device, size);
    if (!output.bytes || context->coded_bytes > size)
        return (struct coded_output){0};
    output.bytes += context->coded_bytes;
    output.capacity = size - context->coded_bytes;
    return output;
}

static void put_out(const struct mfx_context *context, size_t header_size, struct coded_output *output)
{
    const struct headers *headers = &context->headers;

    for (size_t i = 0; i < headers->bits.count; i++) {
        if (i < header_size && headers->plain[i])
            coded_write(output, headers->bits.bytes[i]);
        else
            coded_write_escaped(output, headers->bits.bytes[i]);
    }
    if (headers->bits.failed)
        output->overflow = true;
}

static void record(const struct batch *batch, const struct coded_output *output, const struct picture *picture)
{
    struct mfx_context *context = batch->mfx;
    struct picture_record *record = &context->record;
    unsigned predictive = context->hevc ? H265_P : 0;

    record->h264 = !context->hevc;
    record->number = context->pictures;
    record->type = context->slice_type == SLICE_TYPE_I ? 'I' : context->slice_type == predictive ? 'P' : 'B';
    record->tiling = context->surface.tiled;
    record->cabac = context->cabac;
    record->qp = context->qp;
    record->buffer_size = output->capacity;
    record->bytes = context->coded_bytes;
    report_picture(batch->file->device, record, picture);
    if (!context->pictures++)
        report_session_opened(batch->file->device);
}

static bool is_possible(const struct mfx_context *context, const struct coded_output *output)
{
    bool has_size = context->surface.pitch && context->surface.width > 1 && context->surface.height > 1;

    if (context->hevc)
        has_size = has_size && context->width && context->height && context->width <= LARGEST_SIZE &&
                   context->height <= LARGEST_SIZE;
    if (!output->bytes)
        message("a slice is coded to %llx, which is in no buffer", (unsigned long long)context->output);
    else if (!has_size)
        message("a slice is coded before its picture has a size");
    return output->bytes && has_size;
}

/* One slice, after the headers that were inserted for it. */
static void code_slice(struct batch *batch, const struct picture *picture)
{
    struct mfx_context *context = batch->mfx;
    struct coded_output output = coded_output(batch);
    size_t header_size;

    append_slice_header(context);
    header_size = context->headers.bits.count;
    if (!context->hevc)
        write_h264(context, picture, engine_limits_coded(batch->file->device) ? SIZE_MAX : output.capacity);
    else if (!write_hevc(context, picture))
        output.overflow = true;
    put_out(context, header_size, &output);
    context->coded_bytes += output.count;
    bits_clear(&context->headers.bits);
    if (output.overflow) {
        context->record.result = PICTURE_OVERFLOW;
        /* The engine counts on where it may not write any more: by that drivers find out. */
        context->coded_bytes = batch_available(batch, context->output) + 1;
    }
    if (context->last_slice)
        record(batch, &output, picture);
}

/* `all`: Skylake's one walker for all slices of a picture, which differ by where they begin. */
static void code_slices(struct batch *batch, bool all)
{
    struct mfx_context *context = batch->mfx;
    struct coded_output output = coded_output(batch);
    uint32_t width = (context->surface.width + H264_MACROBLOCK_SIZE - 1) / H264_MACROBLOCK_SIZE;
    struct picture picture;
    uint8_t *rows;

    if (!is_possible(context, &output))
        return;
    if (!context->coded_bytes && !engine_begin_picture(batch->file->device))
        return;
    rows = read_picture(batch, &picture);
    if (!all || !context->slice_rows)
        code_slice(batch, &picture);
    for (uint32_t row = 0; all && context->slice_rows && row < context->rows; row += context->slice_rows) {
        uint32_t end = row + context->slice_rows < context->rows ? row + context->slice_rows : context->rows;

        context->first = row * width;
        context->next_first = end * width;
        context->last_slice = end == context->rows;
        code_slice(batch, &picture);
    }
    free(rows);
    clear_headers(context);
}

/* ---- Commands */

/* The engines do more than is modelled. */
static void check_encoding(const struct batch *batch, bool is_known)
{
    if (!is_known)
        report_undone(batch->file->device, "encoding of other codecs than H.264 and H.265");
}

static void select_pipe(struct batch *batch, const uint32_t *words)
{
    struct mfx_context *context = batch->mfx;

    context->decodes = !(words[1] & MFX_ENCODES);
    if (context->decodes) {
        mfd_select(batch, &context->mfd, words);
        return;
    }
    check_encoding(batch, (words[1] & MFX_STANDARD_MASK) == MFX_STANDARD_AVC);
    begin_picture(context, false);
}

static void select_hevc_pipe(struct batch *batch, const uint32_t *words)
{
    batch->mfx->decodes = false;
    if (words[1] & HCP_ENCODES)
        check_encoding(batch, (words[1] & HCP_STANDARD_MASK) == HCP_STANDARD_HEVC);
    else
        report_undone(batch->file->device, "decoding of other codecs than H.264 and JPEG");
    begin_picture(batch->mfx, true);
}

/* How many dwords of each command are read. */
static size_t needed(uint32_t command)
{
    switch (command) {
    case MFX_SURFACE_STATE:
    case VDENC_SRC_SURFACE_STATE:
    case MFX_AVC_IMG_STATE:
    case HCP_SLICE_STATE:
        return 5;
    case MFX_AVC_SLICE_STATE:
    case VDENC_AVC_IMG_STATE:
        return 7;
    case VDENC_PIPE_BUF_ADDR_STATE:
        return VDENC_PIPE_BUF_ORIGINAL + 2;
    case HCP_IND_OBJ_BASE_ADDR_STATE:
        return HCP_IND_OBJ_PAK_BSE_END + 2;
    case HCP_PIC_STATE:
    case MFX_PAK_INSERT_OBJECT:
    case HCP_PAK_INSERT_OBJECT:
        return INSERT_FIRST_DATA + 1;
    default:
        return 2;
    }
}

void mfx_execute(struct batch *batch, const uint32_t *words, size_t count)
{
    struct mfx_context *context = batch->mfx;
    uint32_t command = words[0] >> 16;

    if (count < needed(command)) {
        message("the command %x has %zu dwords, fewer than it needs", command, count);
        return;
    }
    if (context->decodes && command != MFX_PIPE_MODE_SELECT && command != HCP_PIPE_MODE_SELECT) {
        mfd_execute(batch, context->mfd, words, count);
        return;
    }
    switch (command) {
    case MFX_PIPE_MODE_SELECT:
        select_pipe(batch, words);
        break;
    case HCP_PIPE_MODE_SELECT:
        select_hevc_pipe(batch, words);
        break;
    case MFX_SURFACE_STATE:
        if (get(words, MFX_SURFACE_ID) == SURFACE_OF_SOURCE || !context->surface.pitch)
            take_surface(context, words);
        break;
    case VDENC_SRC_SURFACE_STATE:
        take_surface(context, words);
        break;
    case MFX_PIPE_BUF_ADDR_STATE:
        take_source(batch, words, count);
        break;
    case VDENC_PIPE_BUF_ADDR_STATE:
        if (batch_address(batch, words + VDENC_PIPE_BUF_ORIGINAL))
            context->source = batch_address(batch, words + VDENC_PIPE_BUF_ORIGINAL);
        break;
    case MFX_IND_OBJ_BASE_ADDR_STATE:
        take_h264_output(batch, words, count);
        break;
    case HCP_IND_OBJ_BASE_ADDR_STATE:
        take_output(batch, words + HCP_IND_OBJ_PAK_BSE, words + HCP_IND_OBJ_PAK_BSE_END);
        break;
    case MFX_AVC_IMG_STATE:
        context->cabac = get(words, MFX_AVC_IMG_ENTROPY_CODING);
        break;
    case MFX_AVC_SLICE_STATE:
        take_h264_slice(context, words);
        break;
    case HCP_PIC_STATE:
        take_hevc_picture(context, words);
        break;
    case HCP_SLICE_STATE:
        take_hevc_slice(context, words);
        break;
    case MFX_PAK_INSERT_OBJECT:
    case HCP_PAK_INSERT_OBJECT:
        insert(context, words, count);
        break;
    case HUC_VIRTUAL_ADDR_STATE:
        take_huc_regions(context, words, count);
        break;
    case VDENC_AVC_IMG_STATE:
        take_vdenc_image(context, words);
        break;
    case VDENC_WALKER_STATE:
        code_slices(batch, count == SKYLAKE_WALKER_DWORDS);
        break;
    case MFC_AVC_PAK_OBJECT:
        code_slices(batch, false);
        break;
    default:
        break; /* motion search, rate control, references: nothing that the coded picture depends on */
    }
}
