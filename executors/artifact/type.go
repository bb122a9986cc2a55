package artifact

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes artifact tools, which judge decides about. The box is nil in a
// process without a sandbox, which can run none.
func Type(judge Judge, box Sandbox, programs Programs) executors.Type {
	t := executors.Type{
		Traits:      tool.Traits{Implementation: tool.Artifact},
		CheckConfig: func(config, _ json.RawMessage) error { return judge.CheckConfig(config) },
		Compile:     judge.Compile,
	}
	if box != nil {
		t.Executor = New(box, Options{Programs: programs, Judge: judge})
	}
	return t
}
