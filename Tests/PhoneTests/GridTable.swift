import Testing

/// The expansion grid of the device specification (E2), cell by cell: what is called at arrival, in order, and what is
/// shown. `·` stands for "as the column before". Letters as in the specification: B banner, L lock screen, W screen
/// wakes, C centre, S sound, N number.
///
/// The app implements every call its iOS knows, sets its delegate in time, has the background mode, and answers
/// willPresent with everything. G1 is iOS 6.1, G2 9.3, G3 17; G3s is G3 with a scene manifest.
/// For K6 it makes its push registry at launch and reports the call.
enum GridTable {
  static let text = """
    device   | state      | kind | rules   | G1         shown | G2                   shown | G3                   shown | G3s              shown
    unlocked | notRunning | K1   | 108     | -          BCSN  | ·                          | ·                          | ·
    unlocked | notRunning | K2   | 107     | -          BCSN  | LO(p) DEB DRF(B)     BCSN  | ·                          | LO(∅) DRF(B)     BCSN
    unlocked | notRunning | K3   | 107     | -          -     | LO(p) DEB DRF(B)     -     | ·                          | LO(∅) DRF(B)     -
    unlocked | notRunning | K4   | 111     | -          N     | ·                          | ·                          | ·
    unlocked | notRunning | K5   | 112     | -          S     | ·                          | ·                          | ·
    unlocked | notRunning | K6   | 114     | -          -     | LO(∅) DEB PKR(B)     -     | ·                          | LO(∅) PKR(B)     -
    unlocked | notRunning | K7   | 107     | -          -     | LO(p) DEB DRF(B)     -     | ·                          | LO(∅) DRF(B)     -
    unlocked | forceQuit  | K1   | 109     | -          BCSN  | ·                          | ·                          | ·
    unlocked | forceQuit  | K2   | 109     | -          BCSN  | ·                          | ·                          | ·
    unlocked | forceQuit  | K3   | 110     | -          -     | ·                          | ·                          | ·
    unlocked | forceQuit  | K4   | 111     | -          N     | ·                          | ·                          | ·
    unlocked | forceQuit  | K5   | 112     | -          S     | ·                          | ·                          | ·
    unlocked | forceQuit  | K6   | 114     | -          -     | LO(∅) DEB PKR(B)     -     | ·                          | LO(∅) PKR(B)     -
    unlocked | forceQuit  | K7   | 110     | -          -     | ·                          | ·                          | ·
    unlocked | suspended  | K1   | 105     | -          BCSN  | ·                          | ·                          | ·
    unlocked | suspended  | K2   | 104     | -          BCSN  | DRF(B)               BCSN  | ·                          | ·
    unlocked | suspended  | K3   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    unlocked | suspended  | K4   | 111     | -          N     | ·                          | ·                          | ·
    unlocked | suspended  | K5   | 112     | -          S     | ·                          | ·                          | ·
    unlocked | suspended  | K6   | 114     | -          -     | PKR(B)               -     | ·                          | ·
    unlocked | suspended  | K7   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    unlocked | background | K1   | 105     | -          BCSN  | ·                          | ·                          | ·
    unlocked | background | K2   | 104     | -          BCSN  | DRF(B)               BCSN  | ·                          | ·
    unlocked | background | K3   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    unlocked | background | K4   | 111     | -          N     | ·                          | ·                          | ·
    unlocked | background | K5   | 112     | -          S     | ·                          | ·                          | ·
    unlocked | background | K6   | 114     | -          -     | PKR(B)               -     | ·                          | ·
    unlocked | background | K7   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    unlocked | inactive   | K1   | 100,101 | DRN(I)     -     | DRF(I)               -     | WP                   BCSN  | ·
    unlocked | inactive   | K2   | 102     | DRN(I)     -     | DRF(I)               -     | DRF(I) WP            BCSN  | ·
    unlocked | inactive   | K3   | 103     | DRN(I)     -     | DRF(I)               -     | ·                          | ·
    unlocked | inactive   | K4   | 113     | DRN(I)     -     | DRF(I)               -     | WP                   N     | ·
    unlocked | inactive   | K5   | 113     | DRN(I)     -     | DRF(I)               -     | WP                   S     | ·
    unlocked | inactive   | K6   | 114     | -          -     | PKR(I)               -     | ·                          | ·
    unlocked | inactive   | K7   | 103     | DRN(I)     -     | DRF(I)               -     | ·                          | ·
    unlocked | active     | K1   | 100,101 | DRN(A)     -     | DRF(A)               -     | WP                   BCSN  | ·
    unlocked | active     | K2   | 102     | DRN(A)     -     | DRF(A)               -     | DRF(A) WP            BCSN  | ·
    unlocked | active     | K3   | 103     | DRN(A)     -     | DRF(A)               -     | ·                          | ·
    unlocked | active     | K4   | 113     | DRN(A)     -     | DRF(A)               -     | WP                   N     | ·
    unlocked | active     | K5   | 113     | DRN(A)     -     | DRF(A)               -     | WP                   S     | ·
    unlocked | active     | K6   | 114     | -          -     | PKR(A)               -     | ·                          | ·
    unlocked | active     | K7   | 103     | DRN(A)     -     | DRF(A)               -     | ·                          | ·
    locked   | notRunning | K1   | 108     | -          LWCSN | ·                          | ·                          | ·
    locked   | notRunning | K2   | 107     | -          LWCSN | LO(p) DEB DRF(B)     LWCSN | ·                          | LO(∅) DRF(B)     LWCSN
    locked   | notRunning | K3   | 107     | -          -     | LO(p) DEB DRF(B)     -     | ·                          | LO(∅) DRF(B)     -
    locked   | notRunning | K4   | 111     | -          N     | ·                          | ·                          | ·
    locked   | notRunning | K5   | 112     | -          S     | ·                          | ·                          | ·
    locked   | notRunning | K6   | 114     | -          -     | LO(∅) DEB PKR(B)     -     | ·                          | LO(∅) PKR(B)     -
    locked   | notRunning | K7   | 107     | -          -     | LO(p) DEB DRF(B)     -     | ·                          | LO(∅) DRF(B)     -
    locked   | forceQuit  | K1   | 109     | -          LWCSN | ·                          | ·                          | ·
    locked   | forceQuit  | K2   | 109     | -          LWCSN | ·                          | ·                          | ·
    locked   | forceQuit  | K3   | 110     | -          -     | ·                          | ·                          | ·
    locked   | forceQuit  | K4   | 111     | -          N     | ·                          | ·                          | ·
    locked   | forceQuit  | K5   | 112     | -          S     | ·                          | ·                          | ·
    locked   | forceQuit  | K6   | 114     | -          -     | LO(∅) DEB PKR(B)     -     | ·                          | LO(∅) PKR(B)     -
    locked   | forceQuit  | K7   | 110     | -          -     | ·                          | ·                          | ·
    locked   | suspended  | K1   | 105     | -          LWCSN | ·                          | ·                          | ·
    locked   | suspended  | K2   | 104     | -          LWCSN | DRF(B)               LWCSN | ·                          | ·
    locked   | suspended  | K3   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    locked   | suspended  | K4   | 111     | -          N     | ·                          | ·                          | ·
    locked   | suspended  | K5   | 112     | -          S     | ·                          | ·                          | ·
    locked   | suspended  | K6   | 114     | -          -     | PKR(B)               -     | ·                          | ·
    locked   | suspended  | K7   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    locked   | background | K1   | 105     | -          LWCSN | ·                          | ·                          | ·
    locked   | background | K2   | 104     | -          LWCSN | DRF(B)               LWCSN | ·                          | ·
    locked   | background | K3   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    locked   | background | K4   | 111     | -          N     | ·                          | ·                          | ·
    locked   | background | K5   | 112     | -          S     | ·                          | ·                          | ·
    locked   | background | K6   | 114     | -          -     | PKR(B)               -     | ·                          | ·
    locked   | background | K7   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    locked   | active     | K1   | 115     | -          LWCSN | ·                          | ·                          | ·
    locked   | active     | K2   | 115,104 | -          LWCSN | DRF(B)               LWCSN | ·                          | ·
    locked   | active     | K3   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    locked   | active     | K4   | 111     | -          N     | ·                          | ·                          | ·
    locked   | active     | K5   | 112     | -          S     | ·                          | ·                          | ·
    locked   | active     | K6   | 114     | -          -     | PKR(B)               -     | ·                          | ·
    locked   | active     | K7   | 106     | -          -     | DRF(B)               -     | ·                          | ·
    """

  struct Cell: CustomTestStringConvertible, Sendable {
    var device: String
    var state: String
    var kind: String
    var rules: [String]
    var generation: String
    var calls: String
    var shown: String

    var testDescription: String {
      "\(rules.map { "D-\($0)" }.joined(separator: ", ")): \(kind) on a phone \(device), app \(state), \(generation)"
    }
  }

  static let cells: [Cell] = text.split(separator: "\n").dropFirst().flatMap { line in
    let columns = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
    guard columns.count == 8 else { return [Cell]() }
    var before: [String] = []
    return zip(["G1", "G2", "G3", "G3s"], columns[4...]).map { generation, column in
      let cell = column == ["·"] ? before : column
      before = cell
      return Cell(
        device: columns[0][0], state: columns[1][0], kind: columns[2][0],
        rules: columns[3][0].split(separator: ",").map(String.init), generation: generation,
        calls: cell.dropLast().joined(separator: " "), shown: cell.last ?? "")
    }
  }
}
