# Sourced by scripts that run in the guest, after guest.sh: the emulated USB webcam (../webcam).
# shellcheck shell=bash
camera=$LAB_CACHE/webcam
link=/dev/v4l/by-id/usb-Emulated_Emulated_Webcam_EMU0001-video-index0
cam() { "$camera/uvccam" "$@" >/dev/null; } # COMMAND...
