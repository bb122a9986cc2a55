package operator

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/objects"
)

// fileFlags say where the contents of files are, and how large files may be.
type fileFlags struct {
	maxBytes, tenantBytes int64
	unused                time.Duration
	endpoint, region      string
	bucket, prefix        string
	virtualHosts          bool
}

// Variables of the keys for a store of objects: they are no flags, which others can see.
const (
	accessKeyVariable    = "TOOLCRIB_S3_ACCESS_KEY_ID"
	secretKeyVariable    = "TOOLCRIB_S3_SECRET_ACCESS_KEY" //nolint:gosec // A name, no secret.
	sessionTokenVariable = "TOOLCRIB_S3_SESSION_TOKEN"     //nolint:gosec // A name, no secret.
)

type fileFlag struct {
	name, variable, usage string
	text                  *string
	number                *int64
}

func (f *fileFlags) all() []fileFlag {
	return []fileFlag{
		{"file-max-bytes", "TOOLCRIB_FILE_MAX_BYTES", "size of a file at most (default 10 MiB)", nil, &f.maxBytes},
		{"file-tenant-bytes", "TOOLCRIB_FILE_TENANT_BYTES", "size of a tenant's files at most (default 1 GiB)", nil, &f.tenantBytes},
		{
			"s3-bucket", "TOOLCRIB_S3_BUCKET", "bucket for the contents of files, instead of PostgreSQL; its keys are in " +
				accessKeyVariable + " and " + secretKeyVariable, &f.bucket, nil,
		},
		{"s3-endpoint", "TOOLCRIB_S3_ENDPOINT", "address of the store of objects (default: Amazon's)", &f.endpoint, nil},
		{"s3-region", "TOOLCRIB_S3_REGION", "region of the bucket (default us-east-1)", &f.region, nil},
		{"s3-prefix", "TOOLCRIB_S3_PREFIX", "beginning of the keys of objects, such as toolcrib/", &f.prefix, nil},
	}
}

func (f *fileFlags) register(cmd *cobra.Command) {
	for _, l := range f.all() {
		if l.number != nil {
			cmd.Flags().Int64Var(l.number, l.name, 0, l.usage+" ("+l.variable+")")
		}
	}
	cmd.Flags().DurationVar(&f.unused, "file-unused", 0, "how long a file is kept that nothing uses (default 24h)")
	f.registerObjects(cmd)
}

// registerObjects registers the flags of the store of objects alone.
func (f *fileFlags) registerObjects(cmd *cobra.Command) {
	for _, l := range f.all() {
		if l.text != nil {
			cmd.Flags().StringVar(l.text, l.name, "", l.usage+" ("+l.variable+")")
		}
	}
	cmd.Flags().BoolVar(&f.virtualHosts, "s3-virtual-hosts", false, "put the bucket before the host of the endpoint")
}

// read fills in what the environment says where no flag does.
func (f *fileFlags) read(getenv func(string) string) error {
	for _, l := range f.all() {
		text := getenv(l.variable)
		switch {
		case text == "":
		case l.text != nil:
			if *l.text == "" {
				*l.text = text
			}
		case *l.number == 0:
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return cli.Usagef("%s %q is not a number", l.variable, text)
			}
			*l.number = n
		}
	}
	switch {
	case f.maxBytes < 0 || f.maxBytes > file.MostBytes:
		return cli.Usagef("--file-max-bytes %d is out of range: expected 1 to %d", f.maxBytes, file.MostBytes)
	case f.tenantBytes < 0:
		return cli.Usagef("--file-tenant-bytes %d is out of range: expected more than 0", f.tenantBytes)
	case f.unused < 0:
		return cli.Usagef("--file-unused %s is out of range: expected more than 0", f.unused)
	case f.bucket == "" && (f.endpoint != "" || f.prefix != "" || f.region != ""):
		return cli.Usagef("a store of objects needs --s3-bucket")
	}
	return nil
}

// open returns the configuration of files, and what closes the store of objects, which was reached
// once.
func (f *fileFlags) open(ctx context.Context, getenv func(string) string) (file.Config, func(), error) {
	config := file.Config{MaxBytes: f.maxBytes, TenantBytes: f.tenantBytes, Unused: f.unused}
	if f.bucket == "" {
		return config, func() {}, nil
	}
	objectsConfig := objects.Config{
		Endpoint: f.endpoint, Region: f.region, Bucket: f.bucket, Prefix: f.prefix,
		AccessKeyID: getenv(accessKeyVariable), SecretAccessKey: getenv(secretKeyVariable),
		SessionToken: getenv(sessionTokenVariable),
	}
	if f.virtualHosts {
		pathStyle := false
		objectsConfig.PathStyle = &pathStyle
	}
	place, err := objects.Open(objectsConfig)
	if err != nil {
		return config, nil, err
	}
	if err := place.Check(ctx); err != nil {
		place.Close()
		return config, nil, err
	}
	config.Contents = []file.Contents{place}
	return config, place.Close, nil
}
