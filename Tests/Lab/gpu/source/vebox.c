#include "vebox.h"

#include "device.h"
#include "engine.h"
#include "intel_commands.h"
#include "message.h"
#include "report.h"
#include "surface.h"

#include <stdlib.h>
#include <string.h>

enum {
    IECP_DWORDS = 115,
    CONTROL_BITS = 0xfff, /* below an address: of its memory */
    MIDWAY = 1,           /* VEBOX_CHROMA_ROW_OFFSET: between two rows; 0 the upper one, 2 the lower one */
};

/* Whether all that is asked for is a change of the layout. */
static bool is_plain(const struct batch *batch, const struct vebox *vebox)
{
    const struct command_field enables[] = {VEBOX_STD_ENABLE,     VEBOX_STE_ENABLE, VEBOX_ACE_ENABLE,
                                            VEBOX_TCC_ENABLE,     VEBOX_PROCAMP_ENABLE, VEBOX_CSC_ENABLE,
                                            VEBOX_CCM_ENABLE,     VEBOX_FRONT_END_CSC_ENABLE};
    const uint32_t *colours = batch_bytes(batch, vebox->colours, IECP_DWORDS * sizeof *colours);

    if (vebox->features & VEBOX_OTHER_FEATURES || vebox->chroma & VEBOX_3D_LUT)
        return false;
    if (!(vebox->features & VEBOX_IECP))
        return true;
    for (size_t i = 0; colours && i < sizeof enables / sizeof *enables; i++)
        if (get(colours, enables[i]))
            return false;
    return colours != NULL;
}

static struct vebox_surface surface_of(const uint32_t *words)
{
    return (struct vebox_surface){
        .width = get(words, SURFACE_WIDTH) + 1,
        .height = get(words, SURFACE_HEIGHT) + 1,
        .pitch = get(words, SURFACE_PITCH) + 1,
        .tiled = get(words, SURFACE_TILED_Y),
        .interleaved_chroma = get(words, VEBOX_INTERLEAVED_CHROMA),
        .format = get(words, VEBOX_FORMAT),
        .chroma_row = get(words, SURFACE_CHROMA_ROW),
    };
}

static struct surface_plane plane_at(const struct batch *batch, const struct vebox_surface *surface, uint64_t address,
                                     uint32_t first_row)
{
    return (struct surface_plane){
        .bytes = batch_bytes(batch, address, 1),
        .available = batch_available(batch, address),
        .pitch = surface->pitch,
        .tiled = surface->tiled,
        .first_row = first_row,
    };
}

static bool is_nv12(const struct vebox_surface *surface)
{
    return surface->format == VEBOX_PLANAR_420 && surface->interleaved_chroma;
}

/* Where the samples of two pixels are among their four bytes. */
static const unsigned char *places(uint32_t format)
{
    static const unsigned char yuyv[] = {0, 1, 2, 3}, uyvy[] = {1, 0, 3, 2};

    return format == VEBOX_YUYV ? yuyv : format == VEBOX_UYVY ? uyvy : NULL;
}

/* Chroma between two rows, where the driver wants it. */
static uint8_t between(uint32_t offset, uint8_t upper, uint8_t lower)
{
    return offset == MIDWAY ? (uint8_t)((upper + lower + 1) / 2) : offset ? lower : upper;
}

/* Two rows of packed pixels become two of luma and one of chroma. */
static bool halve(const struct vebox *vebox, const struct surface_plane *packed, const struct surface_plane *luma,
                  const struct surface_plane *chroma, uint8_t *rows, uint32_t row)
{
    size_t width = vebox->input.width, size = 2 * width;
    uint8_t *upper = rows, *lower = rows + size, *samples = rows + 2 * size, *pairs = samples + width;
    const unsigned char *place = places(vebox->input.format);
    uint32_t offset = get(&vebox->chroma, VEBOX_CHROMA_ROW_OFFSET);
    bool fits = true;

    surface_read_row(packed, row, upper, size);
    surface_read_row(packed, row + 1, lower, size);
    for (unsigned half = 0; half < 2; half++) {
        const uint8_t *from = half ? lower : upper;

        for (size_t x = 0; x < width; x++)
            samples[x] = from[x / 2 * 4 + place[x % 2 * 2]];
        fits &= surface_write_row(luma, row + half, samples, width);
    }
    for (size_t x = 0; x < width; x++) {
        size_t index = x / 2 * 4 + place[x % 2 * 2 + 1];

        pairs[x] = between(offset, upper[index], lower[index]);
    }
    return surface_write_row(chroma, row / 2, pairs, width) && fits;
}

static bool convert(const struct batch *batch, const struct vebox *vebox, uint64_t input, uint64_t output)
{
    struct surface_plane packed = plane_at(batch, &vebox->input, input, 0);
    struct surface_plane luma = plane_at(batch, &vebox->output, output, 0);
    struct surface_plane chroma = plane_at(batch, &vebox->output, output, vebox->output.chroma_row);
    uint8_t *rows = malloc(6 * (size_t)vebox->input.width);
    bool fits = rows && packed.bytes && luma.bytes;

    for (uint32_t row = 0; fits && row + 1 < vebox->input.height; row += 2)
        fits = halve(vebox, &packed, &luma, &chroma, rows, row);
    free(rows);
    return fits;
}

static void process(struct batch *batch, const struct vebox *vebox, const uint32_t *words)
{
    struct device *device = batch->file->device;
    uint64_t input = batch_address(batch, words + VEBOX_INPUT) & ~(uint64_t)CONTROL_BITS;
    uint64_t output = batch_address(batch, words + VEBOX_OUTPUT) & ~(uint64_t)CONTROL_BITS;

    if (!places(vebox->input.format) || !is_nv12(&vebox->output) || !is_plain(batch, vebox) ||
        vebox->input.width % 2 || vebox->input.height % 2 || vebox->input.width != vebox->output.width ||
        vebox->input.height != vebox->output.height) {
        report_undone(device, "video processing other than YUYV and UYVY to NV12");
        return;
    }
    if (!engine_begin_picture(device))
        return;
    if (convert(batch, vebox, input, output))
        device->statistics.converted++;
    else
        message("a picture of %ux%u that is converted does not fit into its surfaces", vebox->input.width,
                vebox->input.height);
}

void vebox_execute(struct batch *batch, struct vebox *vebox, const uint32_t *words, size_t count)
{
    switch (words[0] >> 16) {
    case VEBOX_STATE:
        if (count > VEBOX_CHROMA) {
            vebox->features = words[1];
            vebox->colours = batch_address(batch, words + VEBOX_COLOURS) & ~(uint64_t)CONTROL_BITS;
            vebox->chroma = words[VEBOX_CHROMA];
        }
        break;
    case VEBOX_SURFACE_STATE:
        if (count > 4)
            *(words[1] & VEBOX_IS_OUTPUT ? &vebox->output : &vebox->input) = surface_of(words);
        break;
    case VEBOX_DI_IECP:
        if (count > VEBOX_OUTPUT + 1)
            process(batch, vebox, words);
        break;
    default:
        break; /* what is not needed here: report_undone says so where it is used */
    }
}
