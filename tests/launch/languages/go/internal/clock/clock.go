// Package clock is not for users.
package clock

// Now is the time.
func Now() int64 { return 0 }
