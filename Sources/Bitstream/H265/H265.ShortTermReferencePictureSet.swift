extension H265 {
    /// A short-term reference picture set (7.3.7, 7.4.8): the nearby pictures that a picture and those after
    /// it in decoding order may refer to.
    public struct ShortTermReferencePictureSet: Equatable, Sendable {
        /// One picture of the set.
        public struct Reference: Equatable, Sendable {
            /// The picture's order count less that of the current picture.
            public let deltaPOC: Int
            /// Whether the current picture refers to it, and not only later ones.
            public let isUsedByCurrent: Bool
        }

        /// Pictures that precede the current one in output order, nearest first (`DeltaPocS0`).
        public let preceding: [Reference]
        /// Pictures that follow the current one in output order, nearest first (`DeltaPocS1`).
        public let following: [Reference]

        /// `NumDeltaPocs`.
        var count: Int { preceding.count + following.count }

        /// The most pictures in a set (7.4.8, A.4.2).
        private static let maximumCount = 16

        /// st_ref_pic_set( stRpsIdx ).
        ///
        /// - Parameter sets: those before it in the sequence parameter set, or all of that set's.
        /// - Parameter isInSlice: whether the set is in a slice segment header.
        init(
            _ reader: inout RBSPReader, after sets: [ShortTermReferencePictureSet], isInSlice: Bool
        ) throws(SyntaxError) {
            let isPredicted =
                sets.isEmpty ? false : try reader.flag("inter_ref_pic_set_prediction_flag")
            if isPredicted {
                try self.init(predicted: &reader, sets, isInSlice: isInSlice)
            } else {
                try self.init(explicit: &reader)
            }
        }

        private init(explicit reader: inout RBSPReader) throws(SyntaxError) {
            let negative = try reader.ue("num_negative_pics", in: 0...Self.maximumCount)
            let positive = try reader.ue("num_positive_pics", in: 0...Self.maximumCount - negative)
            var delta = 0
            var preceding: [Reference] = []
            for i in 0..<negative {
                delta -= try reader.ue("delta_poc_s0_minus1", i, in: 0...32767) + 1
                let isUsed = try reader.flag("used_by_curr_pic_s0_flag", i)
                preceding.append(Reference(deltaPOC: delta, isUsedByCurrent: isUsed))
            }
            delta = 0
            var following: [Reference] = []
            for i in 0..<positive {
                delta += try reader.ue("delta_poc_s1_minus1", i, in: 0...32767) + 1
                let isUsed = try reader.flag("used_by_curr_pic_s1_flag", i)
                following.append(Reference(deltaPOC: delta, isUsedByCurrent: isUsed))
            }
            self.preceding = preceding
            self.following = following
        }

        private init(
            predicted reader: inout RBSPReader, _ sets: [ShortTermReferencePictureSet], isInSlice: Bool
        ) throws(SyntaxError) {
            let distance = isInSlice ? try reader.ue("delta_idx_minus1", in: 0...sets.count - 1) + 1 : 1
            let source = sets[sets.count - distance]
            let sign = try reader.flag("delta_rps_sign")
            let magnitude = try reader.ue("abs_delta_rps_minus1", in: 0...32767) + 1
            let deltaRPS = sign ? -magnitude : magnitude

            // The source's pictures in the order of the flags, and last the source's own picture.
            let candidates = source.preceding.map(\.deltaPOC) + source.following.map(\.deltaPOC) + [0]
            var references: [Reference] = []
            for (j, candidate) in candidates.enumerated() {
                let isUsed = try reader.flag("used_by_curr_pic_flag", j)
                let isKept = isUsed ? true : try reader.flag("use_delta_flag", j)
                let delta = candidate + deltaRPS
                if isKept, delta != 0 {
                    references.append(Reference(deltaPOC: delta, isUsedByCurrent: isUsed))
                }
            }
            guard references.count <= Self.maximumCount else {
                throw reader.error(
                    "NumDeltaPocs", .outOfRange(value: references.count, allowed: 0...Self.maximumCount))
            }
            // Equations 7-61 and 7-62 give the same order.
            preceding = references.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
            following = references.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
        }
    }
}
