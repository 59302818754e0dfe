"""The commands of `miner gold`, one file each."""
