import CamSound
import Testing
import CamPlatform
@testable import Containers

@Suite("sound whose format changes")
struct SoundSurveyTests {
    private let mono = SoundDescription(
        codec: .aac, format: SoundFormat(rate: 48000, channels: 1), configuration: [1], packetFrames: 1024)
    private let stereo = SoundDescription(
        codec: .aac, format: SoundFormat(rate: 48000, channels: 2), configuration: [2], packetFrames: 1024)

    /// A second of mono in ten packets, then one of stereo.
    private func survey(_ range: RemuxRange = RemuxRange()) -> SoundSurvey {
        var survey = SoundSurvey(range)
        for index in 0..<20 {
            survey.note(index < 10 ? mono : stereo, at: .milliseconds(index * 100 + 5))
        }
        return survey
    }

    @Test("the first is kept, and what is left out is said, with what to do")
    func whole() throws {
        #expect(survey().description == mono)
        let remark = try #require(survey().remark)
        #expect(remark.contains("from 1.005 s on") && remark.hasSuffix("--from 1.005"))
    }

    /// A second of mono, then a recording that follows.
    private func joined(_ next: SoundDescription, _ range: RemuxRange = RemuxRange()) -> SoundSurvey {
        var survey = SoundSurvey(range)
        for index in 0..<10 { survey.note(mono, at: .milliseconds(index * 100)) }
        for index in 0..<10 { survey.note(next, at: .milliseconds(index * 100 - 21)) }
        return survey
    }

    @Test("of joined recordings all that has the first one's format is kept")
    func joinedRecordings() {
        #expect(joined(mono).description == mono && joined(mono).remark == nil)
        #expect(joined(stereo).description == mono)
        #expect(joined(stereo).remark?.hasSuffix("remux each recording separately") == true)
    }

    @Test("of a part of joined recordings only the first one's is kept, and that is said")
    func partOfJoined() {
        #expect(
            joined(mono, RemuxRange(start: .zero)).remark?.hasSuffix("remux all of it first, and cut that")
                == true)
    }

    @Test("the advice gives the rest")
    func rest() {
        let rest = survey(RemuxRange(start: .milliseconds(1005)))
        #expect(rest.description == stereo && rest.remark == nil)
    }

    @Test("a part with one format has no remark")
    func parts() {
        let first = survey(RemuxRange(start: .zero, end: .seconds(1)))
        #expect(first.description == mono && first.remark == nil)
        #expect(survey(RemuxRange(start: .milliseconds(500))).change == .milliseconds(1005))
    }

    @Test("the advice is never too early for the change")
    func rounding() {
        var survey = SoundSurvey(RemuxRange())
        survey.note(mono, at: .zero)
        survey.note(stereo, at: .nanoseconds(3_953_555_556))
        #expect(survey.remark?.hasSuffix("--from 3.954") == true)
    }

    @Test("without sound there is nothing to declare or to say")
    func none() {
        var survey = SoundSurvey(RemuxRange())
        survey.note(nil, at: .zero)
        #expect(survey.description == nil && survey.remark == nil)
    }
}
