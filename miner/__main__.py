"""`python -m miner`."""

from miner.app.cli.main import main

main()
