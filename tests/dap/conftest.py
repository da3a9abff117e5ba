from tests.support.dap.fixtures import client, spawn, uses_its_capabilities

__all__ = ["client", "spawn", "uses_its_capabilities"]
