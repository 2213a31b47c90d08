"""A stand-in for GitHub on this machine, written from GitHub's public description of its API.

`server` listens, `world` holds what GitHub would know, `rest` checks a request and gives it to its route in `routes/`,
`results` and `storage` take artifacts, `faults` lets single requests fail, `runner/` is a job's environment.
"""
