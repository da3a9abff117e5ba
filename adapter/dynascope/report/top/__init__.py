"""The command `dynascope top`: what running processes compile now."""
