import CamPictures

extension ColorEncoding.Matrix {
    /// The shares of red and blue in luma (H.273, table 4).
    var weights: (red: Double, blue: Double) {
        switch self {
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        // No source and no option has any other than BT.601.
        default: (0.299, 0.114)
        }
    }
}

extension ColorEncoding.Range {
    /// The code of black, and the steps from there to white and from no colour to either extreme, 8 bits.
    var levels: (black: Double, luma: Double, chroma: Double) {
        switch self {
        case .limited: (16, 219, 112)
        case .full: (0, 255, 127.5)
        }
    }
}
