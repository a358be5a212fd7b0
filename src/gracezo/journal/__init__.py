"""The durable journal: what was paid for is never lost, and a run goes on where it stopped.

`settings` what the user says; `place`, `schema`, `chain` and `file` the file, its
tables and their sums; `store` what is in it; `lock` its one writer; `identity` and
`function` whose it is; `digest` what was asked; `results` what came of it;
`session` one process's work with it; `reading` for people.
"""
