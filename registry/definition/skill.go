package definition

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of an agent's skills.
const (
	maxSkills            = 50
	maxSkillInstructions = 32 << 10 // Bytes.
	maxSkillDescription  = 1 << 10  // Bytes.
)

// checkSkills fails for malformed names, and for missing or too long texts.
func checkSkills(skills map[string]agent.Skill) error {
	if len(skills) > maxSkills {
		return refusal.New(tool.Invalid, "/skills", "%d skills: expected at most %d", len(skills), maxSkills)
	}
	for _, name := range slices.Sorted(maps.Keys(skills)) {
		path, s := "/skills/"+jsonpointer.Escape(name), skills[name]
		switch {
		case !tool.ValidSlug(name):
			return refusal.New(tool.Invalid, path, "skill %.80q: expected a letter, then letters, digits, _ or -, at most 64",
				name)
		case s.Instructions == "":
			return refusal.New(tool.Invalid, path+"/instructions", "skill %q: expected what the agent is to do", name)
		case len(s.Instructions) > maxSkillInstructions:
			return refusal.New(tool.Invalid, path+"/instructions", "skill %q: %d bytes of instructions: expected at most %d",
				name,
				len(s.Instructions), maxSkillInstructions)
		case len(s.Description) > maxSkillDescription:
			return refusal.New(tool.Invalid, path+"/description", "skill %q: %d bytes of description: expected at most %d", name,
				len(s.Description), maxSkillDescription)
		}
	}
	return nil
}

// parseSkills unifies the spelling of the fields of skills, and fails for unknown
// ones. The names of skills keep their spelling.
func parseSkills(doc object) error {
	raw, ok := doc["skills"]
	if !ok {
		return nil
	}
	var skills map[string]json.RawMessage
	if err := json.Unmarshal(raw, &skills); err != nil {
		return refusal.New(tool.Invalid, "/skills", "expected an object of skills by name")
	}
	for name, raw := range skills {
		path := "/skills/" + jsonpointer.Escape(name)
		fields, err := readObject(path, raw)
		if err != nil {
			return err
		}
		var s agent.Skill
		if err := fields.into(path, &s); err != nil {
			return err
		}
		if skills[name], err = json.Marshal(s); err != nil {
			return refusal.New(tool.Invalid, path, "malformed JSON")
		}
	}
	unified, err := json.Marshal(skills)
	if err != nil {
		return refusal.New(tool.Invalid, "/skills", "malformed JSON")
	}
	doc["skills"] = unified
	return nil
}
