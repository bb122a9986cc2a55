package manage

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// limits fails with tool.Denied where an agent asks for more than it may decide, whoever approves
// it: to loosen what holds a tool's calls back, or to use a credential that its principal may not
// see. A person does that with the API or the command line.
//
// The registry checks the permissions to write, and to declare that a POST only reads.
func limits(p tool.Principal, before *tool.Tool, after *definition.ToolSpec) error {
	var used []string
	if before == nil && after.Execution.Trust == tool.Trusted {
		return &tool.Error{
			Kind: tool.Denied, Op: "manage", Path: trustPath,
			Msg: "an agent does not make a tool trusted: a person does, with toolcrib tool apply",
		}
	}
	if before != nil {
		if at := loosened(before, after); at != "" {
			return &tool.Error{
				Kind: tool.Denied, Op: "manage", Path: at,
				Msg: "an agent does not loosen the policy of a tool: a person does, with toolcrib tool apply",
			}
		}
		used = credentials(before.Config)
	}
	for _, name := range credentials(after.Config) {
		if !slices.Contains(used, name) && !p.May(access.CredentialsRead) {
			return &tool.Error{
				Kind: tool.Denied, Op: "manage", Path: "/implementation_config",
				Msg: "the definition names a credential, and the caller lacks the permission \"" + access.CredentialsRead + "\"",
			}
		}
	}
	return nil
}

// trustPath is the field that decides whether the results of a tool taint runs.
const trustPath = "/execution/trust"

// loosened returns the field by which a definition holds less back than the tool does now; empty
// for none.
func loosened(before *tool.Tool, after *definition.ToolSpec) string {
	was, is := before.Policy, after.Policy
	switch {
	case !was.EgressClass.Within(is.EgressClass):
		return "/egress_class"
	case was.RequiresApproval && !is.RequiresApproval:
		return "/requires_approval"
	case was.PermissionPolicy == tool.PermissionAlwaysAsk && is.PermissionPolicy != tool.PermissionAlwaysAsk:
		return "/permission_policy"
	case was.RequiredPermission != "" && was.RequiredPermission != is.RequiredPermission:
		return "/required_permission"
	case !reflect.ValueOf(was.EgressRules).IsZero() && !reflect.DeepEqual(was.EgressRules, is.EgressRules):
		return "/egress_rules"
	case before.Execution.Trust != after.Execution.Trust && after.Execution.Trust != tool.Untrusted:
		return trustPath
	}
	now, then := before.Interaction, after.Interaction
	switch {
	case now.Confirmation != nil && !reflect.DeepEqual(now.Confirmation, then.Confirmation):
		return "/interaction/confirmation"
	case now.Visibility == tool.VisibilityInternal && then.Visibility != tool.VisibilityInternal:
		return "/interaction/visibility"
	case now.Audience == tool.AudienceUser && then.Audience != tool.AudienceUser:
		return "/interaction/audience"
	case !slices.Equal(now.Middleware, then.Middleware):
		return "/interaction/middleware"
	}
	return ""
}

// credentials returns the credentials that a configuration names.
func credentials(config json.RawMessage) []string {
	var v any
	if len(config) == 0 || json.Unmarshal(config, &v) != nil {
		return nil
	}
	var out []string
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, member := range v {
				walk(k, member)
			}
		case []any:
			for _, item := range v {
				walk(name, item)
			}
		case string:
			if v != "" && (name == "credentials_ref" || name == "credential") {
				out = append(out, v)
			}
		}
	}
	walk("", v)
	return out
}
