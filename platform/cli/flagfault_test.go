package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// A query that begins with a minus is a query, unless it is a flag or nearly one.
func TestQueriesThatLookLikeFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`pipeline search docs --dlq-type`:                  `pipeline search docs -- --dlq-type`,
		`pipeline search docs -"shard"`:                    `pipeline search docs -- -"shard"`,
		`--json pipeline search docs --dlq-type --limit 3`: `pipeline search --json docs --limit 3 -- --dlq-type`,
		`pipeline search --by full_text docs -source`:      `pipeline search --by full_text docs -- -source`,
		`pipeline search docs -half-open`:                  `pipeline search docs -- -half-open`,
		`pipeline search docs -- --dlq-type`:               `pipeline search docs -- --dlq-type`,
		`pipeline search docs --limt`:                      `pipeline search docs --limt`,
		`pipeline search docs leave --dlq-type`:            `pipeline search docs leave --dlq-type`,
		`pipeline search docs --help`:                      `pipeline search docs --help`,
		`pipeline search --dlq-type`:                       `pipeline search --dlq-type`,
		`tool list --dlq-type`:                             `tool list --dlq-type`,
	} {
		require.Equal(t, strings.Fields(want), cli.SeparateQuery(root(cli.Env{}), strings.Fields(line)), line)
	}
}
