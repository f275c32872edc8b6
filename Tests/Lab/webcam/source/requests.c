#include "requests.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "sound.h"
#include "stream.h"
#include "uvc.h"

enum { STREAMING_CONTROL_LENGTH = 34 };

static int stall(struct camera *camera, uint8_t reason)
{
    camera->request_error = reason;
    return -EPIPE;
}

static int put_streaming_control(uint8_t *p, const struct streaming_control *control)
{
    memset(p, 0, STREAMING_CONTROL_LENGTH);
    put16(p, 1); /* bmHint: dwFrameInterval is kept */
    p[2] = control->format;
    p[3] = control->frame;
    put32(p + 4, control->interval);
    put16(p + 16, 30); /* wDelay, ms */
    put32(p + 18, control->max_frame);
    put32(p + 22, control->max_payload);
    put32(p + 26, CLOCK_HZ);
    p[30] = 3; /* bmFramingInfo: FID and EOF are used */
    p[31] = p[32] = p[33] = 1;
    return STREAMING_CONTROL_LENGTH;
}

static int set_streaming_control(struct camera *camera, const struct setup *setup, const uint8_t *data, bool commit)
{
    if (setup->length < 26) /* UVC 1.0's structure; later ones are longer */
        return stall(camera, REQ_ERR_OUT_OF_RANGE);
    camera->probe = (struct streaming_control){.format = data[2], .frame = data[3], .interval = get32(data + 4)};
    camera_settle(camera, &camera->probe);
    if (commit) {
        camera->commit = camera->probe;
        stream_start(camera); /* with a bulk endpoint, committing starts the stream (UVC 4.3.1.1) */
    }
    return 0;
}

static int streaming_request(struct camera *camera, const struct setup *setup, uint8_t *data)
{
    int selector = setup->value >> 8;
    bool commit = selector == VS_COMMIT_CONTROL;
    struct streaming_control control = commit ? camera->commit : camera->probe;

    if (selector == VS_STREAM_ERROR_CODE_CONTROL && setup->request == GET_CUR) {
        data[0] = camera->stream_error;
        camera->stream_error = STREAM_ERR_NONE;
        return 1;
    }
    if (!commit && selector != VS_PROBE_CONTROL)
        return stall(camera, REQ_ERR_INVALID_CONTROL);

    switch (setup->request) {
    case SET_CUR:
        return set_streaming_control(camera, setup, data, commit);
    case GET_LEN:
        put16(data, STREAMING_CONTROL_LENGTH);
        return 2;
    case GET_INFO:
        data[0] = 3; /* GET and SET are supported */
        return 1;
    case GET_CUR:
        break;
    case GET_MIN:
    case GET_DEF:
        control.interval = camera_intervals[0];
        break;
    case GET_MAX:
        control.interval = camera_intervals[1];
        break;
    default:
        return stall(camera, REQ_ERR_INVALID_REQUEST);
    }
    camera_settle(camera, &control);
    return put_streaming_control(data, &control);
}

static int brightness_request(struct camera *camera, const struct setup *setup, uint8_t *data) /* UVC 4.2.2.3.2 */
{
    int16_t value = (int16_t)get16(data);

    switch (setup->request) {
    case SET_CUR:
        if (setup->length != 2 || value < BRIGHTNESS_MIN || value > BRIGHTNESS_MAX)
            return stall(camera, REQ_ERR_OUT_OF_RANGE);
        camera->brightness = value;
        return 0;
    case GET_INFO:
        data[0] = 3;
        return 1;
    case GET_CUR:
        value = camera->brightness;
        break;
    case GET_MIN:
        value = BRIGHTNESS_MIN;
        break;
    case GET_MAX:
        value = BRIGHTNESS_MAX;
        break;
    case GET_RES:
        value = 1;
        break;
    case GET_DEF:
        value = BRIGHTNESS_DEFAULT;
        break;
    case GET_LEN:
        value = 2;
        break;
    default:
        return stall(camera, REQ_ERR_INVALID_REQUEST);
    }
    put16(data, (uint16_t)value);
    return 2;
}

static int class_request(struct camera *camera, const struct setup *setup, uint8_t *data)
{
    int interface = setup->index & 0xff, entity = setup->index >> 8, selector = setup->value >> 8;

    if (interface == INTERFACE_VS)
        return streaming_request(camera, setup, data);
    if (entity == 0 && selector == VC_REQUEST_ERROR_CODE_CONTROL && setup->request == GET_CUR) {
        data[0] = camera->request_error; /* UVC 4.2.1.2 */
        camera->request_error = 0;
        return 1;
    }
    if (entity > ID_OUTPUT)
        return stall(camera, REQ_ERR_INVALID_UNIT);
    if (entity != ID_PROCESSING || selector != PU_BRIGHTNESS_CONTROL)
        return stall(camera, REQ_ERR_INVALID_CONTROL);
    return brightness_request(camera, setup, data);
}

/* The second setting of the microphone's interface has its endpoint, so the host takes sound with it. */
static int set_interface(struct camera *camera, const struct setup *setup)
{
    if (setup->index == INTERFACE_AS && camera->has_microphone && setup->value <= 1) {
        sound_stop(camera);
        if (setup->value == 1)
            sound_start(camera);
        return 0;
    }
    if (setup->index == INTERFACE_VS)
        stream_stop(camera);
    return setup->value == 0 ? 0 : -EPIPE;
}

static int standard_request(struct camera *camera, const struct setup *setup, uint8_t *data)
{
    switch (setup->request) {
    case GET_DESCRIPTOR:
        return descriptor_put(camera, setup->value, data);
    case GET_STATUS:
        put16(data, setup->index == ENDPOINT_VIDEO_ADDRESS && camera->halted);
        return 2;
    case GET_CONFIGURATION:
        data[0] = camera->configuration;
        return 1;
    case GET_INTERFACE:
        data[0] = setup->index == INTERFACE_AS && camera->listening;
        return 1;
    case SET_CONFIGURATION:
        camera->configuration = (uint8_t)setup->value;
        stream_stop(camera);
        sound_stop(camera);
        return 0;
    case SET_INTERFACE:
        return set_interface(camera, setup);
    case SET_FEATURE:
        return 0;
    case CLEAR_FEATURE: /* a bulk device is not told otherwise that the stream has stopped */
        if (setup->value == FEATURE_ENDPOINT_HALT && setup->index == ENDPOINT_VIDEO_ADDRESS)
            stream_stop(camera);
        return 0;
    default:
        return -EPIPE;
    }
}

int request_answer(struct camera *camera, const struct setup *setup, uint8_t *data)
{
    bool class = (setup->type & 0x60) == 0x20; /* USB table 9-2 */
    return class ? class_request(camera, setup, data) : standard_request(camera, setup, data);
}
