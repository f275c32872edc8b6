// A clapperboard: flashes in a loopback camera, and clicks in a loopback sound card at the same moments, once a second of
// the monotonic clock. Opens the sound card again when it was away.
// usage: clapper VIDEO-NODE PCM [SHIFT]   until it is killed; SHIFT is the card's rate, 100000 for its own
#include <alsa/asoundlib.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 320, HEIGHT = 240, RATE = 48000, CHUNK = 480, FRAMES_PER_SECOND = 15 };
static const double click_length = 0.02;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void wait_until(double moment) {
    const struct timespec time = {(time_t)moment, (long)((moment - floor(moment)) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

// A picture is white from a whole second on, for two frames.
_Noreturn static void *flash(void *node) {
    const int file = open(node, O_RDWR);
    if (file < 0) fail(node);
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    format.fmt.pix = (struct v4l2_pix_format){.width = WIDTH, .height = HEIGHT, .pixelformat = V4L2_PIX_FMT_YUYV, .field = V4L2_FIELD_NONE,
        .bytesperline = 2 * WIDTH, .sizeimage = 2 * WIDTH * HEIGHT};
    if (ioctl(file, VIDIOC_S_FMT, &format)) fail("VIDIOC_S_FMT");
    struct v4l2_streamparm rate = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    rate.parm.output.timeperframe = (struct v4l2_fract){1, FRAMES_PER_SECOND};
    ioctl(file, VIDIOC_S_PARM, &rate);
    static unsigned char pictures[2][2 * WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        pictures[0][2 * i] = 16 + i % 7, pictures[1][2 * i] = 235;
        pictures[0][2 * i + 1] = pictures[1][2 * i + 1] = 128;
    }
    int is_white = 0;
    for (long number = (long)(now() * FRAMES_PER_SECOND) + 1;; number++) {
        wait_until((double)number / FRAMES_PER_SECOND);
        // A flash that this program is late with would be no measure.
        if (number % FRAMES_PER_SECOND == 0) is_white = now() - (double)number / FRAMES_PER_SECOND < 0.003;
        if (number % FRAMES_PER_SECOND == 2) is_white = 0;
        if (write(file, pictures[is_white], sizeof *pictures) < 0) fail("write");
    }
}

static snd_pcm_t *open_sound(const char *name) {
    snd_pcm_t *pcm;
    if (snd_pcm_open(&pcm, name, SND_PCM_STREAM_PLAYBACK, 0)) return NULL;
    snd_pcm_sw_params_t *software;
    snd_pcm_sw_params_alloca(&software);
    if (snd_pcm_set_params(pcm, SND_PCM_FORMAT_S16, SND_PCM_ACCESS_RW_INTERLEAVED, 1, RATE, 0, 400000)) goto failed;
    snd_pcm_sw_params_current(pcm, software);
    snd_pcm_sw_params_set_tstamp_mode(pcm, software, SND_PCM_TSTAMP_ENABLE);
    snd_pcm_sw_params_set_tstamp_type(pcm, software, SND_PCM_TSTAMP_TYPE_MONOTONIC);
    snd_pcm_sw_params_set_start_threshold(pcm, software, 4 * CHUNK);
    if (snd_pcm_sw_params(pcm, software)) goto failed;
    return pcm;
failed:
    snd_pcm_close(pcm);
    return NULL;
}

// When the sample that is written next will be heard.
static double next_sample(snd_pcm_t *pcm) {
    snd_pcm_sframes_t delay;
    if (snd_pcm_state(pcm) != SND_PCM_STATE_RUNNING || snd_pcm_delay(pcm, &delay)) return now() + 0.1;
    snd_pcm_uframes_t available;
    snd_htimestamp_t time;
    if (snd_pcm_htimestamp(pcm, &available, &time)) return now() + 0.1;
    snd_pcm_uframes_t buffer, period;
    snd_pcm_get_params(pcm, &buffer, &period);
    return time.tv_sec + time.tv_nsec / 1e9 + (double)(buffer - available) / RATE;
}

// The card's clock is then faster or slower for both of its ends.
static void shift_rate(int shift) {
    snd_ctl_t *control;
    snd_ctl_elem_value_t *value;
    if (snd_ctl_open(&control, "hw:Loopback", 0)) return;
    snd_ctl_elem_value_alloca(&value);
    snd_ctl_elem_value_set_interface(value, SND_CTL_ELEM_IFACE_PCM);
    snd_ctl_elem_value_set_name(value, "PCM Rate Shift 100000");
    snd_ctl_elem_value_set_device(value, 1);
    snd_ctl_elem_value_set_integer(value, 0, shift);
    const int result = snd_ctl_elem_write(control, value);
    if (result < 0) fprintf(stderr, "clapper: no rate shift: %s\n", snd_strerror(result));
    snd_ctl_close(control);
}

int main(int count, char **arguments) {
    if (count < 3 || count > 4) return 64;
    pthread_t pictures;
    if (pthread_create(&pictures, NULL, flash, arguments[1])) fail("pthread_create");
    for (;;) {
        snd_pcm_t *pcm = open_sound(arguments[2]);
        if (!pcm) {
            usleep(200000);
            continue;
        }
        if (count == 4) shift_rate(atoi(arguments[3]));
        for (;;) {
            const double start = next_sample(pcm);
            int16_t samples[CHUNK];
            for (int i = 0; i < CHUNK; i++) {
                const double moment = start + (double)i / RATE, rest = moment - floor(moment);
                // Noise besides, because a microphone that is switched on has some.
                samples[i] = rest < click_length ? (int16_t)(20000 * sin(2 * M_PI * 1000 * rest)) : (int16_t)(rand() % 21 - 10);
            }
            snd_pcm_sframes_t written = snd_pcm_writei(pcm, samples, CHUNK);
            if (written == -EPIPE) written = snd_pcm_prepare(pcm);
            if (written < 0) break;
        }
        snd_pcm_close(pcm);
    }
}
