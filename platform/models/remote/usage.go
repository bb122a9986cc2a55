package remote

import "math"

// Tokens returns a token count that a provider reported, limited to the range
// of an int32 and not below zero.
func Tokens(n int64) int { return int(min(max(n, 0), math.MaxInt32)) }
