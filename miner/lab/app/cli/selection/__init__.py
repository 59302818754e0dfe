"""The commands of `miner selection`, one file each."""
