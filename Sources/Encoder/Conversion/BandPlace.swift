/// Which rows of a picture a band has. Bands of a picture that is turned upside down may begin at odd rows, so luma's
/// and chroma's are separate.
struct BandPlace {
    let luma: Range<Int>
    let chroma: Range<Int>

    /// Rows of a picture that is read from the top down, of which the first is even.
    init(_ rows: Range<Int>) {
        luma = rows
        let first = rows.lowerBound / 2
        chroma = first..<first + half(rows.count)
    }

    /// The same rows counted from the bottom of a picture.
    init(_ rows: Range<Int>, fromBottomOf height: Int) {
        let place = BandPlace(rows)
        luma = height - place.luma.upperBound..<height - place.luma.lowerBound
        chroma = half(height) - place.chroma.upperBound..<half(height) - place.chroma.lowerBound
    }
}
