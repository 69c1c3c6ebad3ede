"""The canonical template of a specification: what to copy, and what to write where.

It passes every rule but the one on placeholders, so that an author sees only what is left to fill in.
"""

__all__ = ["FILL_IN", "TEMPLATE", "UNNAMED"]

FILL_IN = "FILL IN:"
UNNAMED = "FILL_IN"

TEMPLATE = """\
# MCP Tool Specification: FILL IN: the name of the module

<!--
How to use this template:
1. Copy the part below "## Tool:" once for each tool that the module exposes.
2. Keep the eight headings, their words and their order. Where there is nothing to say, say so: None.
3. Keep tables and JSON Schemas in step: the same fields, types and required marks in both.
4. Use plain JSON in examples: no comments, no trailing commas.
5. Raise the version with every change: the first number when callers must change, the second for what is new.
6. A module without tools keeps this file with one sentence: This module exposes no tools.
-->

## Tool: `example_tool`

### 1. Tool Purpose and Description

**Version**: 1.0.0

FILL IN: one or two sentences on what the tool does, when to use it and when not.

### 2. Invocation Name

`example_tool`

### 3. Input Schema (Parameters)

| Parameter Name | Type | Required | Description | Example Value |
| :-- | :-- | :-- | :-- | :-- |
| `query` | `string` | Yes | FILL IN: what the parameter means | `"anvil"` |
| `limit` | `integer` | No | FILL IN: what happens without it. Default: `10`. | `10` |

```json
{
  "type": "object",
  "properties": {
    "query": {
      "type": "string",
      "description": "FILL IN: what the parameter means"
    },
    "limit": {
      "type": "integer",
      "description": "FILL IN: what happens without it",
      "default": 10
    }
  },
  "required": ["query"],
  "additionalProperties": false
}
```

### 4. Output Schema (Return Value)

| Field Name | Type | Description | Example Value |
| :-- | :-- | :-- | :-- |
| `status` | `string` | Always `"success"`; a failure is told as below. | `"success"` |
| `matches` | `array[string]` | FILL IN: what the field holds | `["anvil"]` |

```json
{
  "type": "object",
  "properties": {
    "status": {
      "const": "success"
    },
    "matches": {
      "type": "array",
      "items": {
        "type": "string"
      },
      "description": "FILL IN: what the field holds"
    }
  },
  "required": ["status", "matches"]
}
```

### 5. Error Handling

| Error Code | Meaning | Remedy | Retryable |
| :-- | :-- | :-- | :-- |
| `NOT_FOUND` | FILL IN: when it is returned | FILL IN: what the caller can do | No |

A failure has this form:

```json
{
  "status": "failure",
  "error_type": "NOT_FOUND",
  "error_message": "There is nothing that matches.",
  "error_details": {
    "query": "anvil"
  }
}
```

### 6. Idempotency

**Idempotent**: Yes

**Explanation**: FILL IN: what a second call with the same arguments does. Write Yes, No or Partially above.

### 7. Usage Examples (for MCP context)

```json
{
  "tool_name": "example_tool",
  "arguments": {
    "query": "anvil",
    "limit": 10
  }
}
```

### 8. Security Considerations

- **Input validation**: FILL IN: what is checked, and what is refused.
- **Permissions**: FILL IN: what the tool may read, change and reach: files, network, processes, secrets.
- **Data handling**: FILL IN: what is kept, logged or sent elsewhere.
"""
