#include "pictures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

enum { JPEGS_MAX = 100, COMMENT_MAX = 36, FLASH_FRAMES = 2 };

struct jpeg {
    uint8_t *data;
    size_t length, head; /* head: bytes up to the end of APP0 */
};

static struct {
    struct jpeg images[JPEGS_MAX];
    unsigned count;
} films[2][SIZE_COUNT];

static struct jpeg load_jpeg(const char *path, int file, size_t longest)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        die(path);
    struct jpeg jpeg = {.data = malloc(longest), .length = (size_t)status.st_size, .head = 2};
    if (!jpeg.data || jpeg.length < 64 || jpeg.length > longest ||
        read(file, jpeg.data, jpeg.length) != (ssize_t)jpeg.length) {
        note("%s: %zu bytes are no picture of this size", path, jpeg.length);
        exit(1);
    }
    if (jpeg.data[2] == 0xff && jpeg.data[3] == 0xe0) /* after SOI; JFIF wants APP0 to stay first */
        jpeg.head += 2u + (size_t)(jpeg.data[4] << 8 | jpeg.data[5]);
    if (jpeg.head > jpeg.length) {
        note("%s: its APP0 is longer than the file", path);
        exit(1);
    }
    return jpeg;
}

static void load_film(const char *folder, int set, int frame)
{
    struct size size = camera_size(set, FORMAT_MJPEG, frame);
    for (unsigned i = 0; i < JPEGS_MAX; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%dx%d/%04u.jpg", folder, size.width, size.height, i + 1);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0 && i > 0 && errno == ENOENT)
            return;
        if (file < 0)
            die(path);
        films[set][frame - 1].images[i] = load_jpeg(path, file, (size_t)(size.width * size.height));
        films[set][frame - 1].count++;
        close(file);
    }
}

void pictures_load(const char *folder)
{
    for (int set = 0; set < 2; set++)
        for (int frame = 1; frame <= SIZE_COUNT; frame++)
            load_film(folder, set, frame);
}

/* A stored picture with a comment segment "frame=NNNNNNNNNN" put in. */
static size_t draw_jpeg(const struct camera *camera, uint8_t *out)
{
    unsigned count = films[camera->set][camera->commit.frame - 1].count;
    const struct jpeg *jpeg = &films[camera->set][camera->commit.frame - 1].images[camera->frame_number % count];
    memcpy(out, jpeg->data, jpeg->head);
    uint8_t *comment = out + jpeg->head;
    size_t length = (size_t)snprintf((char *)comment + 4, COMMENT_MAX - 4, "frame=%010u", camera->frame_number);
    memcpy(comment, (uint8_t[]){0xff, 0xfe, 0, (uint8_t)(length + 2)}, 4);
    memcpy(comment + 4 + length, jpeg->data + jpeg->head, jpeg->length - jpeg->head);
    return jpeg->length + 4 + length;
}

static unsigned number_in_second(const struct camera *camera)
{
    return camera->frame_number % (10000000 / camera->commit.interval);
}

bool picture_begins_flash(const struct camera *camera)
{
    return camera->has_microphone && camera->commit.format == FORMAT_YUYV && number_in_second(camera) == 0;
}

/* A diagonal gradient that moves by four pixels a frame. The luma of the first 16 pixels is the frame number modulo
 * 65536, highest bit first: 235 is 1, 16 is 0. */
static size_t draw_yuyv(const struct camera *camera, uint8_t *out)
{
    static uint8_t ramp[2 * (640 + 256)]; /* the widest of the sizes, from any of 256 places on */
    struct size size = camera_stream_size(camera);
    size_t pitch = 2 * (size_t)size.width;

    for (size_t i = 0; i < sizeof ramp / 2; i++) {
        int luma = (int)(i % 256) + camera->brightness;
        ramp[2 * i] = (uint8_t)(luma < 0 ? 0 : luma > 255 ? 255 : luma);
        ramp[2 * i + 1] = 128;
    }
    for (unsigned y = 0; y < (unsigned)size.height; y++)
        memcpy(out + y * pitch, ramp + 2 * ((y / 2 * 2 + 4 * camera->frame_number) % 256), pitch);
    if (camera->has_microphone && number_in_second(camera) < FLASH_FRAMES)
        for (size_t i = 0; i < pitch * (size_t)size.height; i += 2)
            out[i] = 235;
    for (unsigned i = 0; i < 16; i++) {
        out[2 * i] = camera->frame_number >> (15 - i) & 1 ? 235 : 16;
        out[2 * i + 1] = 128;
    }
    return pitch * (size_t)size.height;
}

size_t picture_draw(const struct camera *camera, uint8_t *out)
{
    return camera->commit.format == FORMAT_MJPEG ? draw_jpeg(camera, out) : draw_yuyv(camera, out);
}
