# shellcheck shell=bash
# In the guest, sourced by webcam.sh: a writer of v4l2loopback, which may return with another size.

begin_writer() { # SIZE
    "$PYTHON" "$LAB/scenes/scenes.py" --seed 7 --size "$1" --fps 10 --seconds 300 --format yuyv --pace -o /dev/video10 >>"$RESULTS/scenes.log" 2>&1 &
    writer=$!
    await 60 sh -c "v4l2-ctl -d /dev/video10 --get-fmt-video | grep -q ' ${1/x//}'"
}
end_writer() {
    kill $writer 2>/dev/null || true
    wait $writer || true
}

# It returns with another size while camrec has released the node.
returns_with_another_size() {
    local recorder status
    begin_writer 160x120
    mkdir sizes
    timeout --foreground 240 "$CAMREC" --device /dev/video10 --encoder software --device-timeout forever --report sizes/report.json sizes/out.h264 2>sizes/stderr &
    recorder=$!
    has_grown() { [ -n "$(find sizes -name "$1" -size +4k)" ]; }
    await 60 has_grown out.h264 || fail "loopback" "nothing is recorded: $(cat sizes/stderr)"
    end_writer
    if await 60 grep -q 'waiting for it' sizes/stderr; then
        begin_writer 320x240
        await 60 has_grown out-1.h264 || fail "loopback: another size" "no second file: $(cat sizes/stderr)"
        kill -INT $recorder
        status=0
        wait $recorder || status=$?
        check "loopback: another size is no failure" test $status = 0
        end_writer
        rm -rf "${RESULTS:?}/sizes"
        keep sizes
        on_host check "loopback: the first file has the first size" has_properties sizes/out.h264 width=160 height=120
        on_host check "loopback: the next file has the size with which the writer returned" has_properties sizes/out-1.h264 width=320 height=240
        on_host check "loopback: the next file is sound" is_sound sizes/out-1.h264
    else
        fail "loopback: another size" "camrec does not wait: $(cat sizes/stderr)"
    fi
}
