// Prints the ioctl numbers of CV4L2 with the sizes in them, and where the fields of its structures are.
#include <CV4L2.h>
#include <stddef.h>
#include <stdio.h>

static int failed;

static void call(const char *name, unsigned long number, size_t size) {
    printf("%s %#lx\n", name, number);
    if (_IOC_SIZE(number) != size) {
        fprintf(stderr, "%s carries %lu bytes, its structure has %zu\n", name, (unsigned long)_IOC_SIZE(number), size);
        failed = 1;
    }
}

#define CALL(name, type) call(#name, name, sizeof(type))
#define FIELD(type, field) printf(#type "." #field " %zu %zu\n", offsetof(struct type, field), sizeof(((struct type *)0)->field))

int main(void) {
    CALL(CV4L2_QUERYCAP, struct v4l2_capability);
    CALL(CV4L2_ENUM_FMT, struct v4l2_fmtdesc);
    CALL(CV4L2_ENUM_FRAMESIZES, struct v4l2_frmsizeenum);
    CALL(CV4L2_ENUM_FRAMEINTERVALS, struct v4l2_frmivalenum);
    CALL(CV4L2_G_FMT, struct v4l2_format);
    CALL(CV4L2_S_FMT, struct v4l2_format);
    CALL(CV4L2_CROPCAP, struct v4l2_cropcap);
    CALL(CV4L2_G_SELECTION, struct v4l2_selection);
    CALL(CV4L2_ENUMINPUT, struct v4l2_input);
    CALL(CV4L2_G_INPUT, int);
    CALL(CV4L2_S_INPUT, int);
    CALL(CV4L2_ENUMSTD, struct v4l2_standard);
    CALL(CV4L2_G_STD, v4l2_std_id);
    CALL(CV4L2_S_STD, v4l2_std_id);
    CALL(CV4L2_G_PARM, struct v4l2_streamparm);
    CALL(CV4L2_S_PARM, struct v4l2_streamparm);
    CALL(CV4L2_REQBUFS, struct v4l2_requestbuffers);
    CALL(CV4L2_QUERYBUF, struct v4l2_buffer);
    CALL(CV4L2_QBUF, struct v4l2_buffer);
    CALL(CV4L2_DQBUF, struct v4l2_buffer);
    CALL(CV4L2_STREAMON, int);
    CALL(CV4L2_STREAMOFF, int);
    CALL(CV4L2_SUBSCRIBE_EVENT, struct v4l2_event_subscription);
    CALL(CV4L2_DQEVENT, struct v4l2_event);
    CALL(CV4L2_QUERY_DV_TIMINGS, struct v4l2_dv_timings);
    CALL(CV4L2_S_DV_TIMINGS, struct v4l2_dv_timings);
    CALL(CV4L2_G_DV_TIMINGS, struct v4l2_dv_timings);
    CALL(CV4L2_QUERY_EXT_CTRL, struct v4l2_query_ext_ctrl);
    CALL(CV4L2_QUERYMENU, struct v4l2_querymenu);
    CALL(CV4L2_G_EXT_CTRLS, struct v4l2_ext_controls);
    CALL(CV4L2_S_EXT_CTRLS, struct v4l2_ext_controls);
    FIELD(v4l2_buffer, timestamp);
    FIELD(v4l2_buffer, sequence);
    FIELD(v4l2_buffer, m);
    FIELD(v4l2_buffer, length);
    FIELD(v4l2_plane, m);
    FIELD(v4l2_plane, data_offset);
    FIELD(v4l2_format, fmt);
    FIELD(v4l2_pix_format, bytesperline);
    FIELD(v4l2_pix_format_mplane, plane_fmt);
    FIELD(v4l2_streamparm, parm);
    FIELD(v4l2_ext_control, value64);
    FIELD(v4l2_ext_controls, controls);
    FIELD(v4l2_query_ext_ctrl, default_value);
    FIELD(v4l2_querymenu, value);
    FIELD(v4l2_event, u);
    FIELD(v4l2_input, std);
    FIELD(v4l2_dv_timings, bt);
    FIELD(pollfd, revents);
    return failed;
}
