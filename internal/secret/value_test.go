package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
)

const plain = "s3cr3t-value-42"

// TestValueNeverPrints tries every way that Go has to show a value, on its own
// and within others.
func TestValueNeverPrints(t *testing.T) {
	t.Parallel()

	v := secret.NewValue(plain, "api.example.com")
	type holder struct {
		Public  secret.Value
		Pointer *secret.Value
		private secret.Value
	}
	h := holder{Public: v, Pointer: &v, private: v}
	shown := []string{v.String(), v.GoString(), fmt.Sprint(v), fmt.Sprintln(v, &v), h.private.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T", "%c", "%U", "%e"} {
		for _, arg := range []any{v, &v, h, &h, []secret.Value{v}, map[string]secret.Value{"k": v}, []any{h}} {
			shown = append(shown, fmt.Sprintf(verb, arg))
		}
	}
	for _, arg := range []any{v, h, map[string]any{"k": v}} {
		raw, err := json.Marshal(arg)
		require.NoError(t, err)
		shown = append(shown, string(raw))
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("opened", slog.Any("value", v), slog.Any("holder", h), slog.Any("pointer", &v))
	}
	shown = append(shown, log.String(), fmt.Errorf("sending %v: %w", v, fmt.Errorf("with %+v", h)).Error())
	for _, s := range shown {
		require.NotContains(t, s, plain)
		require.NotContains(t, s, fmt.Sprintf("%x", plain))
	}
	require.Equal(t, plain, v.Reveal())
}

func TestValueEqual(t *testing.T) {
	t.Parallel()

	require.True(t, secret.NewValue(plain).Equal(secret.NewValue(plain, "x.example")))
	require.False(t, secret.NewValue(plain).Equal(secret.NewValue(plain+"x")))
	require.True(t, secret.Value{}.IsZero())
	require.Empty(t, secret.Value{}.Reveal())
	require.False(t, secret.Value{}.MaySendTo("x.example", "443"))
}

func TestMaySendTo(t *testing.T) {
	t.Parallel()

	v := secret.NewValue(plain, " API.example.com ", "*.sub.example.com", "ports.example.com:8443", "10.0.0.7",
		"[fd12::7]:443", "fd12::8", "")
	for host, ok := range map[string]bool{
		"api.example.com": true, "x.api.example.com": false, "example.com": false, "a.sub.example.com": true,
		"a.b.sub.example.com": true,
		"sub.example.com":     false, ".sub.example.com": false, "ports.example.com": false, "10.0.0.7": true,
		"fd12::7": true, "fd12::8": true, "": false,
	} {
		require.Equal(t, ok, v.MaySendTo(host, "443"), host)
	}
	require.True(t, v.MaySendTo("ports.example.com", "8443"))
	require.False(t, v.MaySendTo("fd12::7", "80"))
}

// TestForeignHostsFoldToNoOther proves that a host which is not ASCII permits
// no other: Go's lower case of U+0130 is i, of U+212A k.
func TestForeignHostsFoldToNoOther(t *testing.T) {
	t.Parallel()

	v := secret.NewValue(plain, "api.gİthub.example", "*.gİthub.example", "\u212aelvin.example", "ｇithub.example",
		"git\u00adhub.example", "git\u3002hub.example", "STRAẞE.example")
	for _, host := range []string{
		"api.github.example", "x.github.example", "kelvin.example", "github.example", "git.hub.example", "strasse.example",
		"straße.example",
	} {
		require.False(t, v.MaySendTo(host, "443"), host)
	}
	require.Equal(t, "api.gİthub.example", secret.HostForm(" API.GİTHUB.example\n"))
}
