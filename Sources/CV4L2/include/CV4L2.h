// The parts of V4L2 that Swift cannot import itself: function-like macros as constants, and system calls that
// return -errno, because ARC traffic may overwrite errno before Swift reads it.
#ifndef CV4L2_H
#define CV4L2_H

#include <errno.h>
#include <fcntl.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <linux/dma-buf.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    CV4L2_FORMAT_NV12 = V4L2_PIX_FMT_NV12,
    CV4L2_FORMAT_NV21 = V4L2_PIX_FMT_NV21,
    CV4L2_FORMAT_NV12M = V4L2_PIX_FMT_NV12M,
    CV4L2_FORMAT_NV21M = V4L2_PIX_FMT_NV21M,
    CV4L2_FORMAT_NV16 = V4L2_PIX_FMT_NV16,
    CV4L2_FORMAT_NV61 = V4L2_PIX_FMT_NV61,
    CV4L2_FORMAT_NV16M = V4L2_PIX_FMT_NV16M,
    CV4L2_FORMAT_NV61M = V4L2_PIX_FMT_NV61M,
    CV4L2_FORMAT_NV24 = V4L2_PIX_FMT_NV24,
    CV4L2_FORMAT_NV42 = V4L2_PIX_FMT_NV42,
    CV4L2_FORMAT_YUV420 = V4L2_PIX_FMT_YUV420,
    CV4L2_FORMAT_YVU420 = V4L2_PIX_FMT_YVU420,
    CV4L2_FORMAT_YUV420M = V4L2_PIX_FMT_YUV420M,
    CV4L2_FORMAT_YVU420M = V4L2_PIX_FMT_YVU420M,
    CV4L2_FORMAT_YUV422P = V4L2_PIX_FMT_YUV422P,
    CV4L2_FORMAT_YUYV = V4L2_PIX_FMT_YUYV,
    CV4L2_FORMAT_UYVY = V4L2_PIX_FMT_UYVY,
    CV4L2_FORMAT_YVYU = V4L2_PIX_FMT_YVYU,
    CV4L2_FORMAT_RGB24 = V4L2_PIX_FMT_RGB24,
    CV4L2_FORMAT_BGR24 = V4L2_PIX_FMT_BGR24,
    CV4L2_FORMAT_RGB32 = V4L2_PIX_FMT_RGB32,
    CV4L2_FORMAT_BGR32 = V4L2_PIX_FMT_BGR32,
    CV4L2_FORMAT_XRGB32 = V4L2_PIX_FMT_XRGB32,
    CV4L2_FORMAT_ARGB32 = V4L2_PIX_FMT_ARGB32,
    CV4L2_FORMAT_XBGR32 = V4L2_PIX_FMT_XBGR32,
    CV4L2_FORMAT_ABGR32 = V4L2_PIX_FMT_ABGR32,
    CV4L2_FORMAT_RGBX32 = V4L2_PIX_FMT_RGBX32,
    CV4L2_FORMAT_RGBA32 = V4L2_PIX_FMT_RGBA32,
    CV4L2_FORMAT_BGRX32 = V4L2_PIX_FMT_BGRX32,
    CV4L2_FORMAT_BGRA32 = V4L2_PIX_FMT_BGRA32,
    CV4L2_FORMAT_GREY = V4L2_PIX_FMT_GREY,
    CV4L2_FORMAT_MJPEG = V4L2_PIX_FMT_MJPEG,
    CV4L2_FORMAT_JPEG = V4L2_PIX_FMT_JPEG,
    CV4L2_FORMAT_H264 = V4L2_PIX_FMT_H264,
};

// V4L2's controls that camrec knows by their number.
static const uint32_t CV4L2_BRIGHTNESS = V4L2_CID_BRIGHTNESS;
static const uint32_t CV4L2_AUTOBRIGHTNESS = V4L2_CID_AUTOBRIGHTNESS;
static const uint32_t CV4L2_HUE = V4L2_CID_HUE;
static const uint32_t CV4L2_HUE_AUTO = V4L2_CID_HUE_AUTO;
static const uint32_t CV4L2_GAIN = V4L2_CID_GAIN;
static const uint32_t CV4L2_AUTOGAIN = V4L2_CID_AUTOGAIN;
static const uint32_t CV4L2_AUTO_WHITE_BALANCE = V4L2_CID_AUTO_WHITE_BALANCE;
static const uint32_t CV4L2_WHITE_BALANCE_TEMPERATURE = V4L2_CID_WHITE_BALANCE_TEMPERATURE;
static const uint32_t CV4L2_RED_BALANCE = V4L2_CID_RED_BALANCE;
static const uint32_t CV4L2_BLUE_BALANCE = V4L2_CID_BLUE_BALANCE;
static const uint32_t CV4L2_EXPOSURE = V4L2_CID_EXPOSURE;
static const uint32_t CV4L2_EXPOSURE_AUTO = V4L2_CID_EXPOSURE_AUTO;
static const uint32_t CV4L2_EXPOSURE_ABSOLUTE = V4L2_CID_EXPOSURE_ABSOLUTE;
static const uint32_t CV4L2_EXPOSURE_AUTO_PRIORITY = V4L2_CID_EXPOSURE_AUTO_PRIORITY;
static const uint32_t CV4L2_ISO_SENSITIVITY = V4L2_CID_ISO_SENSITIVITY;
static const uint32_t CV4L2_ISO_SENSITIVITY_AUTO = V4L2_CID_ISO_SENSITIVITY_AUTO;
static const uint32_t CV4L2_FOCUS_ABSOLUTE = V4L2_CID_FOCUS_ABSOLUTE;
static const uint32_t CV4L2_FOCUS_AUTO = V4L2_CID_FOCUS_AUTO;
static const uint32_t CV4L2_IRIS_ABSOLUTE = V4L2_CID_IRIS_ABSOLUTE;

static const unsigned long CV4L2_DMA_BUF_SYNC = DMA_BUF_IOCTL_SYNC;
static const uint64_t CV4L2_SYNC_BEGIN_READING = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ;
static const uint64_t CV4L2_SYNC_END_READING = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ;

static const unsigned long CV4L2_QUERYCAP = VIDIOC_QUERYCAP;
static const unsigned long CV4L2_ENUM_FMT = VIDIOC_ENUM_FMT;
static const unsigned long CV4L2_ENUM_FRAMESIZES = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long CV4L2_ENUM_FRAMEINTERVALS = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long CV4L2_G_FMT = VIDIOC_G_FMT;
static const unsigned long CV4L2_S_FMT = VIDIOC_S_FMT;
static const unsigned long CV4L2_CROPCAP = VIDIOC_CROPCAP;
static const unsigned long CV4L2_G_SELECTION = VIDIOC_G_SELECTION;
static const unsigned long CV4L2_ENUMINPUT = VIDIOC_ENUMINPUT;
static const unsigned long CV4L2_G_INPUT = VIDIOC_G_INPUT;
static const unsigned long CV4L2_S_INPUT = VIDIOC_S_INPUT;
static const unsigned long CV4L2_ENUMSTD = VIDIOC_ENUMSTD;
static const unsigned long CV4L2_G_STD = VIDIOC_G_STD;
static const unsigned long CV4L2_S_STD = VIDIOC_S_STD;
static const unsigned long CV4L2_G_PARM = VIDIOC_G_PARM;
static const unsigned long CV4L2_S_PARM = VIDIOC_S_PARM;
static const unsigned long CV4L2_REQBUFS = VIDIOC_REQBUFS;
static const unsigned long CV4L2_QUERYBUF = VIDIOC_QUERYBUF;
static const unsigned long CV4L2_EXPBUF = VIDIOC_EXPBUF;
static const unsigned long CV4L2_QBUF = VIDIOC_QBUF;
static const unsigned long CV4L2_DQBUF = VIDIOC_DQBUF;
static const unsigned long CV4L2_STREAMON = VIDIOC_STREAMON;
static const unsigned long CV4L2_STREAMOFF = VIDIOC_STREAMOFF;
static const unsigned long CV4L2_SUBSCRIBE_EVENT = VIDIOC_SUBSCRIBE_EVENT;
static const unsigned long CV4L2_DQEVENT = VIDIOC_DQEVENT;
static const unsigned long CV4L2_QUERY_DV_TIMINGS = VIDIOC_QUERY_DV_TIMINGS;
static const unsigned long CV4L2_S_DV_TIMINGS = VIDIOC_S_DV_TIMINGS;
static const unsigned long CV4L2_G_DV_TIMINGS = VIDIOC_G_DV_TIMINGS;
static const unsigned long CV4L2_QUERY_EXT_CTRL = VIDIOC_QUERY_EXT_CTRL;
static const unsigned long CV4L2_QUERYMENU = VIDIOC_QUERYMENU;
static const unsigned long CV4L2_G_EXT_CTRLS = VIDIOC_G_EXT_CTRLS;
static const unsigned long CV4L2_S_EXT_CTRLS = VIDIOC_S_EXT_CTRLS;

static inline int cv4l2_open(const char *path, int flags) {
    int descriptor = open(path, flags | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

// The two halves of a device number.
static inline unsigned cv4l2_major(dev_t device) { return major(device); }
static inline unsigned cv4l2_minor(dev_t device) { return minor(device); }

static inline int cv4l2_flock(int descriptor, int operation) {
    return flock(descriptor, operation) < 0 ? -errno : 0;
}

static inline int cv4l2_ioctl(int descriptor, unsigned long request, void *argument) {
    int result;
    do {
        result = ioctl(descriptor, request, argument);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

// Like poll(2), with a time-out in nanoseconds; below zero it waits forever.
int cv4l2_poll(struct pollfd *descriptors, nfds_t count, int64_t nanoseconds);

static inline int cv4l2_eventfd(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

// Stores the mapping's address in *address.
static inline int cv4l2_mmap(int descriptor, size_t length, off_t offset, void **address) {
    void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
    if (mapped == MAP_FAILED) return -errno;
    *address = mapped;
    return 0;
}

// Bytes read, 0 at the end of the file, or -errno.
static inline ssize_t cv4l2_read(int descriptor, void *bytes, size_t count) {
    ssize_t result;
    do {
        result = read(descriptor, bytes, count);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

#endif
