"""Evidence and issuance: every number in a report traced to a metric, and every metric to its evidence.

Run with `python3 -m issuance`. A run goes this way, and `verify` the same way back:

    plan (job, cards) -> sources -> queries -> snapshots -> caliber -> tracing -> contract -> seal

Dependencies run one way: the command line (__main__, commands) uses what does the work (issuing, verifying, auditing,
checking, exports), which uses what is kept (store, seal, runs) and what is computed; those use formats, over the one
strict JSON reader.
"""
