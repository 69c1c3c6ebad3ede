"""Bytes to messages and back, sans-IO: JSON text, framing, the JSON-RPC envelope. No clock, no pipes."""
