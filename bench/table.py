"""The table of ratios, and its goals."""


def number(value):
    """Three figures that mean something."""
    if value is None:
        return "-"
    if abs(value) >= 10_000_000:
        return f"{value / 1e6:,.1f} M"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def verdicts(figure, measured):
    """(goal, value that counts, met) for each goal whose contender was measured."""
    by_name = {c["name"]: c for c in measured["contenders"]}
    ours = measured["contenders"][0]
    out = []
    for goal in figure.goals:
        source, key = (by_name.get(goal.to), goal.by) if goal.to else (ours, "value")
        value = source.get(key) if source and not source["skipped"] else None
        if value is not None:
            out.append((goal, value, goal.met(value)))
        elif ours["value"] is None:
            out.append((goal, None, False))
    return out


def _goal_text(goal, unit, met):
    sign = "<" if goal.at_most else ">"
    text = {"ratio": f"{number(goal.bound)}x", "difference": f"{number(goal.bound)} {unit} more",
            "value": f"{number(goal.bound)}"}[goal.by]
    return f"{sign} {text} {'met' if met else 'MISSED'}"


def rows_of(figure, measured):
    """The lines of a figure: infeed's with its own goals, then one a contender."""
    goals = {}
    for goal, _, met in verdicts(figure, measured):
        goals.setdefault(goal.to or figure.contenders[0].name, []).append(_goal_text(goal, figure.unit, met))
    busy = measured["other_cores"]
    for place, c in enumerate(measured["contenders"]):
        note = c["note"]
        if place == 0 and busy >= 0.15:
            note = "; ".join(filter(None, [note, f"others kept {busy:.1f} cores busy"]))
        compared = ""
        if "ratio" in c:
            compared = f"{number(c['ratio'])}x" if not _by_difference(figure, c) else f"{c['difference']:+.3g}"
        yield (figure.name if place == 0 else "", figure.unit if place == 0 else "", c["name"], number(c["value"]),
               compared, ", ".join(goals.get(c["name"], [])), note)


def _by_difference(figure, contender):
    return any(g.by == "difference" and g.to == contender["name"] for g in figure.goals)


HEAD = ("figure", "unit", "contender", "median", "infeed / it", "goal", "notes")


def render(pairs):
    """The table of (figure, measured) pairs as text."""
    lines = [HEAD]
    for figure, measured in pairs:
        lines.extend(rows_of(figure, measured))
    widths = [max(len(row[i]) for row in lines) for i in range(len(HEAD) - 1)]
    right = {3, 4}

    def line(row):
        cells = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))]
        return "  ".join([*cells, row[-1]]).rstrip()

    out = [line(HEAD), "-" * (sum(widths) + 2 * len(widths) + 5)]
    out.extend(line(row) for row in lines[1:])
    every = [met for figure, measured in pairs for _, _, met in verdicts(figure, measured)]
    return "\n".join([*out, "", f"{sum(every)} of {len(every)} goals met"])
