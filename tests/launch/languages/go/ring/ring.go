// Package ring has the cursor of a buffer.
package ring

// Cursor is a place in a ring.
type Cursor int

// Next is the place behind this one.
func (c Cursor) Next(size int) Cursor { return (c + 1) % Cursor(size) }
