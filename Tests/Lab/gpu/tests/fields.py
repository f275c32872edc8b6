"""Writes an H.264 stream of field pictures, which x264 does not make: macroblocks of I_PCM, and skipped ones that are
predicted from fields of both parities."""

import random

WIDTH, HEIGHT = 4, 4  # in macroblocks, of a frame
PCM_BYTES = 384
P_SLICE, I_SLICE = 5, 7
IDR, NON_IDR, SPS, PPS = 5, 1, 7, 8


class Bits:
    def __init__(self):
        self.text = ""

    def u(self, value, count):
        self.text += format(value, f"0{count}b")

    def ue(self, *values):
        for value in values:
            digits = format(value + 1, "b")
            self.text += "0" * (len(digits) - 1) + digits

    def align(self):
        self.text += "0" * (-len(self.text) % 8)

    def unit(self, kind):
        """The NAL unit with its start code."""
        self.text += "1"
        self.align()
        payload, zeros = bytearray(), 0
        for byte in (int(self.text[i : i + 8], 2) for i in range(0, len(self.text), 8)):
            if zeros >= 2 and byte <= 3:
                payload.append(3)
                zeros = 0
            payload.append(byte)
            zeros = 0 if byte else zeros + 1
        return bytes((0, 0, 0, 1, 3 << 5 | kind)) + bytes(payload)


def parameter_sets():
    sps = Bits()
    for value in (77, 0, 30):  # Main, level 3
        sps.u(value, 8)
    sps.ue(0, 0, 0, 2, 2)  # ids, log2_max_frame_num 4, pic_order_cnt_type 0 with log2 6, two reference frames
    sps.u(0, 1)
    sps.ue(WIDTH - 1, HEIGHT // 2 - 1)
    sps.u(0b00, 2)  # no frame_mbs_only_flag, no mb_adaptive_frame_field_flag
    sps.u(0b100, 3)  # direct_8x8_inference_flag, no cropping, no VUI
    pps = Bits()
    pps.ue(0, 0)
    pps.u(0b00, 2)
    pps.ue(0, 1, 0)  # one slice group; two references where a slice does not say
    pps.u(0b000, 3)
    pps.ue(0, 0, 0)
    pps.u(0b000, 3)
    return sps.unit(SPS) + pps.unit(PPS)


def field(number, bottom, generator):
    """A field: I where it is the first of four frames, else P, where two macroblocks in three are skipped."""
    intra = idr = number % 4 == 0 and not bottom
    bits = Bits()
    bits.ue(0, I_SLICE if intra else P_SLICE, 0)
    bits.u(number % 4, 4)  # frame_num
    bits.u(0b11 if bottom else 0b10, 2)
    if idr:
        bits.ue(number // 4 % 2)
    bits.u(2 * (number % 4) + bottom, 6)
    if not intra:
        alone = number % 4 == 0  # after an IDR picture's first field there is that one alone
        bits.u(alone, 1)
        if alone:
            bits.ue(0)
        bits.u(0, 1)  # no modification of the list
    bits.u(0, 2 if idr else 1)
    bits.ue(0)  # slice_qp_delta
    skipped = 0
    for _ in range(WIDTH * HEIGHT // 2):
        if not intra and generator.random() < 2 / 3:
            skipped += 1
            continue
        if not intra:
            bits.ue(skipped)
        skipped = 0
        bits.ue(25 if intra else 30)
        bits.align()
        for _ in range(PCM_BYTES):
            bits.u(generator.randrange(1, 256), 8)
    if skipped:
        bits.ue(skipped)
    return bits.unit(IDR if idr else NON_IDR)


def write(path, frames):
    generator = random.Random(1)
    units = [field(number, bottom, generator) for number in range(frames) for bottom in (0, 1)]
    path.write_bytes(parameter_sets() + b"".join(units))
