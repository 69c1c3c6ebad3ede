package rings_test

import (
	"fmt"

	"example.org/rings"
)

// A buffer keeps the newest values.
func ExampleBuffer_Push() {
	buffer := rings.New[int](1)
	buffer.Push(1)
	buffer.Push(2)
	fmt.Println(buffer.Len())
	// Output: 1
}
