package artifact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	for _, config := range []string{
		`{"language": "jq", "source": ".a + 1"}`,
		`{"type": "artifact", "language": "javascript", "source": "export default x => x;", "limits": {"time_ms": 30000, "memory_mb": 1024, "output_kb": 8192}}`,
		`{"language": "wasm", "source": "AGFz\nbQEA\nAAA=\n", "limits": {"memory_mb": 224}}`,
	} {
		require.NoError(t, artifact.Judge{}.CheckConfig(json.RawMessage(config)), config)
	}

	// A source of so many bytes, as a language has them.
	sized := func(l sandbox.Language, size int) string {
		source := strings.Repeat("1", size)
		if l == sandbox.WASM {
			source = base64.StdEncoding.EncodeToString([]byte("\x00asm\x01\x00\x00\x00" + source[8:]))
		}
		return fmt.Sprintf(`{"language": %q, "source": %q}`, l, source)
	}
	faults := []struct{ config, path, says string }{
		{``, "/language", "jq, javascript or wasm"},
		{`[]`, "", ""},
		{`{"language": "jq", "source": "."} {}`, "", "more than one"},
		{`{"language": "jq", "source": ".", "network": true}`, "/network", "network"},
		{`{"source": "."}`, "/language", "jq, javascript or wasm"},
		{`{"language": "python", "source": "1"}`, "/language", "python"},
		{`{"type": "http", "language": "jq", "source": "."}`, "/type", "http"},
		{`{"language": "jq"}`, "/source", "want the program"},
		{`{"language": "jq", "source": " \n"}`, "/source", "want the program"},
		{`{"language": "jq", "source": 7}`, "/source", "number"},
		{`{"language": "wasm", "source": "not base64"}`, "/source", "base64"},
		{`{"language": "wasm", "source": "AGFzbQ0AAQA="}`, "/source", "WebAssembly module of version 1"},
		{`{"language": "jq", "source": ".", "limits": {"time_ms": 30001}}`, "/limits/time_ms", "1 to 30000"},
		{`{"language": "jq", "source": ".", "limits": {"time_ms": -1}}`, "/limits/time_ms", "1 to 30000"},
		{`{"language": "jq", "source": ".", "limits": {"memory_mb": 1025}}`, "/limits/memory_mb", "224 to 1024"},
		{`{"language": "jq", "source": ".", "limits": {"memory_mb": 16}}`, "/limits/memory_mb", "224 to 1024"},
		{`{"language": "jq", "source": ".", "limits": {"output_kb": 8193}}`, "/limits/output_kb", "1 to 8192"},
		{`{"language": "jq", "source": ".", "limits": {"time_ms": "2s"}}`, "/limits/time_ms", "string"},
	}
	for _, l := range sandbox.Languages() {
		require.NoError(t, artifact.Judge{}.CheckConfig(json.RawMessage(sized(l, l.MaxProgram()))), l)
		faults = append(faults, struct{ config, path, says string }{sized(l, l.MaxProgram()+1), "/source", "the limit for"})
	}
	for _, f := range faults {
		err := artifact.Judge{}.CheckConfig(json.RawMessage(f.config))
		require.Equal(t, tool.Invalid, tool.KindOf(err), "%.80s", f.config)
		require.Equal(t, f.path, tool.AsError(err).Path, "%.80s: %v", f.config, err)
		require.ErrorContains(t, err, f.says)
	}
}
