#include "VendorConverter.h"

#include <errno.h>
#include <libv4l-plugin.h>
#include <libv4lconvert.h>
#include <stddef.h>

// A device with neither formats nor controls. libv4lconvert refuses to work without its capabilities; a device
// that is more than a camera gets no software controls (white balance, gamma, flipping), which would live in
// shared memory under the device's name.
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

// libv4lconvert 1.22 writes HSV's RGB past the end of a YU12 buffer, and damaged JPEG-Lite frames write to arbitrary
// addresses. The other formats stay within bounds for random bytes.
static int writes_out_of_bounds(uint32_t format) {
    return format == V4L2_PIX_FMT_HSV24 || format == V4L2_PIX_FMT_HSV32 || format == V4L2_PIX_FMT_JPGL;
}

cyuv_vendor_rows cyuv_vendor_find_rows(uint32_t format, int width, int height) {
    switch (format) {
        case V4L2_PIX_FMT_SBGGR8:
        case V4L2_PIX_FMT_SGBRG8:
        case V4L2_PIX_FMT_SGRBG8:
        case V4L2_PIX_FMT_SRGGB8:
        case V4L2_PIX_FMT_Y4:
        case V4L2_PIX_FMT_Y6:
            return (cyuv_vendor_rows){.bytes = width, .count = height};
        case V4L2_PIX_FMT_SBGGR10P:
        case V4L2_PIX_FMT_SGBRG10P:
        case V4L2_PIX_FMT_SGRBG10P:
        case V4L2_PIX_FMT_SRGGB10P:
        case V4L2_PIX_FMT_Y10BPACK:
            return (cyuv_vendor_rows){.bytes = (width * 10 + 7) / 8, .count = height};
        case V4L2_PIX_FMT_SBGGR10:
        case V4L2_PIX_FMT_SGBRG10:
        case V4L2_PIX_FMT_SGRBG10:
        case V4L2_PIX_FMT_SRGGB10:
        case V4L2_PIX_FMT_SBGGR16:
        case V4L2_PIX_FMT_SGBRG16:
        case V4L2_PIX_FMT_SGRBG16:
        case V4L2_PIX_FMT_SRGGB16:
        case V4L2_PIX_FMT_RGB565:
        case V4L2_PIX_FMT_Y16:
        case V4L2_PIX_FMT_Y16_BE:
            return (cyuv_vendor_rows){.bytes = 2 * width, .count = height};
        // A row of chroma after every two of luma.
        case V4L2_PIX_FMT_M420:
            return (cyuv_vendor_rows){.bytes = width, .count = height * 3 / 2};
        default:
            return (cyuv_vendor_rows){0};
    }
}

static struct v4l2_format describe(uint32_t format, int width, int height, size_t length) {
    int row = cyuv_vendor_find_rows(format, width, height).bytes;
    return (struct v4l2_format){
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
        .fmt.pix = {
            .width = width,
            .height = height,
            .pixelformat = format,
            .field = V4L2_FIELD_NONE,
            .bytesperline = row > 0 ? row : width,
            .sizeimage = length,
        }};
}

int cyuv_vendor_convert(
    cyuv_vendor_converter *converter, uint32_t format, int width, int height, uint8_t *bytes, size_t count,
    uint8_t *yu12) {
    if (writes_out_of_bounds(format)) return -EINVAL;
    int length = width * height / 2 * 3;
    struct v4l2_format from = describe(format, width, height, count);
    struct v4l2_format to = describe(V4L2_PIX_FMT_YUV420, width, height, length);
    errno = 0;
    int result = v4lconvert_convert(converter, &from, &to, bytes, count, yu12, length);
    if (result < 0) return errno ? -errno : -EIO;
    return result == length ? 0 : -EIO;
}

const char *cyuv_vendor_message(cyuv_vendor_converter *converter) {
    return v4lconvert_get_error_message(converter);
}
