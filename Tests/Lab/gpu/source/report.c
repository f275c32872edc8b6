#include "report.h"

#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "engine.h"
#include "message.h"
#include "real.h"
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv */
#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

static FILE *log_file, *dump_file;
static pid_t process; /* that opened a node */

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
    fprintf(log_file, "\"cabac\":%d,\"qp\":%d,\"rc\":%u,\"bitrate\":%u,\"peak\":%u,\"fps\":\"%u/%u\",\"vbv\":%u,\"vbv_level\":%u,",
            record->cabac, record->qp, record->rate_control, record->bit_rate, record->peak_bit_rate,
            record->frame_rate[0], record->frame_rate[1], record->vbv_size, record->vbv_level);
    fprintf(log_file, "\"bs_size\":%llu,\"bytes\":%zu,\"skip\":%d,\"err\":%d}\n",
            (unsigned long long)record->buffer_size, record->bytes, record->skipped, record->result);
}

static void count(struct statistics *statistics, const struct picture_record *record)
{
    statistics->pictures[record->h264]++;
    statistics->intra += record->type == 'I';
    statistics->skipped += record->skipped;
    statistics->failed += record->result != PICTURE_CODED;
    statistics->coded_bytes += record->bytes;
}

void report_picture(struct device *device, const struct picture_record *record, const struct picture *picture)
{
    struct digest digest = {.hash = FNV_OFFSET};

    count(&device->statistics, record);
    if (record->result == PICTURE_OVERFLOW && engine_limits_coded(device))
        device->statistics.faults++;
    if (!log_file && !dump_file)
        return;
    if (record->result != PICTURE_IMPOSSIBLE) { /* its size and pitches are whatever the driver has said */
        digest_plane(&digest, picture, true);
        digest_plane(&digest, picture, false);
    }
    if (dump_file)
        fflush(dump_file);
    if (log_file)
        write_log(record, picture, &digest);
}

void report_decoded(struct device *device, const struct decode_record *record, const struct decoded *picture)
{
    static const char *const codecs[DECODER_CODECS] = {"h264", "hevc", "jpeg"};
    struct statistics *statistics = &device->statistics;

    if (record->result == PICTURE_CODED)
        statistics->decoded[record->codec]++;
    else
        statistics->undecoded++;
    statistics->damaged += record->result == PICTURE_CODED && picture->damaged;
    if (log_file)
        fprintf(log_file, "{\"op\":\"decode\",\"codec\":\"%s\",\"frame\":%u,\"w\":%u,\"h\":%u,\"bytes\":%zu,\"err\":%d}\n",
                codecs[record->codec], record->number, picture->width, picture->height, record->bytes,
                record->result);
}

void report_opened(struct device *device)
{
    process = getpid();
    device->statistics.opened++;
}

void report_memory(struct device *device, uint64_t bytes)
{
    if (bytes > device->statistics.memory_peak)
        device->statistics.memory_peak = bytes;
}

void report_session_opened(struct device *device)
{
    device->statistics.sessions_opened++;
    if (log_file)
        fprintf(log_file, "{\"op\":\"init\"}\n");
}

void report_session_closed(struct device *device, unsigned pictures)
{
    device->statistics.sessions_closed++;
    if (log_file)
        fprintf(log_file, "{\"op\":\"close\",\"frames\":%u}\n", pictures);
}

/* True the first time. */
static bool remember(struct statistics *statistics, const char *text)
{
    for (size_t i = 0; i < statistics->unmodelled_count; i++)
        if (strncmp(statistics->unmodelled[i], text, UNMODELLED_SIZE - 1) == 0)
            return false;
    if (statistics->unmodelled_count == UNMODELLED_LIMIT)
        return false;
    snprintf(statistics->unmodelled[statistics->unmodelled_count++], UNMODELLED_SIZE, "%s", text);
    return true;
}

void report_unmodelled(struct device *device, const char *what, uint64_t number)
{
    char text[UNMODELLED_SIZE];

    snprintf(text, sizeof text, "%s 0x%llx", what, (unsigned long long)number);
    if (remember(&device->statistics, text))
        message("renderD%u: %s is not modelled", device->minor, text);
}

void report_undone(struct device *device, const char *what)
{
    if (remember(&device->statistics, what))
        message("renderD%u: %s is not modelled; its results are missing", device->minor, what);
}

/* ---- The end */

/* "name": number, and a comma before it where it is not the first of its object. */
static void write_number(FILE *file, const char *separator, const char *name, uint64_t number)
{
    fprintf(file, "%s\"%s\":%llu", separator, name, (unsigned long long)number);
}

/* A string of JSON. What is no UTF-8 stays as it is. */
static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char character = (unsigned char)*text;

        if (character == '"' || character == '\\')
            fprintf(file, "\\%c", character);
        else if (character < ' ')
            fprintf(file, "\\u%04x", character);
        else
            fputc(character, file);
    }
    fputc('"', file);
}

static uint64_t bytes_of(const struct handle_table *handles)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < handles->count; i++)
        if (handles->buffers[i])
            bytes += handles->buffers[i]->size;
    return bytes;
}

static void add_leftovers(struct leftovers *left, const struct file *file)
{
    left->buffers += handles_in_use(&file->handles);
    left->bytes += bytes_of(&file->handles);
    left->mappings += file->handles.mapping_count;
    left->contexts += object_count(file, OBJECT_CONTEXT);
    left->buffer_lists += object_count(file, OBJECT_BUFFER_LIST);
    left->address_spaces += object_count(file, OBJECT_ADDRESS_SPACE);
    left->syncobjs += object_count(file, OBJECT_SYNCOBJ);
}

void report_closed(const struct file *file)
{
    if (!file->inherited)
        add_leftovers(&file->device->statistics.closed, file);
}

static void write_pictures(FILE *file, const struct statistics *statistics)
{
    write_number(file, "", "opened", statistics->opened);
    write_number(file, ",", "ioctls", statistics->ioctls);
    write_number(file, ",", "submissions", statistics->submissions);
    write_number(file, ",", "sessions", statistics->sessions_opened);
    fprintf(file, ",\"pictures\":{");
    write_number(file, "", "h264", statistics->pictures[true]);
    write_number(file, ",", "h265", statistics->pictures[false]);
    write_number(file, ",", "intra", statistics->intra);
    write_number(file, ",", "skipped", statistics->skipped);
    write_number(file, ",", "failed", statistics->failed);
    fprintf(file, "}");
    write_number(file, ",", "coded_bytes", statistics->coded_bytes);
    fprintf(file, ",\"decoded\":{");
    write_number(file, "", "h264", statistics->decoded[DECODER_H264]);
    write_number(file, ",", "h265", statistics->decoded[DECODER_H265]);
    write_number(file, ",", "jpeg", statistics->decoded[DECODER_JPEG]);
    write_number(file, ",", "damaged", statistics->damaged);
    write_number(file, ",", "failed", statistics->undecoded);
    fprintf(file, "}");
    write_number(file, ",", "converted", statistics->converted);
    write_number(file, ",", "memory_peak", statistics->memory_peak);
    write_number(file, ",", "imports", statistics->imports);
    write_number(file, ",", "faults", statistics->faults);
}

static void write_leftovers(FILE *file, const struct device *device)
{
    /* First: nodes that were closed after our back are noticed by this, and what was left on them with it. */
    size_t nodes = descriptors_count(device, DESCRIPTOR_NODE), dma_bufs = descriptors_count(device, DESCRIPTOR_DMABUF);
    size_t fences = descriptors_count(device, DESCRIPTOR_FENCE);
    uint64_t opened = device->statistics.sessions_opened, closed = device->statistics.sessions_closed;
    uint64_t sessions = opened > closed ? opened - closed : 0; /* a forked child may close its parent's */
    struct leftovers left = device->statistics.closed;

    for (const struct file *open = file_next(NULL); open; open = file_next(open))
        if (open->device == device && !open->inherited)
            add_leftovers(&left, open);
    fprintf(file, ",\"left\":{");
    write_number(file, "", "total",
                 nodes + dma_bufs + fences + sessions + left.buffers + left.mappings + left.contexts +
                     left.buffer_lists + left.address_spaces + left.syncobjs);
    write_number(file, ",", "nodes", nodes);
    write_number(file, ",", "dma_bufs", dma_bufs);
    write_number(file, ",", "fences", fences);
    write_number(file, ",", "buffers", left.buffers);
    write_number(file, ",", "bytes", left.bytes);
    write_number(file, ",", "mappings", left.mappings);
    write_number(file, ",", "contexts", left.contexts);
    write_number(file, ",", "buffer_lists", left.buffer_lists);
    write_number(file, ",", "address_spaces", left.address_spaces);
    write_number(file, ",", "syncobjs", left.syncobjs);
    write_number(file, ",", "sessions", sessions);
    fprintf(file, "}");
}

static void write_device(FILE *file, const struct device *device)
{
    const struct statistics *statistics = &device->statistics;

    fprintf(file, "{\"node\":\"/dev/dri/renderD%u\",\"model\":\"%s\",\"device_id\":\"0x%04x\",", device->minor,
            device->model.name, device->model.device_id);
    write_pictures(file, statistics);
    write_leftovers(file, device);
    fprintf(file, ",\"unmodelled\":[");
    for (size_t i = 0; i < statistics->unmodelled_count; i++)
        fprintf(file, "%s\"%s\"", i ? "," : "", statistics->unmodelled[i]);
    fprintf(file, "]}");
}

void report_forked(void)
{
    if (!process)
        return; /* no node was opened: there is nothing yet */
    process = 0;
    for (size_t i = 0; i < device_count(); i++)
        device_at(i)->statistics = (struct statistics){0};
    for (struct file *file = file_next(NULL); file; file = file_next(file))
        file->inherited = true;
}

static void write_report(int status, void *unused)
{
    FILE *file;

    (void)status;
    (void)unused;
    /* Not a child that was forked and never opened a node of its own. */
    if (process != getpid())
        return;
    file = open_for_appending(settings()->report);
    if (!file)
        return;
    lock();
    fprintf(file, "{\"program\":");
    write_text(file, program_invocation_short_name);
    fprintf(file, ",\"pid\":%d,\"devices\":[", (int)process);
    for (size_t i = 0; i < device_count(); i++) {
        fprintf(file, "%s", i ? "," : "");
        write_device(file, device_at(i));
    }
    fprintf(file, "]}\n");
    unlock();
    fclose(file);
}

void report_end(void)
{
    /* Libraries may close their nodes in destructors that run after ours: what is registered while exit runs them is
     * called after all of them. */
    if (settings()->report && on_exit(write_report, NULL))
        write_report(0, NULL);
}
