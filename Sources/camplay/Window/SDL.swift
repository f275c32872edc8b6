import CSDL2
import Glibc

/// SDL 2, loaded and initialized; shut down with its last user.
///
/// Used by the main thread, except `wake` and the functions for sound, which the sound's thread uses.
final class SDL: @unchecked Sendable {
    // Safe to share: the table never changes. Other threads call `PushEvent`, which SDL allows (SDL_events.h), and one
    // calls the functions for sound, which no other uses.
    let call: csdl2_library

    /// Loads and initializes SDL.
    init() throws(PlayError) {
        var library = csdl2_library()
        var reason = [CChar](repeating: 0, count: 256)
        guard csdl2_load(&library, &reason, reason.count) else {
            let text = String(
                decoding: reason.prefix { $0 != 0 }.map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
            throw .noDisplay(reason: "\(text); install libsdl2-2.0-0")
        }
        call = library
        // camplay handles signals itself.
        _ = call.SetHint(csdl2_no_signal_handlers, "1")
        _ = call.SetHint(csdl2_scale_quality, "linear")
        _ = call.SetHint(csdl2_video_driver, Self.displays)
        guard call.Init(csdl2_init_video) == 0 else { throw .noDisplay(reason: "SDL: \(lastError)") }
    }

    deinit { call.Quit() }

    /// The visible displays to try: by default, SDL would fall back to a driver that draws nowhere. The
    /// user's SDL_VIDEODRIVER comes first. Wayland's library complains on standard error if there is no
    /// Wayland.
    private static var displays: String {
        getenv("XDG_RUNTIME_DIR") == nil ? "x11,KMSDRM" : "x11,wayland,KMSDRM"
    }

    /// SDL's message about the last failure.
    var lastError: String { call.GetError().map { String(cString: $0) } ?? "unknown" }

    /// Makes `WaitEvent` return, in the main thread. Safe in any thread. If SDL's queue is full, the thread
    /// has events to return for anyway.
    func wake() {
        var event = SDL_Event()
        event.type = SDL_USEREVENT.rawValue
        _ = call.PushEvent(&event)
    }
}
