package artifact

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes artifact tools, checked by judge. The box is nil in a process
// without a sandbox, which cannot run them.
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
