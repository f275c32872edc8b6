#!/usr/bin/env python3
"""Makes the inputs that fuzzing starts from, one folder a target: small streams of x264 and x265, and their records.

usage: seeds.py FOLDER     (scripts/fuzz calls it)
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

H264 = {
    "baseline": "-pix_fmt yuv420p -profile:v baseline -x264-params slices=3:threads=1",
    "interlaced": "-pix_fmt yuv420p -x264-params tff=1:nal-hrd=cbr:vbv-maxrate=100:vbv-bufsize=100:bitrate=100:pic-struct=1:aud=1",
    "high422": "-pix_fmt yuv422p10 -x264-params cqm=jvt:keyint=2:bframes=2:fullrange=on:colorprim=bt709",
    "gray": "-pix_fmt gray -x264-params intra-refresh=1:stitchable=1:sar=4/3",
    "high444": "-pix_fmt yuv444p -crf 0",
}
H265 = {
    "main": "-pix_fmt yuv420p -x265-params keyint=2:slices=2:aud=1:open-gop=0",
    "main10": "-pix_fmt yuv420p10 -x265-params hrd=1:vbv-maxrate=100:vbv-bufsize=100:bitrate=100:hdr10=1:max-cll=1000,400:master-display=G(1,2)B(3,4)R(5,6)WP(7,8)L(9,1)",
    "rext": "-pix_fmt yuv422p12 -x265-params lossless=1:scaling-list=default:temporal-layers=2:range=full",
    "gray": "-pix_fmt gray -x265-params interlace=tff:wpp=0:cutree=0:sar=2:hash=1",
}
START_CODE = re.compile(b"\x00{2,}\x01")


def encode(encoder, options, path):
    source = "testsrc2=size=64x48:rate=25"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source, "-frames:v", "4", "-c:v", encoder]
        + ["-preset", "veryfast", "-crf", "45"] + options.split() + [path], check=True, stderr=subprocess.DEVNULL)
    return pathlib.Path(path).read_bytes()


def box(file, kind):
    """The content of the first box of that type in an MP4 file."""
    at = file.index(kind)
    return file[at + 4:at - 4 + struct.unpack(">I", file[at - 4:at])[0]]


def units(annex_b):
    return [unit.rstrip(b"\0") for unit in START_CODE.split(annex_b) if unit]


def slice_group_map():
    """A picture parameter set that is nearly as large as one may be: a map of 100,000 slice group ids."""
    def ue(value):
        return "0" * ((value + 1).bit_length() - 1) + f"{value + 1:b}"

    bits = ue(0) + ue(0) + "00" + ue(1) + ue(6) + ue(99_999) + "1" * 100_000 + "11" + "000" + "111" + "000" + "1"
    bits += "0" * (-len(bits) % 8)
    return b"\0\0\1\x68" + int(bits, 2).to_bytes(len(bits) // 8, "big")


def main():
    folder = pathlib.Path(sys.argv[1])

    def seed(target, name, content):
        path = folder / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    seed("H264SyntaxFuzz", "H264-map", slice_group_map())
    for name, text in (("form", b"user=maria&password=a+b%26c%C3%A4"), ("cookies", b"a=1; camweb=" + b"0f" * 32 + b"\ncamweb=2"),
                       ("proxy", b"198.51.100.7, 2001:db8::1\n 192.0.2.1 "), ("host", b"[::1]:8080")):
        seed("RequestTextFuzz", name, text)
    # The bytes before the content control the target: see its use of `choice` and `chunks`.
    with tempfile.TemporaryDirectory() as scratch:
        for number, (codec, encoder, streams) in enumerate((("H264", "libx264", H264), ("H265", "libx265", H265))):
            for name, options in streams.items():
                name = f"{codec}-{name}"
                stream = encode(encoder, options, f"{scratch}/{name}.{codec.lower()}")
                record = encode(encoder, options, f"{scratch}/{name}.mp4")
                record = box(record, b"avcC" if codec == "H264" else b"hvcC")
                parts = units(stream)
                seed(f"{codec}SyntaxFuzz", name, stream)
                for index, part in enumerate(parts):
                    seed(f"{codec}SyntaxFuzz", f"{name}-{index}", b"\0\0\1" + part)
                seed("AVCRecordFuzz" if codec == "H264" else "HEVCRecordFuzz", name, record)
                seed("AnnexBParserFuzz", name, b"\xff\x00\x25" + stream)
                for choice, length in enumerate((1, 2, 4)):
                    whole = b"".join(len(p).to_bytes(length, "big") + p for p in parts if len(p) >> 8 * length == 0)
                    seed("AVCCReaderFuzz", f"{name}-{length}", bytes([choice, 255, 37]) + whole)
                for target in ("AccessUnitDetectorFuzz", "StreamShaperFuzz"):
                    seed(target, name, bytes([number]) + stream)
                seed("StreamShapeCheckerFuzz", name, bytes([number, 200]) + stream)
                seed("StreamInspectorFuzz", name, bytes([number, 1, 200]) + stream)
                seed("StreamKindFuzz", name, stream)
                seed("AccessUnitAssemblerFuzz", name, bytes([number, 16, 20, 0x45]) + stream)
                for choice in range(4):
                    seed("PictureDecoderFuzz", f"{name}-{choice}", bytes([number, choice & 1, choice >> 1, choice, 0x45]) + stream)
                seed("EmulationPreventionFuzz", name, parts[-1])


main()
