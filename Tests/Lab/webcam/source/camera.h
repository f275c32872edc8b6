/* The camera: what it offers, and the state that its parts share. */
#ifndef CAMERA_H
#define CAMERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INTERFACE_VC, INTERFACE_VS, INTERFACE_AC, INTERFACE_AS, INTERFACE_COUNT };
enum { ID_CAMERA = 1, ID_PROCESSING, ID_OUTPUT };
enum { ID_MICROPHONE = 1, ID_SOUND }; /* the audio function counts by itself */
enum { FORMAT_MJPEG = 1, FORMAT_YUYV, FORMAT_COUNT = 2, SIZE_COUNT = 2, INTERVAL_COUNT = 2 };
enum { ENDPOINT_VIDEO = 1, ENDPOINT_VIDEO_ADDRESS = 0x80 | ENDPOINT_VIDEO, ENDPOINT_VIDEO_PACKET = 512 };
enum { ENDPOINT_SOUND = 2, ENDPOINT_SOUND_ADDRESS = 0x80 | ENDPOINT_SOUND };
enum { SOUND_RATE = 48000, SOUND_PACKET = SOUND_RATE / 1000 * 2 }; /* one channel, 16 bits; a packet each millisecond */
enum { CLOCK_HZ = 1000000 };
enum { BRIGHTNESS_MIN = -64, BRIGHTNESS_MAX = 64, BRIGHTNESS_DEFAULT = 0 };
enum { WAITING_MAX = 64, PACKETS_MAX = 64 };

struct size {
    int width, height;
};

/* The interval between two frames, in units of 100 ns: 30 and 15 frames a second. */
extern const uint32_t camera_intervals[INTERVAL_COUNT];

/* UVC 4.3.1.1, table 4-75, in host byte order; `format` and `frame` count from one. */
struct streaming_control {
    uint8_t format, frame;
    uint32_t interval, max_frame, max_payload;
};

struct camera {
    const char *serial, *frames_folder;
    int port;          /* of the virtual host controller */
    int set, next_set; /* of formats: now, and from the next plug on */
    bool sends_source_clock, has_microphone, verbose;

    int usb; /* our end of the socket pair; -1 where unplugged */
    uint8_t configuration, request_error, stream_error;
    int16_t brightness;
    struct streaming_control probe, commit;

    int timer; /* of the frames */
    bool streaming, frozen, halted;
    unsigned frame_number, late;
    int error_frames, short_frames, corrupt_frames; /* faults still to be made */

    uint8_t *payload; /* the payload transfer that goes out */
    size_t payload_length, payload_sent;
    bool payload_active;
    struct waiting_transfer { /* bulk IN, until there is data for it */
        uint32_t number, length;
    } waiting[WAITING_MAX];
    int waiting_count;

    int sound_timer;           /* of the packets of sound */
    bool listening;            /* the host takes sound */
    int64_t sound_time;        /* of the next packet, CLOCK_MONOTONIC in ns */
    int64_t clap_time;         /* when the last click begins */
    struct waiting_sound {     /* isochronous IN */
        uint32_t number;
        int count;
        uint32_t offsets[PACKETS_MAX], lengths[PACKETS_MAX];
    } sounds[WAITING_MAX];
    int sound_count;
};

/* The size of one of the camera's frames: `set` 0 or 1, `format` and `frame` from one. */
struct size camera_size(int set, int format, int frame);

/* The size that the stream has. */
struct size camera_stream_size(const struct camera *camera);

/* Fills in what the host left open or asked for wrongly (UVC 4.3.1.1). */
void camera_settle(const struct camera *camera, struct streaming_control *control);

/* As it is when the cable is put in. */
void camera_reset(struct camera *camera);

#endif
