"""The pure heart: values in, values out; no operating system, no clock, no environment."""
