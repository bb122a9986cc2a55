package store_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Of those who rename a tool and those who make one under the slug that it had, or
// publish that as a further name, at the same time, one gets the name.
func TestNamesAreGivenOnce(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 10})
	tenant := d.Tenant(t)
	conn := d.Conn(t)
	head := func(slug string) tool.Tool {
		return tool.Tool{
			ID: storetest.NewID(t), Tenant: tenant, Slug: slug, Status: tool.Draft, Active: true, Version: "1.0.0",
			Definition: tool.Definition{
				Name: slug, Implementation: tool.Internal, InputSchema: json.RawMessage(`{"type":"object"}`),
			},
		}
	}
	for n := range 20 {
		name := fmt.Sprintf("name%d", n)
		named, err := d.Store.CreateTool(t.Context(), head(name))
		require.NoError(t, err)
		publisher, err := d.Store.CreateTool(t.Context(), head(fmt.Sprintf("publisher%d", n)))
		require.NoError(t, err)
		publisher.Interaction.FormerNames = map[string]string{name: "2099-06-30"}
		snapshot := tool.Snapshot{Definition: publisher.Definition}
		digest, err := snapshot.Digest()
		require.NoError(t, err)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for _, try := range []func() error{
			func() error {
				_, err := d.Store.RenameTool(t.Context(), named, fmt.Sprintf("renamed%d", n), "2099-06-30")
				return err
			},
			func() error {
				_, err := d.Store.CreateTool(t.Context(), head(name))
				return err
			},
			func() error {
				_, err := d.Store.CreateTool(t.Context(), head(name))
				return err
			},
			func() error {
				_, _, err := d.Store.AddVersion(t.Context(), publisher, tool.Version{
					ID: storetest.NewID(t), ToolID: publisher.ID, Tenant: tenant, Number: "1.0.0", Digest: digest,
					Snapshot: snapshot, Published: true,
				})
				return err
			},
		} {
			wg.Go(func() {
				<-start
				if err := try(); err != nil && tool.KindOf(err) != tool.Conflict {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		require.Equal(t, 1, count(t, conn, `select (select count(*) from tool_registry where slug = $1)
			+ (select count(*) from tool_aliases where alias = $1 and remove_by > now())`, name), name)
	}
}
