package cli

import "strings"

// Getenv returns a variable of the environment, or the empty string.
func (e Env) Getenv(name string) string {
	value, _ := environ(e.Environ).LookupEnv(name)
	return value
}

// environ is an environment that Temporal's configuration is read from too.
type environ []string

// Environ lists the variables as "name=value".
func (e environ) Environ() []string { return e }

// LookupEnv returns a variable, and whether it is set.
func (e environ) LookupEnv(name string) (value string, ok bool) {
	for _, entry := range e {
		if have, text, _ := strings.Cut(entry, "="); have == name {
			value, ok = text, true
		}
	}
	return value, ok
}
