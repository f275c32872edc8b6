#include "camera.h"

#include "stream.h"

const uint32_t camera_intervals[INTERVAL_COUNT] = {333333, 666666};

struct size camera_size(int set, int format, int frame)
{
    static const struct size sizes[2][FORMAT_COUNT][SIZE_COUNT] = {
        {{{640, 480}, {1280, 720}}, {{640, 480}, {320, 240}}},
        {{{320, 240}, {800, 600}}, {{352, 288}, {160, 120}}},
    };
    return sizes[set][format - 1][frame - 1];
}

struct size camera_stream_size(const struct camera *camera)
{
    return camera_size(camera->set, camera->commit.format, camera->commit.frame);
}

void camera_settle(const struct camera *camera, struct streaming_control *control)
{
    if (control->format < 1 || control->format > FORMAT_COUNT)
        control->format = FORMAT_MJPEG;
    if (control->frame < 1 || control->frame > SIZE_COUNT)
        control->frame = 1;
    bool slow = control->interval > (camera_intervals[0] + camera_intervals[1]) / 2;
    control->interval = camera_intervals[slow];
    struct size size = camera_size(camera->set, control->format, control->frame);
    control->max_frame = (uint32_t)(size.width * size.height * 2);
    control->max_payload = control->max_frame + STREAM_HEADER_MAX;
}

void camera_reset(struct camera *camera)
{
    camera->set = camera->next_set;
    camera->probe = camera->commit = (struct streaming_control){0};
    camera_settle(camera, &camera->probe);
    camera_settle(camera, &camera->commit);
    camera->configuration = camera->request_error = camera->stream_error = 0;
    camera->brightness = BRIGHTNESS_DEFAULT;
    camera->frozen = camera->halted = false;
    camera->error_frames = camera->short_frames = camera->corrupt_frames = 0;
    camera->waiting_count = camera->sound_count = 0;
}
