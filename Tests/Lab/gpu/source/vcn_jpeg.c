#include "vcn_jpeg.h"

#include "decoder.h"
#include "device.h"
#include "engine.h"
#include "layout.h"
#include "message.h"
#include "report.h"
#include "vcn_decode_packets.h"

/* What the registers say. */
struct task {
    struct file *file;
    uint64_t bitstream, target;
    uint32_t size; /* of the bitstream, in dwords */
    uint32_t pitch, chroma_pitch;
    uint32_t tiling;
    uint32_t plane;
    uint32_t offsets[DECODER_PLANES];
};

static struct surface_plane plane_at(const struct task *task, unsigned plane, uint32_t pitch)
{
    size_t available;
    uint8_t *bytes = mapping_rest(&task->file->handles, task->target + task->offsets[plane], &available);

    return (struct surface_plane){.bytes = bytes, .available = available, .pitch = pitch};
}

/* There is no register for the layout: it follows from the sampling that the JPEG has. */
static bool put(const struct task *task, const struct decoded *picture)
{
    uint32_t pitch = task->pitch * JPEG_PITCH_UNIT;
    struct surface_plane planes[] = {plane_at(task, 0, pitch), plane_at(task, 1, pitch), plane_at(task, 2, pitch)};
    bool halves_columns = picture->chroma_width < picture->width;
    bool halves_rows = picture->chroma_height < picture->height;

    if (picture->planes == 1 || halves_columns == halves_rows) {
        struct layout_plane luma = {{planes[0]}, false}, chroma = {{planes[1]}, false};

        if (picture->planes == 1 || !halves_rows)
            return layout_planar(picture, planes);
        chroma.halves[0].pitch = task->chroma_pitch * JPEG_PITCH_UNIT;
        return layout_nv12(picture, &luma, &chroma, false);
    }
    planes[0].pitch *= 2; /* it is in samples, and packed ones have two bytes */
    return halves_columns ? layout_packed(picture, &planes[0], true) : layout_planar(picture, planes);
}

static void decode(const struct task *task)
{
    struct device *device = task->file->device;
    size_t size = (size_t)task->size * sizeof(uint32_t);
    const uint8_t *bytes = mapping_bytes(&task->file->handles, task->bitstream, size);
    struct decode_record record = {.codec = DECODER_JPEG, .result = PICTURE_IMPOSSIBLE, .bytes = size};
    struct decoded picture = {0};

    if (!engine_begin_picture(device))
        return;
    if (task->tiling)
        report_unmodelled(device, "the target's swizzle mode", task->tiling);
    if (!bytes)
        message("the JPEG of %zu bytes is not where the driver says", size);
    else if (decoder_decode(&task->file->jpeg_decoder, DECODER_JPEG, bytes, size, &picture))
        record.result = put(task, &picture) ? PICTURE_CODED : PICTURE_OVERFLOW;
    if (record.result == PICTURE_OVERFLOW)
        message("a picture of %ux%u does not fit into its target", picture.width, picture.height);
    report_decoded(device, &record, &picture);
    decoded_free(&picture);
}

static void half(uint64_t *address, uint32_t value, bool is_upper)
{
    if (is_upper)
        *address = (*address & UINT32_MAX) | (uint64_t)value << 32;
    else
        *address = (*address & ~(uint64_t)UINT32_MAX) | value;
}

static void set(struct task *task, uint32_t number, uint32_t value)
{
    switch (number) {
    case JPEG_READ_LOW:
    case JPEG_READ_HIGH:
        half(&task->bitstream, value, number == JPEG_READ_HIGH);
        break;
    case JPEG_WRITE_LOW:
    case JPEG_WRITE_HIGH:
        half(&task->target, value, number == JPEG_WRITE_HIGH);
        break;
    case JPEG_RB_WPTR:
        task->size = value;
        break;
    case JPEG_PITCH:
        task->pitch = value;
        break;
    case JPEG_UV_PITCH:
        task->chroma_pitch = value;
        break;
    case JPEG_Y_TILING:
        task->tiling = value;
        break;
    case JPEG_INDEX:
        task->plane = value;
        break;
    case JPEG_DATA:
        if (task->plane < DECODER_PLANES)
            task->offsets[task->plane] = value;
        break;
    case JPEG_CNTL:
        if (value == JPEG_START)
            decode(task);
        break;
    default:
        break; /* resets and waits */
    }
}

void vcn_jpeg_execute(struct file *file, const uint32_t *words, size_t count)
{
    struct task task = {.file = file};

    for (size_t position = 0; position + 1 < count; position += 2)
        set(&task, words[position] & JPEG_REGISTER_MASK, words[position + 1]);
}
