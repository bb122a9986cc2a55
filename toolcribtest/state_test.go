package toolcribtest_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/statetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolcribtest"
)

func TestState(t *testing.T) {
	t.Parallel()

	statetest.Run(t, func(*testing.T) tool.StateStore { return new(toolcribtest.State) })
}
