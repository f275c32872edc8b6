"""Parameter sets with every syntax element that the standards have for the base layer, at random values within their ranges.

Whether an element is present is random, so that a few hundred sets cover the syntax: what encoders write is a
small part of it. The sets take ids that the stream around them does not use.
"""
from bits import Bits, h264_header, h265_header

# profile_idc of the profiles whose sequence parameter set says the chroma format (H.264, 7.3.2.1.1).
HIGH = (100, 110, 122, 244, 44)


class Random:
    """Elements with random values. `r` is a random.Random."""

    def __init__(self, r):
        self.r = r
        self.bits = Bits()

    def flag(self, chance=0.5):
        return self.bits.u(1, int(self.r.random() < chance))

    def u(self, count, low=0, high=None):
        return self.bits.u(count, self.r.randint(low, (1 << count) - 1 if high is None else high))

    def ue(self, low, high):
        # Half of the values are small; otherwise most codes would be of the longest form.
        return self.bits.ue(self.r.randint(low, self.r.choice((high, min(high, low + 3)))))

    def se(self, low, high):
        return self.bits.se(self.r.randint(low, high))


# H.264

def h264_scaling_list(x, size):
    """scaling_list() (7.3.2.1.1.1)."""
    last = following = 8
    for j in range(size):
        if following:
            ends = x.r.random() < 0.1  # all that follow are as the last one
            delta = x.bits.se(-last if last <= 128 else 256 - last) if ends else x.se(-128, 127)
            following = (last + delta) % 256
        last = following or last


def h264_scaling_matrix(x, count):
    for i in range(count):
        if x.flag():
            h264_scaling_list(x, 16 if i < 6 else 64)


def h264_hrd(x):
    """hrd_parameters() (E.1.2)."""
    count = x.ue(0, 31)
    x.u(4), x.u(4)
    for _ in range(count + 1):
        x.ue(0, 2 ** 32 - 2), x.ue(0, 2 ** 32 - 2), x.flag()
    for _ in range(4):
        x.u(5)


def h264_vui(x):
    """vui_parameters() (E.1.1)."""
    if x.flag() and x.bits.u(8, x.r.choice((0, 1, 2, 14, 16, 255))) == 255:
        x.u(16), x.u(16)
    if x.flag():
        x.flag()
    if x.flag():
        x.u(3, 0, 5), x.flag()
        if x.flag():
            x.u(8), x.u(8), x.u(8)
    if x.flag():
        x.ue(0, 5), x.ue(0, 5)
    if x.flag():
        x.u(32, 1), x.u(32, 1), x.flag()
    hrd = [x.flag() and (h264_hrd(x), 1)[1] for _ in range(2)]
    if any(hrd):
        x.flag()
    x.flag()
    if x.flag():
        x.flag(), x.ue(0, 16), x.ue(0, 16), x.ue(0, 15), x.ue(0, 15)
        reorder = x.ue(0, 16)
        x.ue(reorder, 16)


def h264_sps(r, number):
    """seq_parameter_set_rbsp() (7.3.2.1.1); gives the unit and what picture parameter sets depend on."""
    x = Random(r)
    profile = x.bits.u(8, r.choice((66, 77, 88, *HIGH)))
    for _ in range(6):
        x.flag()
    x.bits.u(2, 0)
    x.bits.u(8, r.choice((9, 10, 11, 13, 31, 40, 42, 51, 62)))
    x.bits.ue(number)
    chroma = 1
    if profile in HIGH:
        chroma = x.ue(0, 3)
        if chroma == 3:
            x.flag()
        x.ue(0, 6), x.ue(0, 6), x.flag()
        if x.flag():
            h264_scaling_matrix(x, 12 if chroma == 3 else 8)
    x.ue(0, 12)
    order = x.ue(0, 2)
    if order == 0:
        x.ue(0, 12)
    elif order == 1:
        x.flag(), x.se(-2 ** 31 + 1, 2 ** 31 - 1), x.se(-99, 99)
        for _ in range(x.ue(0, 255)):
            x.se(-2 ** 31 + 1, 2 ** 31 - 1)
    x.ue(0, 16), x.flag()
    width, height = x.ue(1, 40) + 1, x.ue(1, 40) + 1
    if not x.flag():
        x.flag()
        x.bits.u(1, 1)
    else:
        x.flag()
    if x.flag():
        for _ in range(4):
            x.ue(0, 3)
    if x.flag(0.8):
        h264_vui(x)
    return x.bits.unit(h264_header(7, 3)), (number, chroma, width * height)


def h264_slice_groups(x, count, size):
    """The slice groups of pic_parameter_set_rbsp() (7.3.2.2)."""
    kind = x.bits.ue(x.r.choice((0, 1, 2, 6) if count != 2 else range(7)))
    if kind == 0:
        for _ in range(count):
            x.ue(0, size - 1)
    elif kind == 2:
        for _ in range(count - 1):
            top = x.ue(0, size - 1)
            x.ue(top, size - 1)
    elif kind in (3, 4, 5):
        x.flag(), x.ue(0, size - 1)
    elif kind == 6:
        x.bits.ue(size - 1)
        for _ in range(size):
            x.u((count - 1).bit_length(), 0, count - 1)


def h264_pps(r, number, sps):
    """pic_parameter_set_rbsp() (7.3.2.2)."""
    sps_number, chroma, size = sps
    x = Random(r)
    x.bits.ue(number), x.bits.ue(sps_number)
    x.flag(), x.flag()
    groups = x.bits.ue(r.choice((0, 0, 0, 1, 1, 2, 7))) + 1
    if groups > 1:
        h264_slice_groups(x, groups, size)
    x.ue(0, 31), x.ue(0, 31), x.flag(), x.u(2, 0, 2)
    x.se(-26, 25), x.se(-26, 25), x.se(-12, 12), x.flag(), x.flag(), x.flag()
    if x.r.random() < 0.7:
        wide = x.flag()
        if x.flag():
            h264_scaling_matrix(x, 6 + (6 if chroma == 3 else 2) * wide)
        x.se(-12, 12)
    return x.bits.unit(h264_header(8, 3))


def h264_sps_extension(r, number):
    """seq_parameter_set_extension_rbsp() (7.3.2.1.2)."""
    x = Random(r)
    x.bits.ue(number)
    if x.ue(0, 3):
        depth = x.ue(0, 4)
        x.flag(), x.u(depth + 9), x.u(depth + 9)
    x.bits.u(1, 0)
    return x.bits.unit(h264_header(13, 1))


def h264_sets(r, count):
    """Sets with ids from 1 on; 0 stays for the stream around them."""
    units = []
    for i in range(count):
        unit, sps = h264_sps(r, 1 + i % 31)
        units += [unit, h264_sps_extension(r, 1 + i % 31), h264_pps(r, 1 + i % 255, sps)]
    return units


# H.265

def h265_profile(x, idc):
    """The 88 bits that describe a profile in profile_tier_level() (7.3.3)."""
    x.bits.u(2, 0), x.flag()
    x.bits.u(5, idc)
    compatibility = [x.flag(0.1) for _ in range(32)]
    for _ in range(4):
        x.flag()

    def is_like(*profiles):
        return idc in profiles or any(compatibility[p] for p in profiles)
    if is_like(*range(4, 12)):
        for _ in range(9):
            x.flag()
        if is_like(5, 9, 10, 11):
            x.flag(), x.bits.u(33, 0)
        else:
            x.bits.u(34, 0)
    elif is_like(2):
        x.bits.u(7, 0), x.flag(), x.bits.u(35, 0)
    else:
        x.bits.u(43, 0)
    x.u(1) if is_like(1, 2, 3, 4, 5, 9, 11) else x.bits.u(1, 0)


def h265_profile_tier_level(x, sub_layers):
    idc = x.r.choice((1, 2, 3, 4, 5, 9, 11))
    h265_profile(x, idc)
    x.bits.u(8, x.r.choice((30, 93, 120, 186)))
    present = [(x.flag(), x.flag()) for _ in range(sub_layers)]
    if sub_layers:
        x.bits.u(2 * (8 - sub_layers), 0)
    for profile, level in present:
        if profile:
            h265_profile(x, x.r.choice((1, 2, 3, 4, 5, 9, 11)))
        if level:
            x.bits.u(8, x.r.choice((30, 93, 120, 186)))


def h265_ordering(x, sub_layers):
    all_layers = x.flag()
    buffering, reorder = 0, 0
    for _ in range(sub_layers + 1 if all_layers else 1):
        buffering = x.ue(buffering, 15)
        reorder = x.ue(reorder, buffering)
        x.ue(0, 2 ** 32 - 2)


def h265_sub_layer_hrd(x, cpb_count, has_sub_pictures):
    """sub_layer_hrd_parameters() (E.2.3)."""
    for _ in range(cpb_count):
        for _ in range(4 if has_sub_pictures else 2):
            x.ue(0, 2 ** 32 - 2)
        x.flag()


def h265_hrd(x, sub_layers):
    """hrd_parameters() (E.2.2)."""
    nal, vcl, sub_pictures = x.flag(), x.flag(), 0
    if nal or vcl:
        sub_pictures = x.flag()
        if sub_pictures:
            x.u(8), x.u(5), x.flag(), x.u(5)
        x.u(4), x.u(4)
        if sub_pictures:
            x.u(4)
        x.u(5), x.u(5), x.u(5)
    for _ in range(sub_layers + 1):
        low_delay = 0
        if x.flag() or x.flag():
            x.ue(0, 2047)
        else:
            low_delay = x.flag()
        count = 1 if low_delay else x.ue(0, 31) + 1
        for _ in range(nal + vcl):
            h265_sub_layer_hrd(x, count, sub_pictures)


def h265_vps(r, number, sub_layers):
    """video_parameter_set_rbsp() (7.3.2.1)."""
    x = Random(r)
    x.bits.u(4, number), x.bits.u(2, 3), x.bits.u(6, 0), x.bits.u(3, sub_layers)
    x.bits.u(1, int(sub_layers == 0))
    x.bits.u(16, 0xFFFF)
    h265_profile_tier_level(x, sub_layers)
    h265_ordering(x, sub_layers)
    highest = x.bits.u(6, r.choice((0, 0, 1, 5)))
    sets = x.bits.ue(r.choice((0, 0, 1, 3))) + 1
    for _ in range(1, sets):
        for _ in range(highest + 1):
            x.flag()
    if x.flag():
        x.u(32, 1), x.u(32, 1)
        if x.flag():
            x.ue(0, 2 ** 32 - 2)
        for i in range(x.ue(0, sets)):
            x.ue(0, sets - 1)
            if i:
                # cprms_present_flag: without it the common part is the one before's (7.4.3.1), which libavcodec does not know.
                x.bits.u(1, 1)
            h265_hrd(x, sub_layers)
    x.bits.u(1, 0)
    return x.bits.unit(h265_header(32))


def h265_scaling_lists(x, chroma):
    """scaling_list_data() (7.3.4)."""
    for size in range(4):
        step = 3 if size == 3 else 1
        for matrix in range(0, 6, step):
            if not x.flag():
                x.ue(0, matrix // step)
                continue
            if size > 1:
                x.se(-7, 247)
            for _ in range(min(64, 1 << (4 + (size << 1)))):
                x.se(-128, 127)


def h265_reference_sets(x, count):
    """st_ref_pic_set() (7.3.7) for each set; coded apart, or by what the set before has."""
    deltas = []  # of each set: delta POCs, nearest first, of the past and of the future
    for index in range(count):
        if index and x.flag():
            past, future = deltas[-1]
            # All are kept or dropped at random; those whose order would be ambiguous have been avoided by the distance.
            sign, distance = x.flag(), x.ue(0, 30) + 1
            shift = -distance if sign else distance
            kept = []
            for delta in [*past, *future, 0]:
                if x.flag() or x.flag():
                    kept.append(delta + shift)
            kept = sorted(set(d for d in kept if d))
            deltas.append(([d for d in reversed(kept) if d < 0], [d for d in kept if d > 0]))
            continue
        sizes = x.ue(0, 4), x.ue(0, 4)
        both = []
        for size, direction in zip(sizes, (-1, 1)):
            position, positions = 0, []
            for _ in range(size):
                position += direction * (x.ue(0, 20) + 1)
                x.flag()
                positions.append(position)
            both.append(positions)
        deltas.append(tuple(both))


def h265_vui(x, sub_layers):
    """vui_parameters() (E.2.1)."""
    if x.flag() and x.bits.u(8, x.r.choice((0, 1, 2, 14, 16, 255))) == 255:
        x.u(16), x.u(16)
    if x.flag():
        x.flag()
    if x.flag():
        x.u(3, 0, 5), x.flag()
        if x.flag():
            x.u(8), x.u(8), x.u(8, 0, 14)
    if x.flag():
        x.ue(0, 5), x.ue(0, 5)
    x.flag(), x.flag(), x.flag()
    if x.flag():
        for _ in range(4):
            x.ue(0, 3)
    if x.flag():
        x.u(32, 1), x.u(32, 1)
        if x.flag():
            x.ue(0, 2 ** 32 - 2)
        if x.flag():
            h265_hrd(x, sub_layers)
    if x.flag():
        x.flag(), x.flag(), x.flag(), x.ue(0, 4095), x.ue(0, 16), x.ue(0, 16), x.ue(0, 15), x.ue(0, 15)


def h265_sps(r, number, sub_layers):
    """seq_parameter_set_rbsp() (7.3.2.2.1); gives the unit and what picture parameter sets depend on."""
    x = Random(r)
    x.bits.u(4, number), x.bits.u(3, sub_layers)
    x.bits.u(1, int(sub_layers == 0))
    h265_profile_tier_level(x, sub_layers)
    x.bits.ue(number)
    chroma = x.ue(0, 3)
    if chroma == 3:
        x.flag()
    width, height = (x.bits.ue(64 * r.randint(4, 16)) for _ in range(2))
    if x.flag():
        for _ in range(4):
            x.ue(0, 3)
    depth = x.ue(0, 8), x.ue(0, 8)
    low_bits = x.ue(0, 12) + 4
    h265_ordering(x, sub_layers)
    smallest = x.bits.ue(0) + 3
    largest = x.bits.ue(r.choice((1, 2, 3))) + smallest
    x.bits.ue(0), x.bits.ue(r.randint(1, min(largest, 5) - 2))
    x.ue(0, largest - 2), x.ue(0, largest - 2)
    if x.flag() and x.flag():
        h265_scaling_lists(x, chroma)
    x.flag(), x.flag()
    if x.flag():
        x.u(4, 0, depth[0] + 7), x.u(4, 0, depth[1] + 7)
        low = x.bits.ue(r.randint(0, min(largest, 5) - 3))
        x.bits.ue(r.randint(0, min(largest, 5) - 3 - low)), x.flag()
    h265_reference_sets(x, x.bits.ue(r.choice((0, 1, 3, 8))))
    if x.flag():
        for _ in range(x.ue(0, 32)):
            x.u(low_bits), x.flag()
    x.flag(), x.flag()
    if x.flag(0.8):
        h265_vui(x, sub_layers)
    if x.flag():
        # Neither side reads those for several layers and for depth.
        has_range = x.flag()
        x.bits.u(2, 0)
        has_screen_content = x.flag()
        x.bits.u(4, 0)
        if has_range:
            for _ in range(9):
                x.flag()
        if has_screen_content:
            h265_sps_screen_content(x, chroma, depth)
    return x.bits.unit(h265_header(33)), (number, width >> largest, height >> largest, chroma, depth)


def h265_sps_screen_content(x, chroma, depth):
    """sps_scc_extension() (7.3.2.2.3)."""
    x.flag()
    if x.flag():
        size = x.ue(1, 64)
        x.ue(0, 64)
        if x.flag():
            count = x.ue(0, size - 1) + 1
            for component in range(3 if chroma else 1):
                for _ in range(count):
                    x.u(depth[component > 0] + 8)
    x.u(2, 0, 2), x.flag()


def h265_tiles(x, columns, rows):
    # As many as any level allows (Table A.8).
    across, down = x.bits.ue(x.r.randint(1, min(columns, 20) - 1)), x.bits.ue(x.r.randint(0, min(rows, 22) - 1))
    if not x.flag():
        for count, size in ((across, columns), (down, rows)):
            for left in range(count, 0, -1):
                size -= x.bits.ue(x.r.randint(0, size - left - 1)) + 1
    x.flag()


def h265_pps(r, number, sps):
    """pic_parameter_set_rbsp() (7.3.2.3.1)."""
    sps_number, columns, rows, chroma, depth = sps
    x = Random(r)
    x.bits.ue(number), x.bits.ue(sps_number)
    x.flag(), x.flag(), x.u(3), x.flag(), x.flag(), x.ue(0, 14), x.ue(0, 14)
    x.se(-26 - 6 * depth[0], 25)
    x.flag()
    skip = x.flag()
    if x.flag():
        x.ue(0, 1)
    x.se(-12, 12), x.se(-12, 12)
    x.flag(), x.flag(), x.flag(), x.flag()
    tiles = x.flag()
    x.flag()
    if tiles:
        h265_tiles(x, columns, rows)
    x.flag()
    if x.flag():
        x.flag()
        if not x.flag():
            x.se(-6, 6), x.se(-6, 6)
    if x.flag():
        h265_scaling_lists(x, chroma)
    x.flag(), x.ue(0, 2), x.flag()
    if x.flag():
        has_range = x.flag()
        x.bits.u(2, 0)
        has_screen_content = x.flag()
        x.bits.u(4, 0)
        if has_range:
            h265_pps_range(x, skip, chroma, depth)
        if has_screen_content:
            h265_pps_screen_content(x, chroma, depth)
    return x.bits.unit(h265_header(34))


def h265_pps_range(x, skip, chroma, depth):
    """pps_range_extension() (7.3.2.3.2)."""
    if skip:
        x.ue(0, 3)
    x.flag() if chroma == 3 else x.bits.u(1, 0)
    if x.flag() if chroma else x.bits.u(1, 0):
        x.ue(0, 1)
        for _ in range(x.ue(0, 5) + 1):
            x.se(-12, 12), x.se(-12, 12)
    x.ue(0, max(0, depth[0] - 2)), x.ue(0, max(0, depth[1] - 2))


def h265_pps_screen_content(x, chroma, depth):
    """pps_scc_extension() (7.3.2.3.3)."""
    x.flag()
    if x.flag():
        x.flag(), x.se(-7, 17), x.se(-7, 17), x.se(-9, 15)
    if x.flag():
        count = x.ue(0, 64)
        if count:
            x.bits.u(1, int(chroma == 0)), x.bits.ue(depth[0])
            if chroma:
                x.bits.ue(depth[1])
            for component in range(3 if chroma else 1):
                for _ in range(count):
                    x.u(depth[component > 0] + 8)


def h265_sets(r, count):
    """Sets with ids from 1 on; 0 stays for the stream around them."""
    units = []
    for i in range(count):
        number = 1 + i % 15
        sub_layers = r.choice((0, 0, 1, 2, 6))
        unit, sps = h265_sps(r, number, sub_layers)
        units += [h265_vps(r, number, sub_layers), unit, h265_pps(r, 1 + i % 63, sps)]
    return units
