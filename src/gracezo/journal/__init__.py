"""The durable journal: what was paid for is never lost, and a run goes on where it stopped.

`settings` what the user says, `store` the file, `lock` its one writer,
`identity` whose it is, `digest` what was asked, `session` one process's work
with it, `reading` for people.
"""
