"""Evidence and issuance: every number in a report traced to a metric, and every metric to its evidence.

Run with `python3 -m issuance`. Dependencies run one way: the command line (__main__) uses tracing, which uses the
numerals of a text; metrics reads a metric set.
"""
