"""Training on a server that speaks the Tinker API (SkyRL, TuFT, hosted ones): the weights live there.

`service` has the requests, `model` a policy whose weights are elsewhere, `datums` what a row becomes. `engines.tinker`
samples it and `training.remote` trains it, so that the loop, the journal and the report are as in any run.
"""
