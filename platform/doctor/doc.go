// Package doctor looks at what the platform stands on from where the command
// line is, and says of each thing what was found and what mends it.
//
// It changes nothing, it ends in time whatever does not answer, and it tells no
// secrets.
package doctor
