package remote

import "math"

// Tokens returns a count that a provider told, as far as it can be one.
func Tokens(n int64) int { return int(min(max(n, 0), math.MaxInt32)) }
