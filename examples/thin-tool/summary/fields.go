package summary

// Field is a part of a summary, which an agent writes.
type Field struct {
	Name string
	// Layer is 1 for fields that are written from the sources alone, 2 for those that are
	// written from the fields of layer 1 too.
	Layer int
	// Ask is what the agent is asked for.
	Ask string
	// Words name what the field is about, for a composer that knows no more.
	Words []string
}

// Fields are those of a summary. The graph fillExecutiveSummary names the same ones, by layer.
var Fields = []Field{
	{"situation", 1, "What is the client's situation?", []string{"runs", "has", "serves"}},
	{"goals", 1, "What does the client want?", []string{"wants", "goal", "aims"}},
	{"findings", 1, "What was found?", []string{"found", "shows", "measured"}},
	{"savings", 1, "What can be saved, and how much?", []string{"save", "saves", "cheaper"}},
	{"risks", 2, "What may go wrong?", []string{"risk", "fails", "depends"}},
	{"roadmap", 2, "What comes next, and when?", []string{"first", "then", "quarter"}},
	{"recommendation", 2, "What does the client have to decide?", []string{"recommend", "decide", "should"}},
}

// field returns the field of a name.
func field(name string) (Field, bool) {
	for _, f := range Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}
