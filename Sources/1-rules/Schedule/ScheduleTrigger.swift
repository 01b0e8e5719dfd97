public import Basics

/// When a schedule fires, by clocks on the wall; which wall is said where it is asked.
public enum ScheduleTrigger: Hashable, Sendable {
  case single(LocalTime)
  case periodical(Recurrence)

  /// A time that a schedule fires for. Known by what the wall shows, so that a time which the clocks show twice is one,
  /// and clocks that are set change nothing about which have been dealt with.
  public struct Due: Hashable, Sendable {
    public var wall: LocalTime
    public var instant: Instant
  }

  /// The first due time later on the wall than `last`, or the first of all; nil: it is over.
  ///
  /// Where the clocks are put forward over it, it is due at the first instant after the gap; where they show it twice, at
  /// the first. A recurrence leaves out a day that a place left out whole.
  public func next(after last: LocalTime?, in rules: TimeZoneRules) -> Due? {
    var last = last
    while let wall = occurrence(after: last) {
      switch rules.reading(wall) {
      case .once(let instant), .twice(let instant, _): return Due(wall: wall, instant: instant)
      case .skipped(let next, _):
        if isSingle || rules.local(at: next).days == wall.days { return Due(wall: wall, instant: next) }
        last = wall
      }
    }
    return nil
  }

  private func occurrence(after last: LocalTime?) -> LocalTime? {
    switch self {
    case .single(let wall): last.map { $0 < wall } ?? true ? wall : nil
    case .periodical(let recurrence): recurrence.occurrence(after: last)
    }
  }

  public var isSingle: Bool {
    switch self {
    case .single: true
    case .periodical: false
    }
  }
}

/// What becomes of due times that nobody was there for: the server was down, or its clock was set forward over them.
public enum MissedFirings: String, CaseIterable, Sendable {
  /// However many were missed, the last of them fires at once.
  case catchUp = "catch-up"
  case skip
}

/// What is to be done for a schedule at some instant.
public struct ScheduleVerdict: Hashable, Sendable {
  /// To be fired now; at most one, whatever was missed.
  public var fires: ScheduleTrigger.Due?
  /// Due times that have passed and never fire.
  public var missed: Int
  /// The last due time that is dealt with once this verdict is followed.
  public var last: LocalTime?
  /// What comes then; nil: the schedule is over.
  public var next: ScheduleTrigger.Due?

  /// Later than this is missed. Schedulers wake at the due time and need seconds; JPush promises minutes.
  public static let lateness = Instant.Span.minutes(5)
}

extension ScheduleTrigger {
  /// Judges every due time later than `last` on the wall.
  public func verdict(
    after last: LocalTime?, at now: Instant, in rules: TimeZoneRules, missed policy: MissedFirings
  ) -> ScheduleVerdict {
    var verdict = ScheduleVerdict(fires: nil, missed: 0, last: last, next: next(after: last, in: rules))
    while let due = verdict.next, due.instant <= now {
      if verdict.fires != nil { verdict.missed += 1 }
      verdict.fires = due
      verdict.last = due.wall
      verdict.next = next(after: due.wall, in: rules)
    }
    if policy == .skip, let fires = verdict.fires, now - fires.instant > ScheduleVerdict.lateness {
      verdict.fires = nil
      verdict.missed += 1
    }
    return verdict
  }
}
