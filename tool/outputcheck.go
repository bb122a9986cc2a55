package tool

// OutputCheck is the handling of an answer that does not match its tool's
// output schema.
type OutputCheck string

// Output checks.
const (
	OutputRefuse OutputCheck = "refuse" // The call answers "no" and says where; the default.
	OutputWarn   OutputCheck = "warn"   // The answer is passed on as it came, with a warning in [Result.Mismatch].
)

// OutputChecks lists every output check.
func OutputChecks() []OutputCheck { return []OutputCheck{OutputRefuse, OutputWarn} }

// Valid reports whether o is one of the output checks. Empty is refuse.
func (o OutputCheck) Valid() bool { return o == "" || o == OutputRefuse || o == OutputWarn }

// WarnsOutput reports whether an answer that does not match the output schema
// is passed on.
func (d *Definition) WarnsOutput() bool { return d.OutputCheck == OutputWarn }
