package mediatype_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/mediatype"
)

func TestIsJSON(t *testing.T) {
	t.Parallel()
	for media, want := range map[string]bool{
		"application/json": true, "text/json": true, "application/problem+json": true,
		"": false, "application/jsonl": false, "text/plain": false, "application/xml": false,
	} {
		require.Equal(t, want, mediatype.IsJSON(media), media)
	}
}
