package console_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var shots = flag.String("shots", "", "")

func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip()
	}
	v := visit(t, newSite(t, ""), browser(t))
	v.signIn(t)
	for i, path := range strings.Split(*shots, ",") {
		dark := strings.HasPrefix(path, "!")
		path = strings.TrimPrefix(path, "!")
		narrow := strings.HasPrefix(path, "~")
		path = strings.TrimPrefix(path, "~")
		w := int64(1360)
		if narrow {
			w = 320
		}
		scheme := "light"
		if dark {
			scheme = "dark"
		}
		v.do(t, emulation.SetDeviceMetricsOverride(w, 900, 1, narrow), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		v.open(t, path)
		var b []byte
		v.do(t, chromedp.FullScreenshot(&b, 100))
		require.NoError(t, os.WriteFile("/tmp/gshots/"+string(rune('a'+i))+".png", b, 0o644))
	}
	v.blameless(t)
}
