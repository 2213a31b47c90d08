"""The recording server and the agent's process: HTTP on loopback, requests to providers, one process group.

The only package that imports aiohttp. Entry points: `server.RecorderServer`, `agent_process.AgentProcess`.
"""
