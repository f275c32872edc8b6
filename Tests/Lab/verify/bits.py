"""Bits as the standards write them: u(n), ue(v), se(v), the byte stream of annex B. For streams that no encoder makes."""
import re


class Bits:
    """A raw byte sequence payload that grows bit by bit."""

    def __init__(self):
        self.digits = []

    def u(self, count, value):
        if count:
            assert 0 <= value < 1 << count, (count, value)
            self.digits.append(format(value, f"0{count}b"))
        return value

    def ue(self, value):
        """Clause 9.1 (H.264), 9.2 (H.265)."""
        code = format(value + 1, "b")
        self.digits.append("0" * (len(code) - 1) + code)
        return value

    def se(self, value):
        self.ue(2 * value - 1 if value > 0 else -2 * value)
        return value

    def align(self, bit="0"):
        self.digits.append(bit * (-sum(map(len, self.digits)) % 8))

    def bytes(self, data):
        self.digits += [format(byte, "08b") for byte in data]

    def unit(self, header):
        """The NAL unit with this header: trailing bits and emulation prevention are put in."""
        self.u(1, 1)
        self.align()
        text = "".join(self.digits)
        payload = bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))
        return header + re.sub(rb"\x00\x00(?=[\x00-\x03])", b"\0\0\3", payload)


def h264_header(unit_type, nal_ref_idc):
    return bytes([nal_ref_idc << 5 | unit_type])


def h265_header(unit_type, temporal_id=0):
    return bytes([unit_type << 1, temporal_id + 1])


def annex_b(units, prefix=b"\0\0\0\1"):
    return b"".join(prefix + unit for unit in units)


def split(data):
    """The NAL units of a byte stream, without start codes and zero bytes around them."""
    return [unit.rstrip(b"\0") for unit in re.split(rb"\x00\x00\x01", data)[1:]]
