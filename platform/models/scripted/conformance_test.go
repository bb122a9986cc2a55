package scripted_test

import (
	"testing"

	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
)

// A scripted model answers as a real one does.
func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.AnswersBasic(t, scripted.New("testdata/conformance"))
}
