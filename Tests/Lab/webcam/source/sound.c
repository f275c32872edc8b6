#include "sound.h"

#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"
#include "message.h"

enum { TICK_NS = 4000000, PACKET_NS = 1000000, CLICK_NS = 20000000, SAMPLES = SOUND_PACKET / 2, LOUD = 20000 };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void set_timer(const struct camera *camera, long interval)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = interval};
    if (timerfd_settime(camera->sound_timer, 0, &(struct itimerspec){time, time}, NULL) < 0)
        die("timerfd_settime");
}

void sound_prepare(struct camera *camera)
{
    camera->sound_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (camera->sound_timer < 0)
        die("sound");
}

void sound_start(struct camera *camera)
{
    note("sound on");
    camera->listening = true;
    camera->sound_time = now();
    set_timer(camera, TICK_NS);
}

void sound_stop(struct camera *camera)
{
    if (camera->listening)
        note("sound off");
    camera->listening = false;
    set_timer(camera, 0);
}

bool sound_wait(struct camera *camera, const struct usbip_request *request)
{
    if (!camera->has_microphone || camera->sound_count == WAITING_MAX)
        return false;
    struct waiting_sound *sound = camera->sounds + camera->sound_count;
    *sound = (struct waiting_sound){.number = request->number, .count = request->packet_count};
    for (int i = 0; i < sound->count; i++) {
        sound->offsets[i] = request->offsets[i];
        sound->lengths[i] = request->lengths[i] < SOUND_PACKET ? request->lengths[i] : SOUND_PACKET;
    }
    camera->sound_count++;
    return true;
}

static void remove_sound(struct camera *camera, int index)
{
    struct waiting_sound *place = camera->sounds + index;
    camera->sound_count--;
    memmove(place, place + 1, (size_t)(camera->sound_count - index) * sizeof *place);
}

bool sound_unlink(struct camera *camera, uint32_t number)
{
    for (int i = 0; i < camera->sound_count; i++) {
        if (camera->sounds[i].number == number) {
            remove_sound(camera, i);
            return true;
        }
    }
    return false;
}

void sound_clap(struct camera *camera)
{
    camera->clap_time = now();
}

/* A square wave of 1 kHz while it clicks, otherwise a little noise, as a microphone has. */
static int16_t sample_at(const struct camera *camera, int64_t time)
{
    static uint32_t noise;
    int64_t since = time - camera->clap_time;
    if (camera->clap_time && since >= 0 && since < CLICK_NS)
        return since / (PACKET_NS / 2) % 2 ? -LOUD : LOUD;
    noise = noise * 1664525 + 1013904223;
    return (int16_t)((noise >> 24) % 21) - 10;
}

/* Of all packets of a transfer. */
static void fill(struct camera *camera, const struct waiting_sound *sound, uint8_t *data)
{
    for (int i = 0; i < sound->count; i++) {
        for (unsigned sample = 0; sample < sound->lengths[i] / 2; sample++, data += 2)
            put16(data, (uint16_t)sample_at(camera, camera->sound_time + (int64_t)sample * PACKET_NS / SAMPLES));
        camera->sound_time += PACKET_NS;
    }
}

void sound_tick(struct camera *camera)
{
    static uint8_t data[PACKETS_MAX * SOUND_PACKET];
    uint64_t ticks;
    if (read(camera->sound_timer, &ticks, sizeof ticks) != sizeof ticks || !camera->listening)
        return;
    int64_t end = now();
    while (camera->usb >= 0 && camera->sound_count > 0 &&
           camera->sound_time + (int64_t)camera->sounds[0].count * PACKET_NS <= end) {
        struct waiting_sound sound = camera->sounds[0];
        remove_sound(camera, 0);
        fill(camera, &sound, data);
        usbip_reply_packets(camera, &sound, data);
    }
    /* What the host has no transfer for is lost. */
    if (camera->sound_count == 0 && camera->sound_time < end)
        camera->sound_time = end;
}
