// Package rings has buffers that forget what is oldest.
//
// A buffer never grows:
//
//	buffer := rings.New[string](2)
//	buffer.Push("a")
//
// # Concurrency
//
// A Buffer must not be used by several goroutines at once.
package rings

import "errors"

// ErrEmpty is returned when there is nothing to read.
var ErrEmpty = errors.New("rings: empty")

const (
	// DefaultSize is the size that New uses for 0.
	DefaultSize = 16
	largest     = 1 << 20
)

// Buffer holds the newest values.
type Buffer[T any] struct {
	// Name is used in messages.
	Name  string
	items []T
}

// New makes a buffer for so many values.
//
// It panics if size is negative.
func New[T any](size int) *Buffer[T] { return &Buffer[T]{} }

// Push adds a value and forgets the oldest one if need be.
func (b *Buffer[T]) Push(value T) {}

// Len tells how many values there are.
func (b *Buffer[T]) Len() int { return len(b.items) }

// Last returns the newest value.
//
// Deprecated: Use Peek instead.
func (b *Buffer[T]) Last() (T, error) { return b.Peek() }

// Peek returns the newest value, or ErrEmpty.
func (b *Buffer[T]) Peek() (value T, err error) { return value, ErrEmpty }

func (b *Buffer[T]) grow() {}

// Reader is anything that can be read value by value.
type Reader[T any] interface {
	// Next returns the next value.
	Next() (T, error)
}
