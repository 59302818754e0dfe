"""The commands of `miner generation`, one file each."""
