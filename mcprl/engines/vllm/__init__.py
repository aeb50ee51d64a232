"""The engine that samples on a vLLM server, and the environment that vLLM lives in."""
