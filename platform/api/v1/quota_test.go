package v1_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/quota"
)

// The description lists the quotas and the origins that there are.
func TestQuotaIsDescribedWhole(t *testing.T) {
	t.Parallel()
	enum := func(field string) []string {
		f, ok := reflect.TypeFor[v1.Quota]().FieldByName(field)
		require.True(t, ok)
		return strings.Split(f.Tag.Get("enum"), ",")
	}
	var names, origins []string
	for _, n := range quota.Names() {
		names = append(names, string(n))
	}
	for _, o := range quota.Origins() {
		origins = append(origins, string(o))
	}
	require.Equal(t, names, enum("Name"))
	require.Equal(t, origins, enum("Origin"))
}
