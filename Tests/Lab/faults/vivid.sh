# shellcheck shell=bash
# The faults of vivid, the kernel's virtual camera. Sourced after recordings.sh.
#
# `options` are camrec's, without the device.

link=/dev/v4l/by-path/platform-vivid.0-video-index0
find_vivid() { # leaves its node in $node, and as the device in $camera
    udevadm settle
    node=$(vivid_node)
    camera=(--device "$node" "${options[@]}")
    still_picture "$node" # which costs an emulated processor less
}
control() { v4l2-ctl -d "$node" -c "$1"; }

begin_vivid() {
    modprobe -r vivid 2>/dev/null || true
    modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
    find_vivid
}

# --- its stream
fail_buffer() { control inject_vidioc_qbuf_error=1; }
fail_queue() { control inject_fatal_streaming_error=1; }
# The camera really disappears, and its node may come back with another number.
bind() { echo vivid.0 >"/sys/bus/platform/drivers/vivid/$1"; }
rebind() {
    bind unbind
    await 15 sh -c "! [ -e $link ]"
    for_a_while 0 1000
    bind bind
    await 15 test -e $link
}

vivid_stream_faults() { # WHAT [EXPECTATION...]: what the rows begin with, and what holds for each recording
    strikes qbuf "$1: a buffer cannot be queued (inject_vidioc_qbuf_error)" "$(times 10 1)" fail_buffer --so "source.restarts >= $(times 10 1)" "${@:2}"
    strikes fatal "$1: the stream fails for good (inject_fatal_streaming_error)" "$(times 10 1)" fail_queue --so "source.restarts >= $(times 10 1)" "${@:2}"
    strikes rebind "$1: the driver is unbound while it streams, and bound within a second" "$(times 10 1)" rebind --so "source.restarts >= $(times 10 1)" "${@:2}"
    find_vivid
}

# --- its pictures, and its calls

disconnect() { control disconnect=1; }
flag() { control inject_v4l2_buf_flag_error=1; }
ask() { control inject_req_validate_error=1; }
half() {
    control fill_percentage_of_frame=50
    for_a_while 500 3000
    control fill_percentage_of_frame=100
}
freeze() {
    control percentage_of_dropped_buffers=100
    for_a_while 3000 8000
    control percentage_of_dropped_buffers=0
}

vivid_picture_faults() { # WHAT [EXPECTATION...]
    strikes disconnect "$1: the camera disconnects (disconnect)" 10 disconnect --so 'source.restarts >= 10' "${@:2}"
    strikes flag "$1: a buffer comes with an error (inject_v4l2_buf_flag_error)" 20 flag --so 'frames.corrupt >= 20' --so 'source.restarts == 0' "${@:2}"
    strikes request "$1: a request is refused (inject_req_validate_error), which camrec never makes" 5 ask --so 'source.restarts == 0' "${@:2}"
    strikes half "$1: pictures are filled by half for up to 3 s (fill_percentage_of_frame)" 5 half --so 'source.restarts == 0' "${@:2}"
    strikes frozen "$1: freezes for 3 to 8 s (percentage_of_dropped_buffers=100)" 5 freeze --so 'source.restarts >= 5' "${@:2}"
    control percentage_of_dropped_buffers=30
    lasts dropped "$1: a third of the buffers is dropped (percentage_of_dropped_buffers=30)" 60 --so 'frames.droppedByDriver >= 10' "${@:2}"
    control percentage_of_dropped_buffers=0
}

vivid_call_faults() { # WHAT [EXPECTATION...]
    local call fault status
    # These calls are made when a camera is opened, and when it is reopened.
    for call in reqbufs streamon; do
        control inject_vidioc_${call}_error=1
        fault="$1: opened with an error (inject_vidioc_${call}_error)"
        status=0
        camrec "${camera[@]}" --frames 1 refused.h264 || status=$?
        says "$fault: one line names it" "^camrec: $node: VIDIOC_${call^^} failed"
        on_host trial "$fault" --status $status --wanted 74 --no-file
        on_host settle "$fault"
        reopen_with_error() { v4l2-ctl -d "$node" -c inject_vidioc_${call}_error=1 -c disconnect=1; }
        strikes $call "$1: the camera disconnects, and is opened again with an error (inject_vidioc_${call}_error)" 5 reopen_with_error --so 'source.restarts >= 5' "${@:2}"
    done
}
