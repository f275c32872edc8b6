/* Mesa 22.3 makes a surface as two fields, an array of two layers of half the height. Its first use in an encoder moves
 * it into a new buffer of whole pictures, by a compute shader for each plane (vl_compositor_yuv_deint_full with
 * VL_COMPOSITOR_WEAVE, called in va/picture.c). No shader runs here: a dispatch whose only image is a whole plane, and
 * which samples the two fields of such a plane, is taken for that one.
 *
 * Numbers: Mesa's src/amd/registers (PM4 packets, GFX9's registers and SQ_IMG_RSRC words), and its si_descriptors.c for
 * where radeonsi puts them: the image's descriptor into user SGPRs 8 to 15 of the compute shader, and the lower half of
 * the address of the list with the sampler views behind 32 images, into SGPR 3. */
#include "weave.h"

#include "device.h"
#include "models.h"

#include <stdbool.h>
#include <string.h>

#include <drm.h>
#include <amdgpu_drm.h>

enum {
    PKT_TYPE_2 = 2, /* one dword without effect */
    PKT_TYPE_3 = 3,
    PKT3_DISPATCH_DIRECT = 0x15,
    PKT3_SET_SH_REG = 0x76,
    PKT3_NOP_PAD = (int)0xffff1000, /* a NOP that is its header alone */
    SH_REG_COMPUTE_USER_DATA_0 = (0xb900 - 0xb000) / 4,
    USER_SGPR_COUNT = 16,
    SGPR_SAMPLERS_AND_IMAGES = 3,
    SGPR_IMAGE = 8,
    DESCRIPTOR_DWORDS = 8,
    IMAGE_SLOTS = 32,         /* before the sampler views */
    VIEW_DWORDS = 16,
    VIEW_COUNT = 3,           /* vl_video_buffer: a view a component */
    RSRC_IMG_2D_ARRAY = 13,
    LARGEST_PADDING = 32,     /* rows: the fields' heights are aligned to 16 */
};

/* The upper half of the addresses whose lower half is in an SGPR: amdgpu's high_va_offset. */
#define DESCRIPTORS_HIGH 0xffff800000000000ULL

struct image {
    uint64_t address;
    uint32_t width, height, layers;
    size_t pitch, element; /* bytes */
};

static bool read_image(const uint32_t *words, struct image *image)
{
    /* IMG_DATA_FORMAT_8, _16, _8_8, _16_16 */
    static const uint8_t elements[64] = {[1] = 1, [2] = 2, [3] = 2, [5] = 4};
    bool array = words[3] >> 28 == RSRC_IMG_2D_ARRAY, linear = (words[3] >> 20 & 0x1f) == 0;

    *image = (struct image){
        .address = ((uint64_t)(words[1] & 0xff) << 32 | words[0]) << 8,
        .element = elements[words[1] >> 20 & 0x3f],
        .width = (words[2] & 0x3fff) + 1,
        .height = (words[2] >> 14 & 0x3fff) + 1,
        .layers = array ? (words[4] & 0x1fff) + 1 : 1,
    };
    image->pitch = ((words[4] >> 13 & 0xffff) + 1) * image->element;
    return image->address && image->element && linear && image->width * image->element <= image->pitch;
}

static bool are_fields_of(const struct image *fields, const struct image *plane)
{
    return fields->layers == 2 && fields->element == plane->element && fields->width == plane->width &&
           2 * fields->height >= plane->height && 2 * fields->height <= plane->height + LARGEST_PADDING;
}

static void weave(struct file *file, const struct image *fields, const struct image *plane)
{
    size_t field = fields->pitch * fields->height, row = plane->width * plane->element;
    const uint8_t *source = mapping_bytes(&file->handles, fields->address, 2 * field);
    uint8_t *target = mapping_bytes(&file->handles, plane->address, plane->pitch * plane->height);

    for (size_t y = 0; source && target && y < plane->height; y++)
        memcpy(target + y * plane->pitch, source + y % 2 * field + y / 2 * fields->pitch, row);
}

static void dispatch(struct file *file, const uint32_t *registers)
{
    struct image plane, fields;
    uint64_t list = DESCRIPTORS_HIGH | registers[SGPR_SAMPLERS_AND_IMAGES];
    uint64_t views = list + IMAGE_SLOTS * DESCRIPTOR_DWORDS * sizeof *registers;
    const uint32_t *words = mapping_bytes(&file->handles, views, VIEW_COUNT * VIEW_DWORDS * sizeof *words);

    if (!words || !read_image(registers + SGPR_IMAGE, &plane) || plane.layers != 1)
        return;
    for (size_t view = 0; view < VIEW_COUNT; view++) {
        if (read_image(words + view * VIEW_DWORDS, &fields) && are_fields_of(&fields, &plane)) {
            weave(file, &fields, &plane);
            return;
        }
    }
}

void weave_execute(struct file *file, const uint32_t *words, size_t count)
{
    uint32_t registers[USER_SGPR_COUNT] = {0};

    if (file->device->model.amd->gfx_major != 9) /* the descriptors' layout is GFX9's */
        return;
    for (size_t position = 0; position < count;) {
        const uint32_t *packet = words + position;
        unsigned type = packet[0] >> 30, opcode = packet[0] >> 8 & 0xff;
        size_t size = (packet[0] >> 16 & 0x3fff) + 1; /* behind the header */

        if (type == PKT_TYPE_2 || packet[0] == (uint32_t)PKT3_NOP_PAD) {
            position++;
            continue;
        }
        if (type != PKT_TYPE_3 || size >= count - position)
            return;
        for (size_t i = 1; opcode == PKT3_SET_SH_REG && i < size; i++) {
            uint32_t number = packet[1] + (uint32_t)i - 1 - SH_REG_COMPUTE_USER_DATA_0;

            if (number < USER_SGPR_COUNT)
                registers[number] = packet[1 + i];
        }
        if (opcode == PKT3_DISPATCH_DIRECT)
            dispatch(file, registers);
        position += 1 + size;
    }
}
