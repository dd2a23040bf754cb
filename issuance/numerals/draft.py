"""A number while it is read, in places of the plain text, and the arithmetic that is exact."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from typing import Union

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)  # sums and products without rounding
DIVISION = Context(prec=50, rounding=ROUND_HALF_UP)  # for quotients that do not end
ONE, TENTH, HUNDREDTH, HALF = Decimal(1), Decimal("0.1"), Decimal("0.01"), Decimal("0.5")


class Draft:
    """value times scale is the number, and step times scale the size of its last digit.

    The number stands for half a step either way; where it is approximate ("2,000-odd"), for the written value up to
    the next step of its last digit that is not zero.
    """

    __slots__ = (
        "approximate", "end", "fraction", "money", "scale", "scaled", "signed", "start", "step", "unit", "value"
    )  # fmt: skip

    def __init__(
        self, start: int, end: int, value: Decimal, step: Decimal, unit: str = "", fraction: bool = False
    ) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.step = step
        self.scale = ONE
        self.scaled = False  # whether it has a scale of its own, such as million or 万
        self.unit = unit  # as the plain text has it
        self.money: tuple[int, int] | None = None  # where the unit stands, unless it is a part of the number
        self.fraction = fraction
        self.approximate = False
        self.signed = False

    def take_currency(self, currency: re.Match[str]) -> None:
        """Take the currency that a pattern found before the number, with a space at its end or none."""
        self.unit = currency[0].rstrip(" \u00a0")
        self.money = currency.start(), currency.start() + len(self.unit)


Reading = Union[Draft, int]  # what a reader finds: a number, or the place where to go on
