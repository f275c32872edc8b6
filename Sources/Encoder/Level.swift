import Bitstream
import CamPictures

/// A level: a bound on size and speed (H.264 table A-1, H.265 tables A.8 and A.9).
public struct Level: Sendable, Hashable, CustomStringConvertible {
    /// Ten times the level's number: 41 for 4.1.
    let tenfold: Int

    /// Reads `4` or `4.1`; nil for a level that neither standard defines.
    public init?(_ text: String) {
        let levels = Codec.allCases.flatMap(Self.all)
        guard let level = levels.first(where: { $0.description == text || "\($0).0" == text }) else {
            return nil
        }
        self = level
    }

    private init(tenfold: Int) { self.tenfold = tenfold }

    /// The codec's levels, lowest first.
    private static func all(_ codec: Codec) -> [Level] {
        switch codec {
        case .h264: h264.map { Level(tenfold: $0.number) }
        case .hevc: hevc.map { Level(tenfold: $0.number) }
        }
    }

    /// The lowest level that allows pictures of a size at a rate.
    static func lowest(for size: PictureSize, at rate: FrameRate, codec: Codec) -> Level? {
        all(codec).first { $0.holds(size, at: rate, codec: codec) }
    }

    /// A session's requested level, or the lowest that fits the request.
    static func declared(by properties: SessionProperties) -> Level? {
        if let level = properties.level { return level }
        let codec = properties.codec
        let bitRate = properties.rateControl.maximumBitRate ?? 0
        return all(codec).first {
            $0.holds(properties.size, at: properties.frameRate, codec: codec)
                && $0.maximumBitRate(for: properties.profile, codec: codec) >= bitRate
                && $0.maximumSlices(codec) >= properties.slices
        }
    }

    /// Whether the codec defines this level.
    func isDefined(in codec: Codec) -> Bool { Self.all(codec).contains(self) }

    /// Whether H.265 has no coding tree blocks of 16 lines at this level (A.4.1).
    var needsLargeBlocks: Bool { tenfold >= 50 }

    /// `level_idc` or `general_level_idc`.
    func number(in codec: Codec) -> Int {
        switch codec {
        case .h264: tenfold
        case .hevc: 3 * tenfold
        }
    }

    /// Whether the level allows pictures of a size at a rate; false if the codec does not define the level.
    func holds(_ size: PictureSize, at rate: FrameRate, codec: Codec) -> Bool {
        switch codec {
        case .h264:
            Self.h264.contains {
                $0.number == tenfold
                    && Self.holds((size.width + 15) / 16, (size.height + 15) / 16, rate, $0.frame, $0.second)
            }
        case .hevc:
            Self.hevc.contains {
                // Whole coding blocks; the smallest has 8 samples per side.
                $0.number == tenfold
                    && Self.holds(
                        (size.width + 7) & ~7, (size.height + 7) & ~7, rate, $0.picture, $0.second)
            }
        }
    }

    /// Checks the limits on a picture, on a second, and on a side (the square root of 8 pictures) (H.264
    /// A.3.1 e and f, H.265 A.4.1).
    private static func holds(
        _ columns: Int, _ rows: Int, _ rate: FrameRate, _ picture: Int, _ second: Int
    ) -> Bool {
        columns * rows <= picture && columns * columns <= 8 * picture && rows * rows <= 8 * picture
            && Double(columns * rows) * rate.framesPerSecond <= Double(second) * 1.001
    }

    public var description: String {
        tenfold % 10 == 0 ? "\(tenfold / 10)" : "\(tenfold / 10).\(tenfold % 10)"
    }

    /// The highest bit rate in bits a second: MaxBR of table A-1, a quarter more for High (table A-2), and
    /// H.265's table A.9 for the Main tier.
    func maximumBitRate(for profile: CompressionProperties.Profile, codec: Codec) -> Int {
        switch codec {
        case .h264:
            (Self.h264.first { $0.number == tenfold }?.kilobits ?? 0) * (profile == .high ? 1250 : 1000)
        case .hevc: (Self.hevc.first { $0.number == tenfold }?.kilobits ?? 0) * 1000
        }
    }

    /// The maximum number of slices in a picture: MaxSliceSegmentsPerPicture of H.265's table A.8. H.264's
    /// limit depends on more than the level, and lies far above camrec's 32 slices.
    private func maximumSlices(_ codec: Codec) -> Int {
        switch codec {
        case .h264: .max
        case .hevc: Self.hevc.first { $0.number == tenfold }?.slices ?? 0
        }
    }

    /// Table A-1: macroblocks per frame and per second, and the bit rate in units of 1000 or 1250 bits a
    /// second.
    private static let h264: [(number: Int, frame: Int, second: Int, kilobits: Int)] = [
        (10, 99, 1485, 64), (11, 396, 3000, 192), (12, 396, 6000, 384), (13, 396, 11880, 768),
        (20, 396, 11880, 2000), (21, 792, 19800, 4000), (22, 1620, 20250, 4000), (30, 1620, 40500, 10000),
        (31, 3600, 108_000, 14000), (32, 5120, 216_000, 20000), (40, 8192, 245_760, 20000),
        (41, 8192, 245_760, 50000), (42, 8704, 522_240, 50000), (50, 22080, 589_824, 135_000),
        (51, 36864, 983_040, 240_000), (52, 36864, 2_073_600, 240_000), (60, 139_264, 4_177_920, 240_000),
        (61, 139_264, 8_355_840, 480_000), (62, 139_264, 16_711_680, 800_000),
    ]

    /// Tables A.8 and A.9: luma samples per picture and per second, the Main tier's bit rate in units of 1000
    /// bits a second, and slice segments per picture.
    private static let hevc: [(number: Int, picture: Int, second: Int, kilobits: Int, slices: Int)] = [
        (10, 36864, 552_960, 128, 16), (20, 122_880, 3_686_400, 1500, 16), (21, 245_760, 7_372_800, 3000, 20),
        (30, 552_960, 16_588_800, 6000, 30), (31, 983_040, 33_177_600, 10000, 40),
        (40, 2_228_224, 66_846_720, 12000, 75), (41, 2_228_224, 133_693_440, 20000, 75),
        (50, 8_912_896, 267_386_880, 25000, 200), (51, 8_912_896, 534_773_760, 40000, 200),
        (52, 8_912_896, 1_069_547_520, 60000, 200), (60, 35_651_584, 1_069_547_520, 60000, 600),
        (61, 35_651_584, 2_139_095_040, 120_000, 600), (62, 35_651_584, 4_278_190_080, 240_000, 600),
    ]
}
