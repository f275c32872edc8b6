/* No shader runs here. Some of Mesa 22.3's compute shaders, and what became of them in Mesa 25, are known by the
 * instructions for images that they have and by their arguments, and their effect is had without them:
 *   one that stores alone is si_compute_clear_render_target: a fresh surface is made grey; Mesa 25's si_compute_blit
 *   does the same, with the image in the list, and the colour as halves in user SGPRs 9 and 10;
 *   one that loads and stores is si_compute_copy_image: vaGetImage has a plane copied to where the CPU reads it;
 *   one without any of these, but with two buffers of a size in user SGPRs 4 to 11, of which its threads cover 16 bytes
 *   each, is Mesa 25's si_compute_clear_copy_buffer: the first is copied to the second;
 *   with one buffer in 8 to 11 it is si_compute_do_clear_or_copy: a decoder's new buffer is filled with user SGPRs 4 to 7;
 *   one that samples is vl_compositor_yuv_deint_full with VL_COMPOSITOR_WEAVE, where what it samples are two fields of
 *   the plane that it stores to. Mesa 22.3 makes a surface as an array of two layers of half the height, and the first
 *   use in an encoder moves it into a new buffer of whole pictures (va/picture.c).
 * Any other is said to be not modelled. Draws are passed over: radeonsi clears such a new buffer by one.
 *
 * Numbers: Mesa's src/amd/registers (PM4 packets, GFX9's and GFX10's registers and SQ_IMG_RSRC words), AMD's "Vega" and
 * "RDNA" Instruction Set Architecture documents (MIMG), and Mesa's si_descriptors.c and si_compute_blit.c for where
 * radeonsi puts the arguments of a compute shader: the first image's descriptor into user SGPRs 8 to 15, the arguments
 * of a copy into 5 to 7, the lower half of the address of the list with the images, backwards, and the sampler views
 * after them into 3, and that of the only constant buffer into 2. */
#include "shaders.h"

#include "device.h"
#include "models.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <drm.h>
#include <amdgpu_drm.h>

enum {
    PKT_TYPE_2 = 2, /* one dword without effect */
    PKT_TYPE_3 = 3,
    PKT3_DISPATCH_DIRECT = 0x15, /* groups in X, Y and Z, COMPUTE_DISPATCH_INITIATOR */
    PKT3_SET_SH_REG = 0x76,
    PKT3_NOP_PAD = (int)0xffff1000, /* a NOP that is its header alone */
    PARTIAL_TG_EN = 1 << 1,         /* of COMPUTE_DISPATCH_INITIATOR: the last group is smaller */
    LARGEST_PADDING = 32,           /* rows: the fields' heights are aligned to 16 */
    GFX9 = 9,
    GFX10 = 10,
    THREAD_BYTES = 16, /* of a thread that clears or copies a buffer */
    VALUE_DWORDS = 4,
    PITCH_ALIGNMENT = 256, /* GFX10's descriptors have no pitch: that of linear images is aligned */
};

/* Registers of PKT3_SET_SH_REG, in dwords from 0xb000 on. */
enum sh_register {
    COMPUTE_NUM_THREAD_X = (0xb81c - 0xb000) / 4,
    COMPUTE_NUM_THREAD_Y,
    COMPUTE_PGM_LO = (0xb830 - 0xb000) / 4, /* bits 39:8 of the program's address */
    COMPUTE_USER_DATA_0 = (0xb900 - 0xb000) / 4,
    SH_REGISTER_COUNT = COMPUTE_USER_DATA_0 + 16,
    CONSTANTS = COMPUTE_USER_DATA_0 + 2,
    SAMPLERS_AND_IMAGES = COMPUTE_USER_DATA_0 + 3,
    FIRST_BUFFER = COMPUTE_USER_DATA_0 + 4, /* of Mesa 25 */
    SECOND_BUFFER = FIRST_BUFFER + 4,
    COPY_X = COMPUTE_USER_DATA_0 + 5, /* the source's in the lower half, the target's in the upper one */
    COPY_Y,
    COPY_LAYER,
    CLEAR_OFFSET = COMPUTE_USER_DATA_0 + 8, /* of Mesa 25: x and y */
    CLEAR_COLOUR,                           /* red and green, blue and alpha */
    FIRST_IMAGE = COMPUTE_USER_DATA_0 + 8,
};

/* The list of SAMPLERS_AND_IMAGES, in dwords. */
enum descriptor_list {
    IMAGE_DWORDS = 8,
    SECOND_IMAGE = 30 * IMAGE_DWORDS,
    ONLY_IMAGE = 31 * IMAGE_DWORDS,
    FIRST_VIEW = 32 * IMAGE_DWORDS,
    VIEW_DWORDS = 16,
    VIEW_COUNT = 3, /* vl_video_buffer: a view a component */
    LIST_DWORDS = FIRST_VIEW + VIEW_COUNT * VIEW_DWORDS,
};

/* Instructions, and which of them a shader has. */
enum instruction {
    S_ENDPGM = (int)0xbf810000,
    MIMG = 0x3c, /* bits 31:26; the opcode in bits 24:18 */
    IMAGE_LOAD = 0x00,
    IMAGE_STORE = 0x08,
    IMAGE_SAMPLE = 0x20, /* and all from there on */
    LARGEST_SHADER = 16384,
    HAS_LOAD = 1 << 0,
    HAS_STORE = 1 << 1,
    HAS_SAMPLE = 1 << 2,
};

/* The upper half of the addresses whose lower half is in an SGPR: amdgpu's high_va_offset. */
#define HIGH_ADDRESS 0xffff800000000000ULL

enum { RSRC_IMG_2D_ARRAY = 13 }; /* bits 31:28 of an image's fourth word */

struct format {
    uint8_t components, component_size; /* bytes */
};

struct image {
    uint64_t address;
    uint32_t width, height, layers;
    struct format format;
    size_t pitch, element; /* bytes */
};

/* The constants of a clear. */
struct clear {
    uint32_t x, y, layer, unused;
    float colour[4];
};

static struct format gfx9_format(const uint32_t *words)
{
    switch (words[1] >> 20 & 0x3f) { /* IMG_DATA_FORMAT_… */
    case 1:                          /* 8 */
        return (struct format){1, 1};
    case 2: /* 16 */
        return (struct format){1, 2};
    case 3: /* 8_8 */
        return (struct format){2, 1};
    case 4: /* 32: two pixels of YUYV */
        return (struct format){1, 4};
    case 5: /* 16_16 */
        return (struct format){2, 2};
    default:
        return (struct format){0};
    }
}

static struct format gfx10_format(const uint32_t *words)
{
    switch (words[1] >> 20 & 0x1ff) { /* IMG_FORMAT_…_UNORM */
    case 1:
        return (struct format){1, 1};
    case 7:
        return (struct format){1, 2};
    case 14:
        return (struct format){2, 1};
    case 20: /* …_32_UINT */
        return (struct format){1, 4};
    case 23:
        return (struct format){2, 2};
    default:
        return (struct format){0};
    }
}

static void read_gfx9_image(const uint32_t *words, struct image *image)
{
    image->format = gfx9_format(words);
    image->element = (size_t)image->format.components * image->format.component_size;
    image->width = (words[2] & 0x3fff) + 1;
    image->height = (words[2] >> 14 & 0x3fff) + 1;
    image->pitch = ((words[4] >> 13 & 0xffff) + 1) * image->element;
}

static void read_gfx10_image(const uint32_t *words, struct image *image)
{
    image->format = gfx10_format(words);
    image->element = (size_t)image->format.components * image->format.component_size;
    image->width = ((words[2] & 0xfff) << 2 | words[1] >> 30) + 1;
    image->height = (words[2] >> 14 & 0xffff) + 1;
    image->pitch = (image->width * image->element + PITCH_ALIGNMENT - 1) & ~(size_t)(PITCH_ALIGNMENT - 1);
}

/* False if it is none, or none in rows. */
static bool read_image(unsigned generation, const uint32_t *words, struct image *image)
{
    bool array = words[3] >> 28 == RSRC_IMG_2D_ARRAY, linear = (words[3] >> 20 & 0x1f) == 0;

    *image = (struct image){
        .address = ((uint64_t)(words[1] & 0xff) << 32 | words[0]) << 8,
        .layers = array ? (words[4] & 0x1fff) + 1 : 1,
    };
    if (generation == GFX9)
        read_gfx9_image(words, image);
    else
        read_gfx10_image(words, image);
    return image->address && image->element && linear && image->width * image->element <= image->pitch;
}

/* A rectangle of a layer; null where it is not inside, or not in memory. */
static uint8_t *pixels(const struct file *file, const struct image *image, uint32_t x, uint32_t y, uint32_t layer,
                       uint32_t width, uint32_t height)
{
    size_t size = image->pitch * image->height;
    uint8_t *bytes = mapping_bytes(&file->handles, image->address, size * image->layers);

    if (!bytes || layer >= image->layers || x > image->width || width > image->width - x || y > image->height ||
        height > image->height - y)
        return NULL;
    return bytes + layer * size + y * image->pitch + x * image->element;
}

/* The address whose lower half is in an SGPR; scalar loads take no notice of its lowest bits. */
static uint64_t address_in(uint32_t sgpr)
{
    return HIGH_ADDRESS | (sgpr & ~3U);
}

/* ---- What the shaders do: false if it is something else */

static uint32_t unorm(float value, uint32_t largest)
{
    if (!(value > 0))
        return 0;
    return value < 1 ? (uint32_t)(value * (float)largest + 0.5F) : largest;
}

/* A normal number's value; camrec's lab has no others to clear with. */
static float half(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 0x1f);

    return exponent ? ldexpf((float)(1024 + (bits & 0x3ff)), exponent - 25) * (bits & 0x8000 ? -1 : 1) : 0;
}

static bool fill(const struct file *file, const struct image *image, uint32_t layer, const float *colour)
{
    uint32_t width = image->width, height = image->height, values[2];
    uint8_t *target = pixels(file, image, 0, 0, layer, width, height);

    if (image->format.component_size > sizeof(uint16_t))
        return false; /* those are copied only */
    for (size_t i = 0; i < image->format.components; i++)
        values[i] = unorm(colour[i], image->format.component_size == 1 ? UINT8_MAX : UINT16_MAX);
    for (size_t y = 0; target && y < height; y++)
        for (size_t i = 0; i < (size_t)width * image->format.components; i++)
            memcpy(target + y * image->pitch + i * image->format.component_size, &values[i % image->format.components],
                   image->format.component_size); /* little-endian */
    return target != NULL;
}

static bool clear(const struct file *file, const uint32_t *registers, const struct image *image)
{
    const struct clear *constants = mapping_bytes(&file->handles, address_in(registers[CONSTANTS]), sizeof *constants);

    return constants && !constants->x && !constants->y && fill(file, image, constants->layer, constants->colour);
}

/* Mesa 25's. */
static bool clear_only_image(const struct file *file, const uint32_t *registers)
{
    const uint32_t *list =
        mapping_bytes(&file->handles, address_in(registers[SAMPLERS_AND_IMAGES]), LIST_DWORDS * sizeof *list);
    uint32_t colour = registers[CLEAR_COLOUR];
    struct image image;

    return list && !registers[CLEAR_OFFSET] && read_image(file->device->model.amd->gfx_major, list + ONLY_IMAGE, &image) &&
           fill(file, &image, 0, (const float[]){half(colour & 0xffff), half(colour >> 16)});
}

/* How many threads a dispatch has in a direction, by its register for the size of a group. */
static uint32_t threads(uint32_t groups, uint32_t size, uint32_t initiator)
{
    uint32_t full = size & 0xffff, partial = size >> 16;

    return groups && initiator & PARTIAL_TG_EN && partial ? (groups - 1) * full + partial : groups * full;
}

/* Mesa 25's threads copy more than a pixel each; how many is in the shader alone. Where they can be all of an image, they
 * are: planes are copied whole. */
static void cover(const struct image *from, const struct image *to, uint32_t *width, uint32_t *height)
{
    if (!*width || !*height || from->width != to->width || from->height != to->height || from->width % *width ||
        from->height % *height)
        return;
    *width = from->width;
    *height = from->height;
}

static bool copy(const struct file *file, const uint32_t *registers, const uint32_t *packet, const struct image *from,
                 const struct image *to)
{
    uint32_t width = threads(packet[1], registers[COMPUTE_NUM_THREAD_X], packet[4]);
    uint32_t height = threads(packet[2], registers[COMPUTE_NUM_THREAD_Y], packet[4]);
    uint32_t x = registers[COPY_X], y = registers[COPY_Y], layer = registers[COPY_LAYER];
    const uint8_t *source;
    uint8_t *target;

    if (!x && !y)
        cover(from, to, &width, &height);
    source = pixels(file, from, x & 0xffff, y & 0xffff, layer & 0xffff, width, height);
    target = pixels(file, to, x >> 16, y >> 16, layer >> 16, width, height);

    if (!source || !target || from->element != to->element || packet[3] != 1)
        return false;
    for (size_t row = 0; row < height; row++)
        memmove(target + row * to->pitch, source + row * from->pitch, width * from->element);
    return true;
}

/* A buffer's descriptor: its bytes, null where it is none. */
static uint8_t *buffer(const struct file *file, const uint32_t *words)
{
    /* SQ_BUF_RSRC_WORD3 of a buffer of bytes */
    uint32_t whole = file->device->model.amd->gfx_major == GFX9 ? 0x27fac : 0x31016fac;
    uint64_t address = 0xffff000000000000ULL | (uint64_t)(words[1] & 0xffff) << 32 | words[0];

    return words[3] == whole && !(words[1] >> 16) ? mapping_bytes(&file->handles, address, words[2]) : NULL;
}

/* Each thread has 16 bytes, and those beyond the end nothing to do. */
static bool clear_buffer(const struct file *file, const uint32_t *registers, const uint32_t *packet)
{
    const uint32_t *value = registers + FIRST_BUFFER, size = registers[SECOND_BUFFER + 2];
    uint8_t *target = buffer(file, registers + SECOND_BUFFER);
    uint64_t covered = (uint64_t)packet[1] * registers[COMPUTE_NUM_THREAD_X] * THREAD_BYTES;

    if (!target || size % sizeof *value || covered < size || packet[2] != 1 || packet[3] != 1)
        return false;
    for (size_t i = 0; i < size / sizeof *value; i++)
        memcpy(target + i * sizeof *value, &value[i % VALUE_DWORDS], sizeof *value);
    return true;
}

static bool copy_buffer(const struct file *file, const uint32_t *registers, const uint32_t *packet)
{
    const uint32_t *from = registers + FIRST_BUFFER, *to = registers + SECOND_BUFFER;
    const uint8_t *source = buffer(file, from);
    uint8_t *target = buffer(file, to);
    uint32_t covered = threads(packet[1], registers[COMPUTE_NUM_THREAD_X], packet[4]) * THREAD_BYTES;

    if (!source || !target || from[2] != to[2] || covered != from[2] || packet[2] != 1 || packet[3] != 1)
        return false;
    memmove(target, source, covered);
    return true;
}

static bool are_fields_of(const struct image *fields, const struct image *plane)
{
    return fields->layers == 2 && fields->element == plane->element && fields->width == plane->width &&
           2 * fields->height >= plane->height && 2 * fields->height <= plane->height + LARGEST_PADDING;
}

static bool weave(const struct file *file, const struct image *fields, const struct image *plane)
{
    size_t field = fields->pitch * fields->height, row = plane->width * plane->element;
    const uint8_t *source = mapping_bytes(&file->handles, fields->address, 2 * field);
    uint8_t *target = mapping_bytes(&file->handles, plane->address, plane->pitch * plane->height);

    for (size_t y = 0; source && target && y < plane->height; y++)
        memcpy(target + y * plane->pitch, source + y % 2 * field + y / 2 * fields->pitch, row);
    return source && target;
}

/* ---- Dispatches */

static unsigned read_shader(const struct file *file, uint64_t address)
{
    unsigned found = 0;

    for (size_t i = 0; i < LARGEST_SHADER; i++) {
        const uint32_t *word = mapping_bytes(&file->handles, address + i * sizeof *word, sizeof *word);
        uint32_t opcode = word ? *word >> 18 & 0x7f : 0;

        if (!word || *word == (uint32_t)S_ENDPGM)
            break;
        if (*word >> 26 != MIMG)
            continue;
        if (opcode >= IMAGE_SAMPLE)
            found |= HAS_SAMPLE;
        else
            found |= opcode == IMAGE_LOAD ? HAS_LOAD : opcode == IMAGE_STORE ? HAS_STORE : 0;
    }
    return found;
}

static bool dispatch(const struct file *file, const uint32_t *registers, const uint32_t *packet)
{
    unsigned generation = file->device->model.amd->gfx_major;
    unsigned shader = read_shader(file, HIGH_ADDRESS | (uint64_t)registers[COMPUTE_PGM_LO] << 8);
    struct image image, other;
    const uint32_t *list;

    if (!shader)
        return copy_buffer(file, registers, packet) || clear_buffer(file, registers, packet);
    if (!read_image(generation, registers + FIRST_IMAGE, &image))
        return shader == HAS_STORE && clear_only_image(file, registers);
    if (shader == HAS_STORE)
        return clear(file, registers, &image);
    list = mapping_bytes(&file->handles, address_in(registers[SAMPLERS_AND_IMAGES]), LIST_DWORDS * sizeof *list);
    if (!list)
        return false;
    if (shader == (HAS_LOAD | HAS_STORE))
        return read_image(generation, list + SECOND_IMAGE, &other) && copy(file, registers, packet, &image, &other);
    for (size_t i = 0; shader & HAS_SAMPLE && image.layers == 1 && i < VIEW_COUNT; i++)
        if (read_image(generation, list + FIRST_VIEW + i * VIEW_DWORDS, &other) && are_fields_of(&other, &image))
            return weave(file, &other, &image);
    return false;
}

void shaders_execute(struct file *file, const uint32_t *words, size_t count)
{
    enum { DISPATCH_DWORDS = 4 };
    uint32_t registers[SH_REGISTER_COUNT] = {0};

    if (file->device->model.amd->gfx_major != GFX9 && file->device->model.amd->gfx_major != GFX10)
        return;
    for (size_t position = 0; position < count;) {
        const uint32_t *packet = words + position;
        unsigned type = packet[0] >> 30, opcode = packet[0] >> 8 & 0xff;
        size_t size = (packet[0] >> 16 & 0x3fff) + 1; /* behind the header */

        if (type == PKT_TYPE_2 || packet[0] == (uint32_t)PKT3_NOP_PAD) {
            position++;
            continue;
        }
        if (type != PKT_TYPE_3 || size >= count - position) {
            report_undone(file->device, "a packet of the graphics ring");
            return;
        }
        for (size_t i = 1; opcode == PKT3_SET_SH_REG && i < size; i++)
            if (packet[1] < SH_REGISTER_COUNT && packet[1] + i - 1 < SH_REGISTER_COUNT)
                registers[packet[1] + i - 1] = packet[1 + i];
        if (opcode == PKT3_DISPATCH_DIRECT && (size < DISPATCH_DWORDS || !dispatch(file, registers, packet)))
            report_undone(file->device, "a compute shader");
        position += 1 + size;
    }
}
