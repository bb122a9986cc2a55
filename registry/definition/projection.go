package definition

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// shownTo names the models by the dialect of their providers. Strict functions are optional, and
// lose nothing; OpenAI's and Anthropic's dialects differ in nothing that a projection loses.
var shownTo = []struct {
	dialect project.Dialect
	models  string
}{
	{project.OpenAI, "models"},
	{project.Gemini, "Google's models"},
}

// projectionWarnings lists what models do not see of the input schema. Where models of all
// providers are not offered the tool, or see less, that is said once.
func projectionWarnings(d *tool.Definition) []string {
	if d.ImplementationType() == tool.Provider || len(d.InputSchema) == 0 {
		return nil
	}
	for _, to := range shownTo {
		p, err := project.Input(d.InputSchema, to.dialect)
		if err != nil {
			return []string{fmt.Sprintf("%s are not offered the tool: %s", to.models, tool.AsError(err).Msg)}
		}
		if len(p.Losses) == 0 {
			continue
		}
		var names []string
		for _, l := range p.Losses[:min(len(p.Losses), maxLooseNamed)] {
			names = append(names, l.String())
		}
		if more := len(p.Losses) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		return []string{fmt.Sprintf("/input_schema: %s do not see: %s; arguments are checked against it all the same",
			to.models, strings.Join(names, ", "))}
	}
	return nil
}
