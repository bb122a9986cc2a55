package agentcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/internal/template"
	"github.com/toolcrib/toolcrib/tool"
)

// Modes of prompt tools that run an agent.
const (
	ModeAgent = "agent" // The rendered prompt is the message to the agent.
	ModeSkill = "skill" // Likewise, after the instructions of one of its skills.
)

// Config is the implementation_config of a tool that runs an agent.
type Config struct {
	// AgentID or Agent is the agent: exactly one of them is set.
	AgentID string
	Agent   string // A slug, optionally with a version constraint: "research@^1.2".
	// Prompt is a template of the message to the agent; see package template. When
	// empty, the message is built from the arguments: see [Config.Message].
	Prompt string
	// Skill is a skill of the agent, whose instructions precede the message.
	Skill string
	// Wait is whether a task waits for the end of its run. Nil is false.
	Wait *bool

	implementation tool.Implementation
	template       *template.Template
}

// Implementations lists the types of tools that run an agent. Prompts do in the modes agent
// and skill; see [RunsAgent].
func Implementations() []tool.Implementation {
	return []tool.Implementation{tool.AgentCall, tool.Task, tool.Prompt}
}

// RunsAgent reports whether calls of a tool of type impl with this configuration run an
// agent.
func RunsAgent(impl tool.Implementation, config json.RawMessage) bool {
	if impl != tool.Prompt {
		return slices.Contains(Implementations(), impl)
	}
	var c struct {
		Mode string `json:"mode"`
	}
	return json.Unmarshal(config, &c) == nil && (c.Mode == ModeAgent || c.Mode == ModeSkill)
}

// written is the JSON form of a configuration, aliases included.
type written struct {
	Type            tool.Implementation `json:"type"`
	Mode            string              `json:"mode"`
	TargetAgentID   string              `json:"target_agent_id"`
	AgentID         string              `json:"agent_id"`
	TargetAgentSlug string              `json:"target_agent_slug"`
	Agent           string              `json:"agent"`
	PromptTemplate  *string             `json:"prompt_template"`
	Skill           string              `json:"skill"`
	Wait            *bool               `json:"wait"`
}

// Waits reports whether the call waits for the end of the agent's run. All do except tasks
// without wait.
func (c *Config) Waits() bool {
	return c.implementation != tool.Task || c.Wait != nil && *c.Wait
}

// Ref returns the agent and its version constraint.
func (c *Config) Ref() tool.Ref {
	if c.AgentID != "" {
		return tool.Ref{ID: c.AgentID}
	}
	slug, constraint, _ := strings.Cut(c.Agent, "@")
	return tool.Ref{Slug: slug, Constraint: constraint}
}

// CheckConfig checks the configuration of a tool of type impl with arguments of
// inputSchema. It fails with [tool.Invalid] and the JSON Pointer of the fault. The registry
// checks that the agent exists.
func CheckConfig(impl tool.Implementation, raw, inputSchema json.RawMessage) error {
	c, err := ParseConfig(impl, raw)
	if err != nil || c.Prompt == "" {
		return err
	}
	if err := template.Check(c.Prompt, inputSchema); err != nil {
		return fault("/prompt_template", tool.AsError(err).Msg)
	}
	return nil
}

// ParseConfig reads the configuration of a tool of type impl: agent_call, task,
// or prompt with the mode agent or skill. It fails with [tool.Invalid] and the
// JSON Pointer of the fault.
func ParseConfig(impl tool.Implementation, raw json.RawMessage) (*Config, error) {
	w, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if err := w.checkType(impl); err != nil {
		return nil, err
	}
	c := &Config{Skill: w.Skill, Wait: w.Wait, implementation: impl}
	if c.AgentID, err = either(w.TargetAgentID, w.AgentID, "target_agent_id", "agent_id"); err != nil {
		return nil, err
	}
	if c.Agent, err = either(w.TargetAgentSlug, w.Agent, "target_agent_slug", "agent"); err != nil {
		return nil, err
	}
	if err := c.checkTarget(); err != nil {
		return nil, err
	}
	if c.Skill != "" && !tool.ValidSlug(c.Skill) {
		return nil, fault(
			"/skill", fmt.Sprintf("skill %.80q: want a letter, then letters, digits, _ or -, at most 64", c.Skill),
		)
	}
	return c, c.readPrompt(w)
}

func decode(raw json.RawMessage) (*written, error) {
	var w written
	if err := strict.Decode("agentcall.CheckConfig", raw, &w); errors.Is(err, io.EOF) {
		return nil, fault("", wantTarget)
	} else if err != nil {
		return nil, err
	}
	return &w, nil
}

const wantTarget = "want the agent to run: its slug as target_agent_slug, or its id as target_agent_id"

// checkType refuses fields that the implementation type does not have.
func (w *written) checkType(impl tool.Implementation) error {
	switch {
	case !slices.Contains(Implementations(), impl):
		return fault("/type", fmt.Sprintf("%.40q tools do not run an agent", impl))
	case impl != tool.Prompt && w.Mode != "":
		return fault("/mode", string(impl)+" tools have no mode")
	case impl == tool.Prompt && w.Mode != ModeAgent && w.Mode != ModeSkill:
		return fault("/mode", fmt.Sprintf("mode %.40q: want agent or skill for a prompt that an agent answers", w.Mode))
	case impl == tool.Prompt && (w.Mode == ModeSkill) != (w.Skill != ""):
		return fault("/skill", "a prompt of mode skill names the skill, and one of mode agent has none")
	case w.Type != "" && w.Type != impl:
		return fault("/type", fmt.Sprintf("%.40q is not %s", w.Type, impl))
	case w.Wait != nil && impl != tool.Task:
		return fault(
			"/wait", fmt.Sprintf("%s tools always wait for their agent: use a tool of type task to start without waiting", impl),
		)
	}
	return nil
}

// either returns the value of a field or its alias.
func either(value, alias, name, aliasName string) (string, error) {
	if value != "" && alias != "" && value != alias {
		return "", fault("/"+aliasName, fmt.Sprintf("%s and %s differ: give one", name, aliasName))
	}
	if value == "" {
		return alias, nil
	}
	return value, nil
}

func (c *Config) checkTarget() error {
	slug, constraint, pinned := strings.Cut(c.Agent, "@")
	switch {
	case c.AgentID == "" && c.Agent == "":
		return fault("/target_agent_slug", wantTarget)
	case c.AgentID != "" && c.Agent != "":
		return fault("/target_agent_id", "target_agent_slug and target_agent_id: want one of them")
	case c.AgentID != "" && !tool.ValidID(c.AgentID):
		return fault(
			"/target_agent_id",
			fmt.Sprintf("%.80q is not an id: want a UUID in lower case, or the agent's slug as target_agent_slug", c.AgentID),
		)
	case c.Agent != "" && !tool.ValidSlug(slug):
		return fault(
			"/target_agent_slug",
			fmt.Sprintf(
				"%.80q is not a slug of an agent: want a letter, then letters, digits, _ or -, at most 64, and optionally @version",
				c.Agent,
			),
		)
	case pinned && strings.TrimSpace(constraint) == "":
		return fault("/target_agent_slug", fmt.Sprintf("%.80q ends in @ without a version", c.Agent))
	}
	return nil
}

func (c *Config) readPrompt(w *written) error {
	if w.PromptTemplate == nil {
		if w.Mode == ModeAgent {
			return fault("/prompt_template", "want the agent's message, such as \"Summarize {{text}}\"")
		}
		return nil
	}
	if strings.TrimSpace(*w.PromptTemplate) == "" {
		return fault("/prompt_template", "the template is empty: leave it out to pass the arguments")
	}
	parsed, err := template.Parse(*w.PromptTemplate)
	if err != nil {
		return fault("/prompt_template", tool.AsError(err).Msg)
	}
	c.Prompt, c.template = *w.PromptTemplate, parsed
	return nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "agentcall.CheckConfig", Path: path, Msg: msg}
}
