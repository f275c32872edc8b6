# Sourced by the lab's scripts: where things are, and how a check is counted.
# shellcheck shell=bash disable=SC2034 # what is set here is used there

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_CACHE=${CAMREC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/camrec-lab}
# The build of the unit tests: that of swift test, or with CAMREC_BUILD=release an optimized one, as users run camrec; only
# such builds allocate nothing for a frame.
if [ "${CAMREC_BUILD-}" = release ]; then
    test_options=(-c release -debug-info-format none -Xswiftc -enable-testing --scratch-path .build-optimized) test_build=.build-optimized/release
else
    test_options=() test_build=.build/debug
fi
# The program under test. A run of the lab by hand may name another build.
CAMREC=${CAMREC:-$(cd "$LAB/../.." && pwd)/.build/release/camrec}
CAMPLAY=${CAMPLAY:-$(dirname "$CAMREC")/camplay}
CAMWEB=${CAMWEB:-$(dirname "$CAMREC")/camweb}
# The distribution's Python: numpy comes with it, and the guest sees it too.
PYTHON=/usr/bin/python3
export LAB LAB_CACHE CAMREC CAMPLAY CAMWEB PYTHON

begin() { # the first command of a script with checks: its own folder, removed at the end
    work=$(mktemp -d)
    trap clean EXIT
    cd "$work"
    # One line per check: outcome, name, reason. scripts/test provides the file; a script run by hand has its own.
    alone=
    if [ -z "${LAB_TALLY-}" ]; then export LAB_TALLY=$work/tally alone=yes; fi
}

clean() {
    ip netns del $far 2>/dev/null || true
    cd / && rm -rf "$work"
}

# A separate machine, and a link to it that can be cut; both ends' addresses differ from those of other runs.
far=camrec-$$
near_link=camrec$$
subnet=198.18.$(($$ % 16384 / 64)).
near_address=$subnet$(($$ % 64 * 4 + 1))
far_address=$subnet$(($$ % 64 * 4 + 2))
make_distance() { # needs root; says why if it fails
    ip netns add $far && ip link add $near_link type veth peer name far netns $far && ip addr add $near_address/30 dev $near_link &&
        ip link set $near_link up && ip -n $far addr add $far_address/30 dev far && ip -n $far link set far up
}

finish() { # the last command of a script: whatever ends before it has failed
    if [ -n "$alone" ]; then summary; fi
}

count() { # OUTCOME NAME [REASON]
    local name=${LAB_PREFIX-}$2 reason=${3-}
    reason=${reason//[$'\n\t']/ }
    reason=${reason:0:400}
    printf '%s\t%s\t%s\n' "$1" "$name" "$reason" >>"$LAB_TALLY"
    printf "%-4s  %s%s\n" "${1^^}" "$name" "${reason:+: $reason}"
}
pass() { count pass "$1"; }
fail() { count fail "$1" "$2"; }
skip() { count skip "$1" "$2"; }

check() { # NAME COMMAND...: passes if the command exits 0; otherwise its output is the reason
    local name=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    if [ "$status" = 0 ]; then pass "$name"; else fail "$name" "status $status from $(basename "$1"): $(tail -n 4 <<<"$output")"; fi
}

# Runs camrec and keeps its output in $work/stdout and $work/stderr. A limit, because a hang is a failure too.
launcher=() # a command that camrec is run by
camrec() {
    local status=0
    timeout --kill-after=5 "${limit:-120}" "${launcher[@]}" "$CAMREC" "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    return "$status"
}

records() { # NAME ARGUMENTS...: camrec exits 0
    local name=$1 status=0
    shift
    camrec "$@" || status=$?
    if [ "$status" = 0 ]; then
        pass "$name"
    else
        fail "$name" "exit code $status: $(tail -n 3 "$work/stderr")"
        return 1
    fi
}

refuses() { # NAME CODE PATTERN ARGUMENTS...: camrec exits with CODE after one line on standard error that has PATTERN
    local name=$1 code=$2 pattern=$3 status=0
    shift 3
    camrec "$@" || status=$?
    if [ "$status" != "$code" ]; then
        fail "$name" "exit code $status in place of $code: $(tail -n 3 "$work/stderr")"
    elif [ "$(wc -l <"$work/stderr")" != 1 ]; then
        fail "$name" "$(wc -l <"$work/stderr") lines on standard error in place of one: $(head -n 4 "$work/stderr")"
    elif ! grep -qE -- "$pattern" "$work/stderr"; then
        fail "$name" "'$(cat "$work/stderr")' does not match '$pattern'"
    else
        pass "$name"
    fi
}

says() { # NAME PATTERN: the last run's standard error has PATTERN
    if grep -qE -- "$2" "$work/stderr"; then pass "$1"; else fail "$1" "standard error has no '$2': $(tail -n 3 "$work/stderr")"; fi
}

error_names() { # FILE PATTERN: besides warnings one line was said, and it has PATTERN
    local said
    said=$(grep -v '^camrec: warning: ' "$1" || true)
    [ "$(grep -c . <<<"$said")" = 1 ] && grep -qE -- "$2" <<<"$said" || { echo "said: $said"; return 1; }
}

await() { # SECONDS COMMAND...: until it succeeds
    local tries=$(($1 * 10))
    shift
    while [ $((tries--)) -gt 0 ]; do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    return 1
}

demuxer() { # FILE: ffmpeg's name for the raw stream in it
    case $1 in
        *.h265 | *.265 | *.hevc) echo hevc ;;
        *) echo h264 ;;
    esac
}

# ffmpeg's decoder has nothing to say. Pictures may be closer together than their rate says, which its output would note.
decodes() { # OPTIONS... of the input
    local said
    said=$(ffmpeg -nostdin -v warning -xerror -err_detect explode "$@" -vf 'setpts=2*N/TB' -fps_mode passthrough -f null - 2>&1) || {
        echo "ffmpeg failed: $said"
        return 1
    }
    [ -z "$said" ] || { echo "ffmpeg said: $said"; return 1; }
}
decodes_silently() { decodes -probesize 100M -f "$(demuxer "$1")" -i "$1"; } # FILE: a raw stream
session_decodes() { # FILE: what GStreamer's RTSP server wrote of a session
    # Of the last picture it may have written only the delimiter that it puts before each.
    case $(tail -c 7 "$1" | od -An -tx1 | tr -d ' \n') in
        *0000000109??) truncate -s -6 "$1" ;;
        000000014601??) truncate -s -7 "$1" ;;
    esac
    decodes_silently "$1"
}
decodes_ts() { decodes -f mpegts -i "$1"; }                                  # FILE: from its first picture on
decodes_container() { decodes -i "$1"; }                                     # FILE: from its first picture on

# What ffprobe reads from FILE's sequence parameter set.
has_properties() { # FILE KEY=VALUE...
    local found wanted
    found=$(ffprobe -v error -f "$(demuxer "$1")" -show_streams "$1")
    shift
    for wanted in "$@"; do
        # From 7.1 on, ffprobe's of raw H.264 is that of fields.
        if [[ $wanted = r_frame_rate=* && $found = *codec_name=h264* && $(ffprobe -version) =~ ^ffprobe\ version\ n?([7-9]|[1-9][0-9])\. ]]; then
            wanted=r_frame_rate=$((2 * ${wanted//[!0-9\/]/}))/1
        fi
        grep -qxF -- "$wanted" <<<"$found" || {
            echo "$(grep -E "^${wanted%%=*}=" <<<"$found" || echo "no ${wanted%%=*}") in place of $wanted"
            return 1
        }
    done
}

# A field of FILE's parameter sets or slice headers, by the standard's name for it, as libavcodec reads them.
has_syntax() { # FILE FIELD VALUE
    local found
    found=$(ffmpeg -nostdin -v info -f "$(demuxer "$1")" -i "$1" -c copy -bsf:v trace_headers -f null - 2>&1 | awk -v field="$2" '$(NF - 3) == field {print $NF; exit}')
    [ "$found" = "$3" ] || { echo "$2 is '$found' in place of $3"; return 1; }
}

picture_hashes() { # FILE: a line for each picture that is decoded of a container or a raw stream
    local form=()
    case $1 in *.mkv | *.mp4 | *.ts) ;; *) form=(-f "$(demuxer "$1")") ;; esac
    ffmpeg -nostdin -v quiet "${form[@]}" -i "$1" -fps_mode passthrough -f framemd5 - | awk -F, '!/^#/ {print $NF}'
}

same_pictures() { # FILE RAW: a container and a raw stream decode to the same pictures, whatever their times
    local one other
    one=$(picture_hashes "$1") other=$(picture_hashes "$2")
    [ -n "$one" ] && [ "$one" = "$other" ] || { echo "$(wc -l <<<"$one") pictures of $1 differ from $(wc -l <<<"$other") of $2"; return 1; }
}

# Of a part of pictures that must be black, within the codec's blur at its edges.
brightest() { # FILE WxH+X+Y: the highest luma and the distance of chroma from gray, in a part of its pictures
    ffmpeg -nostdin -v error -i "$1" -vf "format=yuv420p,crop=$(tr x+ :: <<<"$2"),signalstats,metadata=print:file=-" -f null - |
        awk -F = '/YMAX/ {if ($2 > y) y = $2} /[UV]MAX/ {if ($2 - 128 > c) c = $2 - 128} /[UV]MIN/ {if (128 - $2 > c) c = 128 - $2} END {print y + 0, c + 0}'
}
hides() { # FILE WxH+X+Y
    local luma color
    read -r luma color < <(brightest "$@")
    [ "$luma" -le 24 ] && [ "$color" -le 6 ] || { echo "luma up to $luma, color $color"; return 1; }
}

is_mesa_22() { grep -q 'Mesa Gallium driver 22\.' <<<"$("$LAB/gpu/run" radeonsi vainfo --display drm --device /dev/dri/renderD128 2>&1)"; }
nothing_left() { # DRIVER: what the emulated GPU's report says where a program has freed everything
    # Mesa 25 keeps a context and a page of memory until it ends.
    if [ "$1" = radeonsi ] && ! is_mesa_22; then
        echo 'devices[0].left.bytes <= 4096 and devices[0].left.contexts <= 1 and devices[0].left.mappings == 0 and devices[0].left.sessions == 0'
    else
        echo 'devices[0].left.total == 0'
    fi
}

# The emulated GPU: tests that need it are skipped if there is none; one that does not work is a failure.
has_gpu() { # NAME DRIVER [PATTERN]: it exists, and a line of the driver's capabilities has PATTERN
    local said status=0 tried=(true)
    if [ -n "${3-}" ]; then tried=(vainfo --display drm --device /dev/dri/renderD128); fi
    # In a guest nothing can be fetched.
    said=$({ [ -n "${RESULTS-}" ] || "$LAB/gpu/fetch" >/dev/null; } 2>&1 && timeout --kill-after=5 60 "$LAB/gpu/run" "$2" "${tried[@]}" 2>&1) || status=$?
    if [ $status != 0 ] && grep -qE '^gpu/(fetch|run): ' <<<"$said"; then
        skip "$1" "$said"
    elif [ $status != 0 ] || ! grep -q -- "${3-}" <<<"$said"; then
        fail "$1" "the emulated GPU does not work: status $status: $(tail -n 3 <<<"$said")"
    else
        return 0
    fi
    return 1
}

newer_package() { # DEB: prints the path of the same package as a newer version, for an upgrade
    local folder
    folder=$(mktemp -d -p "$work")
    dpkg-deb --raw-extract "$1" "$folder/files" || return
    sed -i -E 's/^(Version: .*)/\1+newer/' "$folder/files/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$folder/files" "$folder/newer.deb" >/dev/null && echo "$folder/newer.deb"
}

remuxes() { # RAW TIMES: put into a container, each of the stream's pictures is at its time
    "$CAMREC" remux "$1" "$1.mkv" --timestamps "$2" --overwrite && container times "$1.mkv" "$2"
}

stream() { "$PYTHON" "$LAB/verify/stream.py" "$@"; }
pictures() { "$PYTHON" "$LAB/verify/pictures.py" "$@"; }
report() { "$PYTHON" "$LAB/verify/report.py" "$@"; }
# camplay's report: every access unit is in one of the counts.
play_report() { # FILE CONDITION...
    report "$@" 'pictures.received == pictures.decoded + pictures.secondFields + pictures.beforeFirstKeyframe + pictures.frozen + pictures.skipped + pictures.lost + pictures.withheld + pictures.unplayed'
}
container() { "$PYTHON" "$LAB/verify/container.py" "$@"; }
rate() { "$PYTHON" "$LAB/verify/rate.py" "$@"; }
stepwise() { "$PYTHON" "$LAB/verify/stepwise.py" "$@"; }
scenes() { "$PYTHON" "$LAB/scenes/scenes.py" "$@"; }

# The shape that camrec promises, and no complaint from a decoder.
is_sound() { # FILE OPTIONS...
    stream "$@" && decodes_silently "$1"
}

summary() { # the last line of every run; status 1 where something failed
    local outcome counts=()
    for outcome in pass fail skip; do counts+=("$(grep -c "^$outcome	" "$LAB_TALLY" || true)"); done
    if [ "${counts[1]}" != 0 ]; then
        echo
        echo "Failed:"
        awk -F '\t' '$1 == "fail" {print "  " $2 ": " $3}' "$LAB_TALLY"
    fi
    if [ "${counts[2]}" != 0 ]; then
        echo
        echo "Skipped:"
        awk -F '\t' '$1 == "skip" {print "  " $2 ": " $3}' "$LAB_TALLY"
    fi
    echo
    echo "${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped"
    [ "${counts[1]}" = 0 ]
}
