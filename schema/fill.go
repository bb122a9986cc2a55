package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// PrepareFilling is [Schema.Prepare], and fills in the given values for arguments that were left out, by their
// names. The receipt names them. It also fails with tool.Invalid where the schema does not accept the arguments
// with those values.
func (s *Schema) PrepareFilling(
	ctx context.Context, raw json.RawMessage, defaults map[string]json.RawMessage,
) (json.RawMessage, Receipt, error) {
	arguments, receipt, err := s.Prepare(ctx, raw)
	if err != nil || len(defaults) == 0 {
		return arguments, receipt, err
	}
	v, err := decodeValue(arguments)
	if err != nil || v.Kind() != jsonvalue.Object {
		return arguments, receipt, err
	}
	members, before := slices.Clone(v.Members()), v.Len()
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		if v.Get(name) != nil {
			continue
		}
		value, err := decodeValue(defaults[name])
		if err != nil {
			return nil, nil, fmt.Errorf("reading the default of %q: %w", name, err)
		}
		members = append(members, jsonvalue.Member{Name: name, Value: value})
		receipt = append(receipt, Edit{
			Path: "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name), From: "nothing", To: "default",
			Rule: RuleOverride,
		})
	}
	if len(members) == before {
		return arguments, receipt, nil
	}
	filled := jsonvalue.NewObject(members)
	out := filled.Append(nil)
	if err := s.judge(newWork(ctx.Err, len(out)), filled); err != nil {
		return nil, nil, err
	}
	return out, receipt, nil
}
