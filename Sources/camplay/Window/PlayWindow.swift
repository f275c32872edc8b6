import CSDL2
import Decoder
import CamPlatform

/// The window: draws the latest picture at its aspect ratio, and handles a few keys.
///
/// Used by the main thread, which sleeps while there is nothing to do.
final class PlayWindow {
    let sdl: SDL
    /// The sound that the viewer can mute.
    var sound: SoundPlayer?
    private let window: OpaquePointer
    private let renderer: OpaquePointer
    private let texture: PictureTexture
    private let presentation: Presentation
    private var meter: StatisticsMeter
    private var isFullScreen = false
    private var showsStatistics = false
    /// The picture's display size, in square pixels.
    private var shape: (width: Double, height: Double)?

    init(title: String, isLive: Bool, presentation: Presentation) throws(PlayError) {
        sdl = try SDL()
        let flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
        guard let window = sdl.call.CreateWindow(title, csdl2_anywhere, csdl2_anywhere, 640, 360, flags)
        else {
            throw .noDisplay(reason: "SDL: \(sdl.lastError)")
        }
        // Waiting for the display's next refresh avoids tearing, but delays a live picture by up to that
        // time.
        let renderer = sdl.call.CreateRenderer(window, -1, isLive ? 0 : SDL_RENDERER_PRESENTVSYNC.rawValue)
        guard let renderer else {
            let reason = sdl.lastError
            sdl.call.DestroyWindow(window)
            throw .noDisplay(reason: "SDL: \(reason)")
        }
        (self.window, self.renderer, self.presentation) = (window, renderer, presentation)
        texture = PictureTexture(sdl, renderer)
        meter = StatisticsMeter(isLive: isLive)
        presentation.whenChanged { [sdl] in sdl.wake() }
    }

    deinit {
        presentation.whenChanged {}
        texture.destroy()
        sdl.call.DestroyRenderer(renderer)
        sdl.call.DestroyWindow(window)
    }

    /// Shows pictures until there are no more.
    func run() throws(PlayError) {
        draw()
        while true {
            var event = SDL_Event()
            if try wait(for: &event) { try handle(event) }
            // Checked before taking, so that the last picture is shown.
            let isLast = presentation.hasEnded
            if let picture = presentation.take() { try show(picture) }
            if isLast, presentation.nextMoment == nil { return }
        }
    }

    /// Waits for an event, or for a picture's moment.
    /// - Returns: whether there is an event.
    private func wait(for event: inout SDL_Event) throws(PlayError) -> Bool {
        if let moment = presentation.nextMoment {
            // Rounded up, because a picture that is not yet due is not shown.
            let milliseconds = max(0, (moment - .now).inMilliseconds) + 1
            return sdl.call.WaitEventTimeout(&event, Int32(clamping: milliseconds)) == 1
        }
        guard sdl.call.WaitEvent(&event) == 1 else { throw .noDisplay(reason: "SDL: \(sdl.lastError)") }
        return true
    }

    private func handle(_ event: SDL_Event) throws(PlayError) {
        switch SDL_EventType(event.type) {
        case SDL_QUIT: presentation.end()
        case SDL_WINDOWEVENT: draw()
        case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET:
            try texture.restore()
            draw()
        case SDL_KEYDOWN where event.key.repeat == 0: press(event.key.keysym.sym)
        default: break
        }
    }

    private func press(_ key: SDL_Keycode) {
        switch SDL_KeyCode(UInt32(bitPattern: key)) {
        case SDLK_q, SDLK_ESCAPE: presentation.end()
        case SDLK_SPACE: presentation.togglePause()
        case SDLK_m: sound?.toggleMute()
        case SDLK_LEFT: presentation.seek(by: .seconds(-10))
        case SDLK_RIGHT: presentation.seek(by: .seconds(10))
        case SDLK_UP: presentation.seek(by: .seconds(60))
        case SDLK_DOWN: presentation.seek(by: .seconds(-60))
        case SDLK_f:
            isFullScreen.toggle()
            let flags = isFullScreen ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0
            _ = sdl.call.SetWindowFullscreen(window, flags)
        case SDLK_s:
            showsStatistics.toggle()
            draw()
        default: break
        }
    }

    private func show(_ picture: consuming DecodedPicture) throws(PlayError) {
        let (width, height, arrival) = (picture.width, picture.height, picture.arrival)
        let aspect = picture.sampleAspectRatio ?? (1, 1)
        let former = shape
        let shape = (width: Double(width * aspect.0) / Double(aspect.1), height: Double(height))
        self.shape = shape
        try texture.update(picture)
        let isAsBefore = former.map { $0 == shape } ?? false
        if !isAsBefore, !isFullScreen { fitWindow(to: shape) }
        draw()
        meter.add(arrival: arrival, presentation.statistics)
    }

    /// Makes the window as large as the picture, if the display has room.
    private func fitWindow(to shape: (width: Double, height: Double)) {
        var bounds = SDL_Rect()
        var scale = 1.0
        if sdl.call.GetDisplayUsableBounds(0, &bounds) == 0, bounds.w > 0, bounds.h > 0 {
            scale = min(1, Double(bounds.w) / shape.width, Double(bounds.h) / shape.height)
        }
        sdl.call.SetWindowSize(
            window, Int32(max(1, shape.width * scale)), Int32(max(1, shape.height * scale)))
        // At its old position it might now extend beyond the display.
        sdl.call.SetWindowPosition(window, csdl2_centered, csdl2_centered)
    }

    private func draw() {
        _ = sdl.call.SetRenderDrawColor(renderer, 0, 0, 0, 255)
        _ = sdl.call.RenderClear(renderer)
        if let current = texture.current {
            var place = placeOfPicture
            _ = sdl.call.RenderCopy(renderer, current, nil, &place)
        }
        if showsStatistics { drawStatistics() }
        sdl.call.RenderPresent(renderer)
    }

    /// The largest centered rectangle in the window that has the picture's aspect ratio.
    private var placeOfPicture: SDL_Rect {
        var (width, height) = (Int32(0), Int32(0))
        _ = sdl.call.GetRendererOutputSize(renderer, &width, &height)
        guard let shape else { return SDL_Rect(x: 0, y: 0, w: width, h: height) }
        let scale = min(Double(width) / shape.width, Double(height) / shape.height)
        let (w, h) = (Int32((shape.width * scale).rounded()), Int32((shape.height * scale).rounded()))
        return SDL_Rect(x: (width - w) / 2, y: (height - h) / 2, w: w, h: h)
    }

    /// Draws the statistics in white on black, in the upper left, in as many lines as necessary.
    private func drawStatistics() {
        let (dot, letter, line) = (Int32(3), BitmapFont.width + 1, BitmapFont.height + 2)
        var (width, height) = (Int32(0), Int32(0))
        _ = sdl.call.GetRendererOutputSize(renderer, &width, &height)
        let lines = meter.lines(of: max(1, (Int(width / dot) - 1) / letter))
        let columns = Int32((lines.map(\.count).max() ?? 0) * letter + 1)
        var ground = SDL_Rect(x: 0, y: 0, w: columns * dot, h: Int32(lines.count * line) * dot)
        _ = sdl.call.RenderFillRect(renderer, &ground)
        let dots = lines.enumerated().flatMap { index, text in
            BitmapFont.dots(of: text).map {
                SDL_Rect(
                    x: Int32($0.column + 1) * dot, y: Int32(index * line + $0.row + 1) * dot, w: dot, h: dot)
            }
        }
        _ = sdl.call.SetRenderDrawColor(renderer, 255, 255, 255, 255)
        _ = sdl.call.RenderFillRects(renderer, dots, Int32(dots.count))
    }
}
