package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// Each bucket, class and level that a tool may have is a term, and each term has words.
func TestTaxonomyHasWordsForEverything(t *testing.T) {
	t.Parallel()

	terms := tool.Taxonomy()
	for _, of := range [][]tool.Term{terms.Buckets, terms.Subtypes, terms.EgressClasses, terms.Risks, terms.Statuses} {
		seen := map[string]bool{}
		for _, term := range of {
			require.False(t, seen[term.Name], term.Name)
			require.NotEmpty(t, term.Label, term.Name)
			require.Regexp(t, `^[A-Z].*\.$`, term.Description, term.Name)
			seen[term.Name] = true
		}
	}
	for _, term := range terms.EgressClasses {
		require.True(t, tool.Egress(term.Name).Valid(), term.Name)
	}
	for _, term := range terms.Risks {
		require.True(t, tool.RiskLevel(term.Name).Valid(), term.Name)
	}
	buckets := map[tool.Bucket]bool{}
	for _, term := range terms.Subtypes {
		made := tool.Tool{}
		made.Implementation = tool.Implementation(term.Name)
		buckets[made.Bucket()] = true
		require.Equal(t, term.Label, tool.LabelOf(tool.Implementation(term.Name)))
	}
	for _, term := range terms.Buckets {
		if term.Name != string(tool.BucketBuiltIn) {
			require.True(t, buckets[tool.Bucket(term.Name)], term.Name)
		}
	}
	require.Equal(t, "theirs", tool.LabelOf("theirs"))
}
