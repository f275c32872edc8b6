#include "VendorConverter.h"

#include <errno.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <stddef.h>

// A device with neither formats nor controls. libv4lconvert asks for its capabilities or refuses to work;
// one that is more than a camera gets no software controls (white balance, gamma, flipping), which would
// live in shared memory under the device's name.
static int answer(void *device, int descriptor, unsigned long request, void *argument) {
    (void)device, (void)descriptor;
    if (request == VIDIOC_QUERYCAP) {
        *(struct v4l2_capability *)argument = (struct v4l2_capability){
            .driver = "none", .capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_OUTPUT};
        return 0;
    }
    errno = ENOTTY;
    return -1;
}

static const struct libv4l_dev_ops no_device = {.ioctl = answer};

cyuv_vendor_converter *cyuv_vendor_create(void) {
    return v4lconvert_create_with_dev_ops(-1, NULL, &no_device);
}

void cyuv_vendor_destroy(cyuv_vendor_converter *converter) { v4lconvert_destroy(converter); }

// libv4lconvert 1.22 writes HSV's RGB over the end of YU12's room, and JPEG-Lite's damaged frames wherever
// they say. The other formats stay within bounds with whatever random bytes.
static int writes_out_of_bounds(uint32_t format) {
    return format == V4L2_PIX_FMT_HSV24 || format == V4L2_PIX_FMT_HSV32 || format == V4L2_PIX_FMT_JPGL;
}

// Bytes of a pixel in the formats without compression, and 1 for the others, which ignore the stride.
static int bytes_per_pixel(uint32_t format) {
    switch (format) {
        case V4L2_PIX_FMT_RGB565:
        case V4L2_PIX_FMT_Y16:
        case V4L2_PIX_FMT_Y16_BE:
            return 2;
        default:
            return 1;
    }
}

static struct v4l2_format describe(uint32_t format, int width, int height, int stride, size_t length) {
    return (struct v4l2_format){
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
        .fmt.pix = {
            .width = width,
            .height = height,
            .pixelformat = format,
            .field = V4L2_FIELD_NONE,
            .bytesperline = stride > 0 ? stride : width * bytes_per_pixel(format),
            .sizeimage = length,
        }};
}

int cyuv_vendor_convert(
    cyuv_vendor_converter *converter, uint32_t format, int width, int height, int stride, uint8_t *bytes,
    size_t count, uint8_t *yu12) {
    if (writes_out_of_bounds(format)) return -EINVAL;
    int length = width * height / 2 * 3;
    struct v4l2_format from = describe(format, width, height, stride, count);
    struct v4l2_format to = describe(V4L2_PIX_FMT_YUV420, width, height, 0, length);
    errno = 0;
    int result = v4lconvert_convert(converter, &from, &to, bytes, count, yu12, length);
    if (result < 0) return errno ? -errno : -EIO;
    return result == length ? 0 : -EIO;
}

const char *cyuv_vendor_message(cyuv_vendor_converter *converter) {
    return v4lconvert_get_error_message(converter);
}
