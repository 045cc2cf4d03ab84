"""The pages that explain a pool: its rules in words, and the simulator."""
