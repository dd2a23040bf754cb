"""Evidence and issuance: every number in a report traced to a metric, and every metric to its evidence.

Run with `python3 -m issuance`. Dependencies run one way: the command line (__main__) uses tracing, which uses
numerals, which uses the readers of digits, words and characters; those use the tables and the vocabularies of both
languages. All rules read plain text (plain). metrics reads a metric set, units says which units are one.
"""
