package operator

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/objects"
	"github.com/toolcrib/toolcrib/platform/objects/objectstest"
)

// A flag wins over its variable; what is no size, and a bucket that cannot be reached, is an error.
func TestFileFlags(t *testing.T) {
	t.Parallel()
	server := objectstest.New(t)
	keys := map[string]string{accessKeyVariable: objectstest.AccessKey, secretKeyVariable: objectstest.SecretKey}
	bucket := []string{"--s3-bucket", objectstest.Bucket, "--s3-endpoint", server.URL, "--s3-region", objectstest.Region}
	for name, tt := range map[string]struct {
		args     []string
		env      map[string]string
		maxBytes int64
		place    bool
		fail     string
	}{
		"None": {},
		"Flag": {
			args: []string{"--file-max-bytes", "7"}, env: map[string]string{"TOOLCRIB_FILE_MAX_BYTES": "x"}, maxBytes: 7,
		},
		"Variable": {env: map[string]string{"TOOLCRIB_FILE_MAX_BYTES": "9"}, maxBytes: 9},
		"NoNumber": {env: map[string]string{"TOOLCRIB_FILE_MAX_BYTES": "x"}, fail: `"x" is not a number`},
		"Large":    {args: []string{"--file-max-bytes", "1000000000"}, fail: "out of range"},
		"Negative": {args: []string{"--file-tenant-bytes", "-1"}, fail: "out of range"},
		"Unused":   {args: []string{"--file-unused", "-1h"}, fail: "out of range"},
		"NoBucket": {args: []string{"--s3-endpoint", server.URL}, fail: "needs --s3-bucket"},
		"NoKeys":   {args: bucket, fail: "access key"},
		"Bucket":   {args: bucket, env: keys, place: true},
		"Other": {
			args: append([]string{"--s3-prefix", "x/", "--s3-bucket", "other"}, bucket[2:]...), env: keys,
			fail: `no bucket "other"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fileFlags
			cmd := &cobra.Command{}
			f.register(cmd)
			require.NoError(t, cmd.ParseFlags(tt.args))
			getenv := func(name string) string { return tt.env[name] }
			err := f.read(getenv)
			if err == nil {
				got, closing, failed := f.open(t.Context(), getenv)
				if err = failed; err == nil {
					defer closing()
					require.Equal(t, tt.maxBytes, got.MaxBytes)
					require.Equal(t, tt.place, len(got.Contents) == 1 && got.Contents[0].Location() == objects.Location)
				}
			}
			if tt.fail != "" {
				require.ErrorContains(t, err, tt.fail)
				return
			}
			require.NoError(t, err)
		})
	}
}
