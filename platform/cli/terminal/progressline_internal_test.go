package terminal

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A line that is not complete is never drawn over.
func TestProgressLeavesHalfLines(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	p := &Progress{out: &screen, columns: 40, what: "waiting", began: time.Now()}
	out := p.Over(&screen)
	_, err := io.WriteString(out, "half a li")
	require.NoError(t, err)
	p.draw()
	require.Equal(t, "half a li", screen.String())
	_, err = io.WriteString(out, "ne\n")
	require.NoError(t, err)
	p.draw()
	require.Contains(t, screen.String(), "half a line\n\rwaiting")
}
