import CV4L2
import CamPictures

extension CameraControls {
    /// The exposure by the driver's controls; nil if it has none.
    ///
    /// A control that an automatic mode makes inactive still has the value that it was last set to, which says nothing
    /// about the picture.
    var exposure: Exposure? {
        // Units of 100 µs, and thousandths of an ISO speed (V4L2 specification, "Camera Control Reference").
        let time = number(CV4L2_EXPOSURE_ABSOLUTE).map { Duration.microseconds($0 * 100) }
        return Exposure(time: time, sensitivity: number(CV4L2_ISO_SENSITIVITY).map { Int($0 / 1000) })
    }

    /// A positive value in use, or that of the menu entry in use.
    private func number(_ id: UInt32) -> Int64? {
        guard let control = activeControl(id), case .number(let value)? = control.value else { return nil }
        var number = value
        if case .menu(let entries) = control.kind {
            guard let entry = entries.first(where: { $0.index == value }), let title = Int64(entry.title)
            else {
                return nil
            }
            number = title
        }
        return (1...Int64(Int32.max)).contains(number) ? number : nil
    }
}
