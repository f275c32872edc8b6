#include "descriptors.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "uvc.h"

enum { STRING_VENDOR = 1, STRING_PRODUCT, STRING_SERIAL };

/* Appends a descriptor, its length byte put in front; returns the new end. */
#define ADD(p, ...) add_descriptor(p, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
static uint8_t *add_descriptor(uint8_t *p, const uint8_t *bytes, size_t count)
{
    *p = (uint8_t)(count + 1);
    memcpy(p + 1, bytes, count);
    return p + count + 1;
}

static int device_descriptor(uint8_t *out)
{
    uint8_t *end = ADD(out, DT_DEVICE, LE16(0x0200), 0xef, 2, 1, 64, /* USB 9.6.1; an IAD device's classes, UVC 3.2 */
                       LE16(0x1209), LE16(0x0001),                   /* pid.codes' identifiers for testing */
                       LE16(0x0100), STRING_VENDOR, STRING_PRODUCT, STRING_SERIAL, 1);
    return (int)(end - out);
}

static uint8_t *add_frames(const struct camera *camera, uint8_t *p, int format, uint8_t subtype)
{
    for (int frame = 1; frame <= SIZE_COUNT; frame++) { /* MJPEG 3.1.2, Uncompressed 3.1.2; discrete intervals */
        struct size size = camera_size(camera->set, format, frame);
        uint32_t bytes = (uint32_t)(size.width * size.height * 2);
        p = ADD(p, CS_INTERFACE, subtype, (uint8_t)frame, 0, LE16(size.width), LE16(size.height), LE32(bytes * 8 * 15),
                LE32(bytes * 8 * 30), LE32(bytes), LE32(camera_intervals[0]), INTERVAL_COUNT,
                LE32(camera_intervals[0]), LE32(camera_intervals[1]));
    }
    /* UVC 3.9.2.6: BT.709 primaries and transfer, SMPTE 170M matrix (the defaults) */
    return ADD(p, CS_INTERFACE, VS_COLORFORMAT, 1, 1, 4);
}

static uint8_t *add_control_interface(uint8_t *p)
{
    p = ADD(p, DT_INTERFACE, INTERFACE_VC, 0, 0, CC_VIDEO, SC_VIDEOCONTROL, 0, STRING_PRODUCT); /* UVC 3.7.1 */
    uint8_t *header = p;
    p = ADD(p, CS_INTERFACE, VC_HEADER, LE16(0x0110), LE16(0), LE32(CLOCK_HZ), 1, INTERFACE_VS); /* UVC 3.7.2 */
    p = ADD(p, CS_INTERFACE, VC_INPUT_TERMINAL, ID_CAMERA, LE16(ITT_CAMERA), 0, 0, LE16(0), LE16(0), LE16(0), 3, 0, 0,
            0); /* UVC 3.7.2.3 */
    p = ADD(p, CS_INTERFACE, VC_PROCESSING_UNIT, ID_PROCESSING, ID_CAMERA, LE16(0), 2, LE16(1 /* brightness */), 0,
            0); /* UVC 3.7.2.5 */
    p = ADD(p, CS_INTERFACE, VC_OUTPUT_TERMINAL, ID_OUTPUT, LE16(TT_STREAMING), 0, ID_PROCESSING, 0); /* UVC 3.7.2.2 */
    put16(header + 5, (uint32_t)(p - header));
    return p;
}

static uint8_t *add_streaming_interface(const struct camera *camera, uint8_t *p)
{
    p = ADD(p, DT_INTERFACE, INTERFACE_VS, 0, 1, CC_VIDEO, SC_VIDEOSTREAMING, 0, 0); /* UVC 3.9.1 */
    uint8_t *header = p;
    p = ADD(p, CS_INTERFACE, VS_INPUT_HEADER, FORMAT_COUNT, LE16(0), ENDPOINT_VIDEO_ADDRESS, 0, ID_OUTPUT, 0, 0, 0, 1,
            0, 0); /* UVC 3.9.2.1 */
    p = ADD(p, CS_INTERFACE, VS_FORMAT_MJPEG, FORMAT_MJPEG, SIZE_COUNT, 0, 1, 0, 0, 0, 0); /* MJPEG 3.1.1 */
    p = add_frames(camera, p, FORMAT_MJPEG, VS_FRAME_MJPEG);
    p = ADD(p, CS_INTERFACE, VS_FORMAT_UNCOMPRESSED, FORMAT_YUYV, SIZE_COUNT, /* Uncompressed 3.1.1: GUID of YUY2 */
            'Y', 'U', 'Y', '2', 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71, 16, 1, 0, 0, 0, 0);
    p = add_frames(camera, p, FORMAT_YUYV, VS_FRAME_UNCOMPRESSED);
    put16(header + 4, (uint32_t)(p - header));
    return ADD(p, DT_ENDPOINT, ENDPOINT_VIDEO_ADDRESS, 2 /* bulk */, LE16(ENDPOINT_VIDEO_PACKET), 0); /* UVC 3.10.1.1 */
}

/* UAC 4.3.2: a microphone, and where its sound leaves the device. */
static uint8_t *add_sound_control_interface(uint8_t *p)
{
    p = ADD(p, DT_INTERFACE, INTERFACE_AC, 0, 0, CC_AUDIO, SC_AUDIOCONTROL, 0, 0);
    uint8_t *header = p;
    p = ADD(p, CS_INTERFACE, AC_HEADER, LE16(0x0100), LE16(0), 1, INTERFACE_AS);
    p = ADD(p, CS_INTERFACE, AC_INPUT_TERMINAL, ID_MICROPHONE, LE16(AUDIO_MICROPHONE), 0, 1, LE16(0), 0, 0);
    p = ADD(p, CS_INTERFACE, AC_OUTPUT_TERMINAL, ID_SOUND, LE16(AUDIO_STREAMING), 0, ID_MICROPHONE, 0);
    put16(header + 5, (uint32_t)(p - header));
    return p;
}

/* UAC 4.5, 4.6: without an endpoint while nobody listens, and with one. */
static uint8_t *add_sound_streaming_interface(uint8_t *p)
{
    p = ADD(p, DT_INTERFACE, INTERFACE_AS, 0, 0, CC_AUDIO, SC_AUDIOSTREAMING, 0, 0);
    p = ADD(p, DT_INTERFACE, INTERFACE_AS, 1, 1, CC_AUDIO, SC_AUDIOSTREAMING, 0, 0);
    p = ADD(p, CS_INTERFACE, AS_GENERAL, ID_SOUND, 1, LE16(FORMAT_PCM));
    p = ADD(p, CS_INTERFACE, AS_FORMAT_TYPE, FORMAT_TYPE_I, 1, 2, 16, 1, LE16(SOUND_RATE), 0); /* Formats 2.2.5 */
    p = ADD(p, DT_ENDPOINT, ENDPOINT_SOUND_ADDRESS, 5 /* isochronous, asynchronous */, LE16(SOUND_PACKET),
            4 /* each millisecond */, 0, 0);
    return ADD(p, CS_ENDPOINT, EP_GENERAL, 0, 0, LE16(0));
}

static uint8_t *add_microphone(uint8_t *p)
{
    p = ADD(p, DT_INTERFACE_ASSOCIATION, INTERFACE_AC, 2, CC_AUDIO, 0, 0, STRING_PRODUCT);
    return add_sound_streaming_interface(add_sound_control_interface(p));
}

static int configuration_descriptor(const struct camera *camera, uint8_t *out)
{
    uint8_t *p = ADD(out, DT_CONFIG, LE16(0), camera->has_microphone ? INTERFACE_COUNT : INTERFACE_AC, 1, 0, 0x80, 250); /* USB 9.6.3 */
    p = ADD(p, DT_INTERFACE_ASSOCIATION, INTERFACE_VC, 2, CC_VIDEO, SC_VIDEO_INTERFACE_COLLECTION, 0,
            STRING_PRODUCT); /* UVC 3.6 */
    p = add_streaming_interface(camera, add_control_interface(p));
    if (camera->has_microphone)
        p = add_microphone(p);
    put16(out + 2, (uint32_t)(p - out));
    return (int)(p - out);
}

static int string_descriptor(const struct camera *camera, unsigned index, uint8_t *out)
{
    const char *const texts[] = {"", "Emulated", "Emulated Webcam", camera->serial};
    if (index >= sizeof texts / sizeof *texts)
        return -EPIPE;
    size_t count = strlen(texts[index]);
    out[0] = (uint8_t)(index ? 2 + 2 * count : 4);
    out[1] = DT_STRING;
    put16(out + 2, 0x0409); /* index 0 lists the languages: US English */
    for (size_t i = 0; i < count; i++)
        put16(out + 2 + 2 * i, (uint8_t)texts[index][i]);
    return out[0];
}

int descriptor_put(const struct camera *camera, unsigned value, uint8_t *out)
{
    switch (value >> 8) {
    case DT_DEVICE:
        return device_descriptor(out);
    case DT_CONFIG:
        return configuration_descriptor(camera, out);
    case DT_STRING:
        return string_descriptor(camera, value & 0xff, out);
    default:
        return -EPIPE;
    }
}
