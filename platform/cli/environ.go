package cli

import "strings"

// Getenv returns a variable of the environment, or the empty string.
func (e Env) Getenv(name string) string {
	value, _ := Environment(e.Environ).LookupEnv(name)
	return value
}

// Environment is an environment that Temporal's configuration is read from too.
type Environment []string

// Environ lists the variables as "name=value".
func (e Environment) Environ() []string { return e }

// LookupEnv returns a variable, and whether it is set.
func (e Environment) LookupEnv(name string) (value string, ok bool) {
	for _, entry := range e {
		if have, text, _ := strings.Cut(entry, "="); have == name {
			value, ok = text, true
		}
	}
	return value, ok
}
