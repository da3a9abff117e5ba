"""Speak LSP's base protocol with a client that may send anything: each request is answered."""
