"""What judges have cost, counted for each day in the store, so that a cap holds for all runs in it together."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from decimal import Decimal

from answer_format import quoted
from issuance.formats import is_decimal
from issuance.programs import SECONDS, Broken
from issuance.store import StoreFault
from issuance.tracing import written

FILE = "spending.sqlite"
LONGEST = int(SECONDS) + 5  # seconds after which a call that was never settled counts as ended
AHEAD = 3_600  # seconds that the clock of another run may be ahead
WAIT = 30.0  # seconds for another run that is just counting


class Spending:
    """The spending of a store. A call is reserved before it is made, and settled when its cost is known.

    Where a cap is to hold, only one call is made at a time in a store, since nobody knows what it will cost.
    """

    def __init__(self, root: str) -> None:
        self.path = os.path.join(root, FILE)

    @contextlib.contextmanager
    def counted(self) -> Iterator[sqlite3.Connection]:
        """The file, which no other run can change meanwhile. Raises StoreFault."""
        try:
            connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS calls (id INTEGER PRIMARY KEY, day TEXT, usd TEXT, until INTEGER)"
                )
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as fault:
            raise StoreFault(self.path, f"cannot be counted in: {fault}") from None

    def reserve(self, price: Decimal, cap: Decimal | None, seconds: float) -> int:
        """Count a call at a price, or at the highest of the day, and return its number.

        Raises Broken where the day's cap would be passed, and where another call is under way for so many seconds.
        """
        deadline = time.monotonic() + seconds
        while (number := self.try_to_reserve(price, cap)) is None:
            if time.monotonic() > deadline:
                raise Broken("another run's call to its judge is still under way")
            time.sleep(0.02)
        return number

    def try_to_reserve(self, price: Decimal, cap: Decimal | None) -> int | None:
        """The same, or None while another call is under way."""
        now = int(time.time())
        day = time.strftime("%Y-%m-%d", time.gmtime(now))
        with self.counted() as connection:
            under_way = "SELECT 1 FROM calls WHERE until > ? AND until <= ?"  # not one that a clock far ahead has begun
            if cap is not None and connection.execute(under_way, (now, now + LONGEST + AHEAD)).fetchone():
                return None
            rows = connection.execute("SELECT usd FROM calls WHERE day = ?", (day,)).fetchall()
            costs = [self.cost(usd) for (usd,) in rows]
            spent = sum(costs, Decimal(0))
            if cap is not None and (spent + max([price, *costs]) > cap or spent >= cap):
                raise Broken(f"the cap of {written(cap)} USD for a day is reached")
            entry = day, written(max([price, *costs])), now + LONGEST
            made = connection.execute("INSERT INTO calls (day, usd, until) VALUES (?, ?, ?)", entry)
            return int(made.lastrowid or 0)

    def settle(self, number: int, cost: Decimal | None) -> Decimal:
        """Replace what was reserved by what it cost, if that is known; return what is counted."""
        with self.counted() as connection:
            if cost is not None:
                connection.execute("UPDATE calls SET usd = ? WHERE id = ?", (written(cost), number))
            connection.execute("UPDATE calls SET until = 0 WHERE id = ?", (number,))
            row = connection.execute("SELECT usd FROM calls WHERE id = ?", (number,)).fetchone()
            return self.cost(row[0] if row else None)

    def cost(self, usd: object) -> Decimal:
        """A cost as the file has it. Raises StoreFault."""
        if type(usd) is not str or not is_decimal(usd) or Decimal(usd) < 0:
            raise StoreFault(self.path, f"cannot be counted in: it has {quoted(str(usd))} for a cost")
        return Decimal(usd)
