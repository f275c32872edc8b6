#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"
#include "message.h"
#include "pictures.h"
#include "sound.h"
#include "usbip.h"
#include "uvc.h"

void stream_prepare(struct camera *camera)
{
    camera->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    camera->payload = malloc(STREAM_HEADER_MAX + PICTURE_MAX);
    if (camera->timer < 0 || !camera->payload)
        die("stream");
}

/* In units of 100 ns; 0 stops it. */
static void set_timer(const struct camera *camera, uint32_t interval)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = interval * 100L};
    if (timerfd_settime(camera->timer, 0, &(struct itimerspec){time, time}, NULL) < 0)
        die("timerfd_settime");
}

void stream_start(struct camera *camera)
{
    struct size size = camera_stream_size(camera);
    note("stream on: %s %dx%d, interval %u", camera->commit.format == FORMAT_MJPEG ? "MJPEG" : "YUYV", size.width,
         size.height, camera->commit.interval);
    camera->streaming = true;
    camera->payload_active = false;
    camera->frame_number = camera->late = 0;
    set_timer(camera, camera->commit.interval);
}

void stream_stop(struct camera *camera)
{
    if (camera->streaming)
        note("stream off: %u frames, %u ticks missed", camera->frame_number, camera->late);
    camera->streaming = camera->halted = camera->payload_active = false;
    set_timer(camera, 0);
}

/* UVC 2.4.3.3: the payload header. One payload transfer carries one frame. */
static size_t put_payload_header(const struct camera *camera, uint8_t *p)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint32_t clock = (uint32_t)(time.tv_sec * CLOCK_HZ + time.tv_nsec / (1000000000 / CLOCK_HZ));

    p[0] = camera->sends_source_clock ? STREAM_HEADER_MAX : 6;
    p[1] = (uint8_t)(BFH_EOH | BFH_EOF | BFH_PTS | (camera->frame_number & BFH_FID));
    put32(p + 2, clock);
    if (camera->sends_source_clock) {
        p[1] |= BFH_SCR;
        put32(p + 6, clock);
        put16(p + 10, clock / 1000 & 0x7ff); /* USB frame number: 1 kHz, 11 bits */
    }
    return p[0];
}

static bool take_one(int *faults)
{
    return *faults > 0 && (*faults)--;
}

static void new_frame(struct camera *camera)
{
    size_t header = put_payload_header(camera, camera->payload);
    uint8_t *picture = camera->payload + header;
    size_t length = picture_draw(camera, picture);

    if (take_one(&camera->error_frames)) {
        camera->payload[1] |= BFH_ERR;
        camera->stream_error = STREAM_ERR_DATA_DISCONTINUITY;
    }
    if (take_one(&camera->short_frames))
        length /= 2;
    if (take_one(&camera->corrupt_frames)) {
        uint32_t noise = camera->frame_number + 1;
        for (size_t i = length / 2; i < length * 3 / 4; i++)
            picture[i] = (uint8_t)((noise = noise * 1664525 + 1013904223) >> 24);
    }
    camera->payload_length = header + length;
    camera->payload_sent = 0;
    camera->payload_active = true;
    if (picture_begins_flash(camera))
        sound_clap(camera);
    camera->frame_number++;
}

bool stream_wait(struct camera *camera, struct waiting_transfer transfer)
{
    if (camera->waiting_count == WAITING_MAX)
        return false;
    camera->waiting[camera->waiting_count++] = transfer;
    return true;
}

static void remove_waiting(struct camera *camera, int index)
{
    struct waiting_transfer *place = camera->waiting + index;
    camera->waiting_count--;
    memmove(place, place + 1, (size_t)(camera->waiting_count - index) * sizeof *place);
}

bool stream_unlink(struct camera *camera, uint32_t number)
{
    for (int i = 0; i < camera->waiting_count; i++) {
        if (camera->waiting[i].number == number) {
            remove_waiting(camera, i);
            return true;
        }
    }
    return false;
}

/* USB 5.8.3: a short packet ends a transfer, so a payload that fills its last one exactly is followed by an empty one. */
void stream_pump(struct camera *camera)
{
    while (camera->usb >= 0 && camera->waiting_count > 0 &&
           (camera->halted || (camera->payload_active && !camera->frozen))) {
        struct waiting_transfer transfer = camera->waiting[0];
        remove_waiting(camera, 0);
        if (camera->halted) {
            usbip_reply(camera, transfer.number, -EPIPE, NULL, 0);
            continue;
        }
        size_t left = camera->payload_length - camera->payload_sent;
        size_t length = transfer.length < left ? transfer.length : left;
        usbip_reply(camera, transfer.number, 0, camera->payload + camera->payload_sent, length);
        camera->payload_sent += length;
        camera->payload_active = length == transfer.length;
    }
}

void stream_tick(struct camera *camera)
{
    uint64_t ticks;
    if (read(camera->timer, &ticks, sizeof ticks) != sizeof ticks || !camera->streaming || camera->frozen)
        return;
    camera->late += (unsigned)ticks - 1;
    if (camera->payload_active)
        camera->late++; /* the host has not taken the last frame yet */
    else
        new_frame(camera);
    stream_pump(camera);
}
