package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of output sections.
const (
	maxSections     = 32
	maxSectionText  = 256      // Bytes of a key or a label.
	maxSectionBytes = 32 << 10 // Of all sections together.
)

// checkSections fails for malformed output sections. A section names a part of
// the result by its key, and how clients show it.
func checkSections(s *ToolSpec) error {
	const path = "/interaction/output_sections"
	raw := s.Interaction.OutputSections
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > maxSectionBytes {
		return refusal.New(tool.Invalid, path, "larger than %d KiB", maxSectionBytes>>10)
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return refusal.New(tool.Invalid, path, "expected a list of sections")
	}
	if len(list) > maxSections {
		return refusal.New(tool.Invalid, path, "%d sections: expected at most %d", len(list), maxSections)
	}
	seen := make(map[string]bool)
	for i, item := range list {
		at := fmt.Sprintf("%s/%d", path, i)
		doc, err := readObject(at, item)
		if err != nil {
			return err
		}
		var section tool.OutputSection
		if err := doc.into(at, &section); err != nil {
			return err
		}
		if err := checkSection(at, &section, s.OutputSchema); err != nil {
			return err
		}
		if seen[section.Key] {
			return refusal.New(tool.Invalid, at+"/key", "the key %q is given twice", section.Key)
		}
		seen[section.Key] = true
	}
	return nil
}

func checkSection(at string, s *tool.OutputSection, output json.RawMessage) error {
	var config map[string]json.RawMessage
	switch {
	case s.Key == "":
		return refusal.New(tool.Invalid, at+"/key", "expected a key: the part of the result that the section shows")
	case len(s.Key) > maxSectionText:
		return refusal.New(tool.Invalid, at+"/key", "longer than %d bytes", maxSectionText)
	case len(s.Label) > maxSectionText:
		return refusal.New(tool.Invalid, at+"/label", "longer than %d bytes", maxSectionText)
	case !slices.Contains(tool.SectionTypes(), s.Type):
		var names []string
		for _, t := range tool.SectionTypes() {
			names = append(names, string(t))
		}
		return refusal.New(tool.Invalid, at+"/type", "type %.40q: expected one of %s", s.Type, strings.Join(names, ", "))
	case len(s.Config) > 0 && json.Unmarshal(s.Config, &config) != nil:
		return refusal.New(tool.Invalid, at+"/config", "expected an object")
	case len(output) > 0 && schema.Undeclared(output, []string{s.Key}) >= 0:
		return refusal.New(tool.Invalid, at+"/key",
			"the output schema has no property %.80q: expected one of those it declares",
			s.Key)
	}
	return nil
}
