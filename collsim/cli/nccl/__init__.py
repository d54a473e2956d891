"""NCCL's choice beside ours, and ours for NCCL."""
