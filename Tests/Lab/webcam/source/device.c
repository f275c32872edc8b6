#include "device.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "message.h"
#include "requests.h"
#include "sound.h"
#include "stream.h"
#include "usbip.h"

int device_plug(struct camera *camera)
{
    camera_reset(camera);
    int error = usbip_attach(camera);
    note("plug into port %d, formats %c: %s", camera->port, 'A' + camera->set, error ? strerror(-error) : "ok");
    return error;
}

void device_unplug(struct camera *camera, const char *why)
{
    stream_stop(camera);
    sound_stop(camera);
    usbip_detach(camera, why);
}

static void control_transfer(struct camera *camera, const struct usbip_request *request)
{
    static uint8_t data[65536]; /* as much as a setup's length may say */
    const uint8_t *b = request->setup;
    struct setup setup = {b[0], b[1], get16(b + 2), get16(b + 4), get16(b + 6)};
    bool in = setup.type & 0x80;

    memset(data, 0, REQUEST_ANSWER_MAX);
    if (!in && setup.length && !usbip_receive_data(camera, data, setup.length))
        return;
    int length = request_answer(camera, &setup, data);
    if (camera->verbose)
        note("control %02x %02x value %04x index %04x length %u: %d", setup.type, setup.request, setup.value,
             setup.index, setup.length, length);
    if (length < 0)
        usbip_reply(camera, request->number, length, NULL, 0);
    else if (in)
        usbip_reply(camera, request->number, 0, data, (size_t)(length < setup.length ? length : setup.length));
    else
        usbip_reply(camera, request->number, 0, NULL, setup.length);
}

static void serve(struct camera *camera, const struct usbip_request *request)
{
    struct waiting_transfer transfer = {request->number, request->length};
    if (request->unlink)
        usbip_reply_unlink(camera, request->number,
                           stream_unlink(camera, request->unlinks_number) ||
                               sound_unlink(camera, request->unlinks_number));
    else if (request->endpoint == 0)
        control_transfer(camera, request);
    else if (request->endpoint == ENDPOINT_SOUND && request->in && sound_wait(camera, request))
        return;
    else if (request->endpoint != ENDPOINT_VIDEO || !request->in || !stream_wait(camera, transfer))
        usbip_reply(camera, request->number, -EPIPE, NULL, 0);
}

void device_serve(struct camera *camera)
{
    struct usbip_request request;
    if (usbip_receive(camera, &request)) {
        serve(camera, &request);
        stream_pump(camera);
    }
}
