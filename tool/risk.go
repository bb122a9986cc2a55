package tool

// RiskLevel is how much harm a call of a tool may do.
type RiskLevel string

// Risk levels, from the least.
const (
	RiskLow    RiskLevel = "low"
	RiskMedium RiskLevel = "medium"
	RiskHigh   RiskLevel = "high"
)

// Valid reports whether l is one of the levels. Empty defaults to the level
// that the egress class implies.
func (l RiskLevel) Valid() bool { return l == "" || l.rank() > 0 }

func (l RiskLevel) rank() int {
	switch l {
	case RiskHigh:
		return 3
	case RiskMedium:
		return 2
	case RiskLow:
		return 1
	default:
		return 0
	}
}

// Risk is the author's assessment of the harm that calls of a tool may do, for
// reviewers and approvers (checklist S2-2). It is informational: egress class,
// permission policy and approvals decide.
type Risk struct {
	Level  RiskLevel `json:"level,omitempty"`
	Reason string    `json:"reason,omitempty"` // At most 500 characters.
	Data   []string  `json:"data,omitempty"`   // Kinds of data that calls touch, such as "personal"; at most 16.
}

// RiskLevel returns the level that the tool's author declares, but no less than
// its egress class implies: low for none, medium for read_only, high for write.
func (t *Tool) RiskLevel() RiskLevel {
	implied := RiskLow
	switch t.EgressClass {
	case EgressWrite:
		implied = RiskHigh
	case EgressReadOnly:
		implied = RiskMedium
	case EgressNone:
	}
	if r := t.Interaction.Risk; r != nil && r.Level.rank() > implied.rank() {
		return r.Level
	}
	return implied
}
