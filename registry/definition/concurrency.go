package definition

import (
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// ConcurrencyWarnings warns of a pure tool without max_concurrency: with the
// default of 1, an agent in parallel_safe mode makes its calls one after another.
// An explicit 1 is not warned of.
func ConcurrencyWarnings(d *tool.Definition, traits tool.Traits) []string {
	x := d.Execution
	if !x.Pure || x.MaxConcurrency != 0 || !traits.RunBy.OnPlatform() {
		return nil
	}
	return []string{
		fmt.Sprintf("it is pure and max_concurrency is left at 1, "+
			"so a run makes one call of concurrency group %q at a time: "+
			"set execution.max_concurrency, %d for most reads, or 1 where that is meant", x.Group(), tool.ReadConcurrency),
	}
}
