package doctor

import "time"

// Hurried returns the configuration with less time for everything.
func (c Config) Hurried(check, all time.Duration) Config {
	c.timeouts = timeouts{check, all}
	return c
}
