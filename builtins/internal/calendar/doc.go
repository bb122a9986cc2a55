// Package calendar is the arithmetic of local times behind the datetime_utils
// built-in. Where a clock change makes a local time impossible or ambiguous, [Resolve]
// documents the result.
package calendar
