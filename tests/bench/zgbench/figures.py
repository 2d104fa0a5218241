# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of the table of the bench: figure, ours, peer, ratio, target, verdict."""

import statistics

median = statistics.median


def show(figure, ours, peer, ratio, target, verdict):
    print("  ".join((figure, ours, peer, ratio, target, verdict)), flush=True)


def _number(value, unit):
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f} {unit}".strip()


def at_most(figure, ours, peer, limit, unit, void=False):
    """Ours is at most LIMIT times the peer."""
    ratio = ours / peer if peer else float("inf")
    verdict = "void" if void else "ok" if ratio <= limit else "MISS"
    show(figure, _number(ours, unit), _number(peer, unit), f"{ratio:.3f}", f"<= {limit}x", verdict)


def faster(figure, ours, peer, factor, unit, void=False):
    """The peer takes at least FACTOR times as long as we do."""
    ratio = peer / ours if ours else float("inf")
    verdict = "void" if void else "ok" if ratio >= factor else "MISS"
    show(figure, _number(ours, unit), _number(peer, unit), f"{ratio:.1f}", f">= {factor}x", verdict)


def below(figure, ours, limit, unit, peer=None, void=False):
    """Ours is at most LIMIT of the unit; the peer only stands beside it."""
    verdict = "void" if void else "ok" if ours <= limit else "MISS"
    ratio = f"{ours / peer:.3f}" if peer else "-"
    show(
        figure, _number(ours, unit), _number(peer, unit), ratio, f"<= {_number(limit, unit)}",
        verdict,
    )


def above(figure, ours, limit, unit, void=False):
    verdict = "void" if void else "ok" if ours >= limit else "MISS"
    show(figure, _number(ours, unit), "-", "-", f">= {_number(limit, unit)}", verdict)


def beside(figure, ours, peer, unit):
    """A figure that is shown and has no target."""
    ratio = f"{ours / peer:.3f}" if ours and peer else "-"
    show(figure, _number(ours, unit), _number(peer, unit), ratio, "shown", "ok")
