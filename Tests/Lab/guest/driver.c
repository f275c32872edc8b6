/* Loaded in front of a real V4L2 driver (LD_PRELOAD): behaviour that drivers may have but vivid does not have by itself.
 *   DRIVER_STRIDE=N           S_FMT asks for N bytes more a line, which vivid grants
 *   DRIVER_LOG=FILE           the bytes a line that were then granted are added to FILE, a line each
 *   DRIVER_FIELD=N            S_FMT asks for this order of fields (enum v4l2_field), which vivid's TV inputs grant
 *   DRIVER_NO_PARM=1          there is no G_PARM, as with bridges from HDMI to CSI
 *   DRIVER_NO_TIMINGS=1       nor are there timings of a digital signal
 *   DRIVER_TIMES=FILE         the wall-clock time of each picture's capture is added to FILE, a line each
 *   DRIVER_STREAMON_ERRNO=N   STREAMON fails with this errno: 28, ENOSPC, is what a full USB bus gives
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned setting(const char *name)
{
    const char *value = getenv(name);
    return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

static unsigned bytes_per_pixel(unsigned format)
{
    switch (format) {
    case V4L2_PIX_FMT_YUYV:
    case V4L2_PIX_FMT_UYVY:
        return 2;
    case V4L2_PIX_FMT_RGB24:
        return 3;
    default: /* the luma plane of the others */
        return 1;
    }
}

static void log_stride(unsigned stride)
{
    const char *name = getenv("DRIVER_LOG");
    FILE *log = name ? fopen(name, "a") : NULL;
    if (!log)
        return;
    fprintf(log, "%u\n", stride);
    fclose(log);
}

/* The buffer's time is of the monotonic clock. */
static void log_time(const struct v4l2_buffer *buffer)
{
    static FILE *log;
    const char *name = getenv("DRIVER_TIMES");
    struct timespec wall, monotonic;
    if (!log && !(name && (log = fopen(name, "a"))))
        return;
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    clock_gettime(CLOCK_REALTIME, &wall);
    fprintf(log, "%.6f\n",
            (double)(wall.tv_sec - monotonic.tv_sec) + (wall.tv_nsec - monotonic.tv_nsec) / 1e9 + buffer->timestamp.tv_sec +
                buffer->timestamp.tv_usec / 1e6);
    fflush(log);
}

int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!next)
        next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");

    unsigned extra = setting("DRIVER_STRIDE"), refusal = setting("DRIVER_STREAMON_ERRNO");
    if (request == VIDIOC_S_FMT && extra) {
        struct v4l2_format *format = argument;
        if (format->type == V4L2_BUF_TYPE_VIDEO_CAPTURE)
            format->fmt.pix.bytesperline = format->fmt.pix.width * bytes_per_pixel(format->fmt.pix.pixelformat) + extra;
    }
    if (request == VIDIOC_S_FMT && setting("DRIVER_FIELD")) {
        struct v4l2_format *format = argument;
        if (format->type == V4L2_BUF_TYPE_VIDEO_CAPTURE)
            format->fmt.pix.field = setting("DRIVER_FIELD");
    }
    int is_rate = request == VIDIOC_G_PARM || request == VIDIOC_S_PARM;
    int is_timings = request == VIDIOC_QUERY_DV_TIMINGS || request == VIDIOC_G_DV_TIMINGS;
    if ((is_rate && setting("DRIVER_NO_PARM")) || (is_timings && setting("DRIVER_NO_TIMINGS"))) {
        errno = ENOTTY;
        return -1;
    }
    if (request == VIDIOC_STREAMON && refusal) {
        errno = (int)refusal;
        return -1;
    }
    int result = next(fd, request, argument);
    if (request == VIDIOC_DQBUF && result == 0)
        log_time(argument);
    if (request == VIDIOC_S_FMT && extra && result == 0)
        log_stride(((struct v4l2_format *)argument)->fmt.pix.bytesperline);
    return result;
}
