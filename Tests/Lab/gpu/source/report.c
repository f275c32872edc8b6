#include "report.h"

#include "device.h"
#include "message.h"
#include "real.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv */
#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

static FILE *log_file, *dump_file;

static FILE *open_for_appending(const char *path)
{
    FILE *file = path ? real()->fopen(path, "ae") : NULL;

    if (path && !file)
        message("%s cannot be written: %s", path, strerror(errno));
    return file;
}

void report_start(void)
{
    log_file = open_for_appending(settings()->log);
    dump_file = open_for_appending(settings()->dump);
    if (log_file)
        setvbuf(log_file, NULL, _IOLBF, 0); /* whole lines, from several processes */
}

void report_unit(struct picture_record *record, const char *name, int number)
{
    size_t length = strlen(record->units);
    const char *space = length ? " " : "";

    if (number == REPORT_NO_NUMBER)
        snprintf(record->units + length, sizeof record->units - length, "%s%s", space, name);
    else
        snprintf(record->units + length, sizeof record->units - length, "%s%s%d", space, name, number);
}

struct digest {
    uint64_t hash;
    uint64_t luma_sum;
};

/* Takes what is to be seen of a plane, row by row. */
static void digest_plane(struct digest *digest, const struct picture *picture, bool luma)
{
    const uint8_t *plane = luma ? picture->luma : picture->chroma;
    uint32_t rows = luma ? picture->height : picture->height / 2;
    size_t row_size = (size_t)picture->width * (picture->bit_depth > 8 ? 2 : 1);
    uint32_t pitch = luma ? picture->luma_pitch : picture->chroma_pitch;

    if (!luma)
        row_size = row_size / 2 * 2;
    for (uint32_t y = 0; plane && y < rows; y++) {
        const uint8_t *row = plane + (size_t)y * pitch;

        for (size_t x = 0; x < row_size; x++)
            digest->hash = (digest->hash ^ row[x]) * FNV_PRIME;
        for (uint32_t x = 0; luma && x < picture->width; x++)
            digest->luma_sum += picture_sample(picture, LUMA, x, y);
        if (dump_file)
            fwrite(row, 1, row_size, dump_file);
    }
}

static void write_log(const struct picture_record *record, const struct picture *picture, const struct digest *digest)
{
    double samples = (double)picture->width * picture->height;

    fprintf(log_file, "{\"op\":\"encode\",\"codec\":\"%s\",\"frame\":%u,\"pic\":\"%c\",",
            record->h264 ? "h264" : "hevc", record->number, record->type);
    fprintf(log_file, "\"w\":%u,\"h\":%u,\"aligned_w\":%u,\"aligned_h\":%u,\"depth\":%u,", picture->width,
            picture->height, record->coded_width, record->coded_height, picture->bit_depth);
    fprintf(log_file, "\"luma_pitch\":%u,\"chroma_pitch\":%u,\"tiling\":%u,", picture->luma_pitch,
            picture->chroma_pitch, record->tiling);
    fprintf(log_file, "\"luma_mean\":%.2f,\"input_fnv1a\":\"%016llx\",\"nals\":\"%s\",",
            samples > 0 ? (double)digest->luma_sum / samples : 0, (unsigned long long)digest->hash, record->units);
    fprintf(log_file, "\"cabac\":%d,\"qp\":%d,\"rc\":%u,\"bitrate\":%u,\"peak\":%u,\"fps\":\"%u/%u\",\"vbv\":%u,",
            record->cabac, record->qp, record->rate_control, record->bit_rate, record->peak_bit_rate,
            record->frame_rate[0], record->frame_rate[1], record->vbv_size);
    fprintf(log_file, "\"bs_size\":%llu,\"bytes\":%zu,\"skip\":%d,\"err\":%d}\n",
            (unsigned long long)record->buffer_size, record->bytes, record->skipped, record->result);
}

void report_picture(struct device *device, const struct picture_record *record, const struct picture *picture)
{
    struct digest digest = {.hash = FNV_OFFSET};

    (void)device;
    if (!log_file && !dump_file)
        return;
    digest_plane(&digest, picture, true);
    digest_plane(&digest, picture, false);
    if (dump_file)
        fflush(dump_file);
    if (log_file)
        write_log(record, picture, &digest);
}

void report_session_opened(struct device *device)
{
    (void)device;
    if (log_file)
        fprintf(log_file, "{\"op\":\"init\"}\n");
}

void report_session_closed(struct device *device, unsigned pictures)
{
    (void)device;
    if (log_file)
        fprintf(log_file, "{\"op\":\"close\",\"frames\":%u}\n", pictures);
}

void report_unmodelled(struct device *device, const char *what, uint64_t number)
{
    debug("renderD%u: %s 0x%llx is not modelled", device->minor, what, (unsigned long long)number);
}
