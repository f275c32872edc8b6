# shellcheck shell=bash
# Faults of the emulated GPU while it encodes. Sourced after faults.sh.
# shellcheck disable=SC2034,SC2154 # what is set here is used there, and the other way round
#
# `source` is what is recorded: so many `frames` at a `rate`.

frames=90 rate=60
# Random pictures are among the first so many.
latest=80
# Milliseconds a picture that are too many at this rate, and bytes that are too few for any picture.
slow=60 narrow=30
# Pictures of the GPU for each frame, what it does for them besides encoding, and what then holds in each report.
units=1 besides='' beside=()
random_pictures=5 took=6

choose_pictures() { # the frames, counted from 0, that a fault strikes: the first, the second, the 30th and random ones
    local i
    struck=()
    if [ -z "$short" ]; then struck=(0 1 29); fi
    for ((i = 0; i < $(times $random_pictures 1); i++)); do
        draw 2 $latest
        struck+=("$drawn")
    done
}

recorded() { # FAULT CODE TRIAL-OPTIONS... -- ARGUMENTS...: while the fault is there
    local fault=$1 code=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    start "${source[@]}" "${@:2}" a.h264
    ended
    judge "$fault" --status "$status" --wanted "$code" "${options[@]}"
}

judge() { # FAULT TRIAL-OPTIONS...: of what is in the working folder
    local files
    mapfile -t files < <(compgen -G a.h264 || true)
    trial "$1" --rate $rate "${@:2}" "${files[@]}"
}

on_gpu() { # GPU-FAULT FAULT CODE TRIAL-OPTIONS... -- ARGUMENTS...
    FAKEGPU_FAULTS=$1 recorded "$driver${besides:+, $besides}: $2" "${@:3}"
}

gpu_faults() {
    local picture first in_software on_hardware once
    in_software=(--report report.json --so "outputs[0].written == $frames" --so 'encoder.implementation == "libx264"')
    on_hardware=(--report report.json --so "outputs[0].written == $frames" --so 'encoder.implementation == "h264_vaapi"')
    once=(--so 'frames.droppedByEncoder == 1')
    # A JPEG that the GPU does not decode is the processor's, and no frame is lost.
    if [ $units != 1 ]; then once=(--so 'frames.droppedByEncoder <= 1'); fi
    choose_pictures
    for picture in "${struck[@]}"; do
        first=$((picture * units))
        case $driver/$picture in
            iHD/0)
                if [ -z "$besides" ]; then
                    on_gpu "fail I915_GEM_EXECBUFFER2 EIO 1 1" "the first submission fails" 69 --no-file -- --encoder vaapi
                else
                    # It is excused, or nothing but a JPEG is lost.
                    on_gpu "fail I915_GEM_EXECBUFFER2 EIO 1 1" "the first submission fails" 0 "${on_hardware[@]}" "${once[@]}" "${beside[@]}" -- --encoder vaapi
                fi
                ;;
            iHD/*)
                on_gpu "fail I915_GEM_EXECBUFFER2 EIO $((first + 1)) 1" "a submission fails at picture N" 0 "${on_hardware[@]}" "${once[@]}" "${beside[@]}" -- --encoder vaapi
                [ -z "$short" ] || continue
                on_gpu "lost $first" "the device is lost at picture N" 0 "${in_software[@]}" "${beside[@]}" --most-took $took -- --encoder auto
                on_gpu "hang $first 300" "the GPU hangs and is reset at picture N" 0 "${in_software[@]}" "${beside[@]}" --most-took $took -- --encoder auto
                ;;
            # Mesa 22.3 ends the process by itself when the kernel refuses a submission; systemd starts it again.
            radeonsi/[01]) ;; # nothing is recorded then
            radeonsi/*)
                on_gpu "lost $first" "the device is lost at picture N, Mesa ends the process" 1 --died-at "$picture" --most-lost 30 -- --encoder auto
                [ -z "$short" ] || continue
                on_gpu "hang $first 300" "the GPU hangs and is reset at picture N, Mesa ends the process" 1 --died-at "$picture" --most-lost 30 -- --encoder auto
                on_gpu "fail AMDGPU_CS ENOMEM $((first + 1)) 1" "no memory for a submission" 0 "${on_hardware[@]}" "${beside[@]}" -- --encoder vaapi
                ;;
        esac
    done
    on_gpu "coded $narrow" "the coded buffer is too small" 0 "${in_software[@]}" "${beside[@]}" --most-took $took -- --encoder auto
    [ -z "$short" ] || return 0
    on_gpu "memory 2M" "no memory on the GPU" 0 "${in_software[@]}" --most-took $took -- --encoder auto
    on_gpu "slow $((slow / units))" "$slow ms a picture at $rate frames a second" 0 "${on_hardware[@]}" "${beside[@]}" \
        --so 'frames.droppedByUs + frames.droppedByDriver > 20' -- --encoder vaapi
    if [ "$driver" = iHD ]; then
        on_gpu "lost $((frames * 4 / 9 * units))" "the device is lost, and no other encoder allowed" 69 --report report.json -- --encoder vaapi
    fi
    hang "the driver hangs, and recovers" "${on_hardware[@]}" --encoder vaapi
    hang "the driver hangs for good" "${in_software[@]}" --encoder auto
}

# A fence that never signals: its thread is abandoned. With `recovers` the fault ends once it has been noticed.
hang() { # FAULT TRIAL-OPTIONS... --encoder ENCODER
    local fault="$driver${besides:+, $besides}: $1" options=("${@:2:$#-3}")
    echo "hang $((frames * 4 / 9 * units))" >"$work/control"
    FAKEGPU_CONTROL=$work/control start "${source[@]}" "${@: -2}" a.h264
    if [[ $fault = *recovers ]]; then
        await 60 grep -q 'hangs' stderr || fail "$fault" "it is not noticed"
        : >"$work/control"
    fi
    ended
    judge "$fault" --status "$status" "${options[@]}" "${beside[@]}" --so 'encoder.restarts >= 1' --most-took 45
}

settle_gpu_faults() { # those of one driver
    local faults
    mapfile -t faults < <("$PYTHON" "$LAB/verify/faults.py" names --part "$part" "$LAB_FAULTS" | grep "^${driver}[:,]")
    [ ${#faults[@]} != 0 ] || fail "$part: $driver" "no fault was made"
    for fault in "${faults[@]}"; do settle "$fault"; done
}
