import Phone

/// The icons of the home screen with their badges: squares in rows, or a list where there is no room for squares.
struct HomeScreenDrawing {
  var icons: [Screen.Icon]
  var selected: String?

  private static let cell = 10

  func lines(_ columns: Int, _ rows: Int) -> [StyledLine] {
    guard !icons.isEmpty else { return [StyledLine(), StyledLine("no apps", .faint).centred(in: columns)] }
    let across = max(1, columns / Self.cell)
    let down = (icons.count + across - 1) / across
    guard columns >= Self.cell, rows >= down * 5 + 1 else { return list(columns) }
    var lines = [StyledLine()]
    for start in stride(from: 0, to: icons.count, by: across) {
      let row = icons[start..<min(start + across, icons.count)].map(square)
      for place in 0..<4 { lines.append(row.reduce(StyledLine(" ")) { $0 + $1[place].fit(to: Self.cell) }) }
      lines.append(StyledLine())
    }
    return lines
  }

  private func square(_ icon: Screen.Icon) -> [StyledLine] {
    let name = TextWidth.harmless(icon.name)
    let badge = icon.badge > 0 ? StyledLine(" \(icon.badge)", .ink(.red, bold: true)) : StyledLine()
    return [
      StyledLine("╭────╮") + badge,
      StyledLine("│") + StyledLine(String(name.prefix(2))).centred(in: 4) + StyledLine("│"),
      StyledLine("╰────╯"), StyledLine(TextWidth.cut(name, to: Self.cell - 1), style(icon)),
    ]
  }

  private func list(_ columns: Int) -> [StyledLine] {
    icons.map { icon in
      let badge = icon.badge > 0 ? StyledLine(" (\(icon.badge))", .ink(.red, bold: true)) : StyledLine()
      return StyledLine(" ")
        + StyledLine(TextWidth.cut(TextWidth.harmless(icon.name), to: max(1, columns - 8)), style(icon))
        + badge
    }
  }

  private func style(_ icon: Screen.Icon) -> TextStyle { icon.bundleID == selected ? .inverse : .plain }
}
