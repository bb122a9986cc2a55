package vault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A text opens as what it was sealed as, and as nothing else.
func TestTextsAreBound(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	keys, err := vault.ParseKeys(vault.GenerateKey())
	require.NoError(t, err)
	v := vault.New(d.Store, vault.Options{Keys: keys})
	sealed, err := v.SealText(t.Context(), vault.Text{
		Tenant: tenant, Record: "webhook", ID: storetest.NewID(t), Version: 1,
	}, "whsec_x")
	require.NoError(t, err)
	opened, err := v.OpenText(t.Context(), sealed)
	require.NoError(t, err)
	require.Equal(t, "whsec_x", opened)
	for name, change := range map[string]func(*vault.Text){
		"another tenant":  func(x *vault.Text) { x.Tenant = d.Tenant(t) },
		"another record":  func(x *vault.Text) { x.Record = "credential" },
		"another id":      func(x *vault.Text) { x.ID = storetest.NewID(t) },
		"another version": func(x *vault.Text) { x.Version++ },
		"no such key":     func(x *vault.Text) { x.KeyVersion++ },
	} {
		moved := sealed
		change(&moved)
		_, err := v.OpenText(t.Context(), moved)
		require.Equal(t, tool.InternalError, tool.KindOf(err), name)
	}
	_, err = vault.New(d.Store, vault.Options{}).OpenText(t.Context(), sealed)
	require.ErrorIs(t, err, vault.ErrNoKeys)
}
