package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev"
)

// Config says where the demo finds what it needs.
type Config struct {
	// Root is the repository. Required.
	Root string
	// DataDir keeps the stack's data, so that a second demo starts at once.
	// Defaults to .toolcrib/demo below Root.
	DataDir string
	// Throwaway uses a stack that leaves nothing behind but the log.
	Throwaway bool
	// Stay keeps everything up until ctx ends. Where the model is scripted, an approval and a question are left
	// to the person who opens the console.
	Stay bool
	// Environ lists variables as "name=value": a key of a model provider makes
	// the demo use a live model, see package demo. Defaults to the process's.
	Environ []string
	// Sandbox is the command line of a child process that runs untrusted
	// programs, see worker.Config. Without it the agent's calls of
	// json_transform and quoteBulkOrder fail.
	Sandbox []string
	// Out is where people read. Required.
	Out io.Writer
}

// stopTimeout bounds how long everything may take to stop.
const stopTimeout = 30 * time.Second

// Run shows the demo. It fails if anything goes otherwise than the transcript
// has it, and stops what it started in any case.
func Run(ctx context.Context, cfg Config) (err error) {
	if cfg.DataDir == "" {
		cfg.DataDir = filepath.Join(cfg.Root, ".toolcrib", "demo")
	}
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	d := &demo{cfg: cfg, progress: progress{cfg.Out}}
	defer func() { err = errors.Join(err, d.stop()) }()
	d.say("Toolcrib: a support desk, end to end\n")
	d.model = pickModel(cfg.Environ)
	d.say("  The model is %s\n", d.model.describe())
	if err := d.start(ctx); err != nil {
		if ctx.Err() != nil { // Whatever else it says, this is why.
			return ctx.Err()
		}
		d.say("\n  Data and log: %s. Delete the folder to start afresh.", cfg.DataDir)
		return err
	}
	verdict := d.play(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if verdict == nil && !d.model.live { // What a live model would say again is not known.
		verdict = d.playLater(ctx)
	}
	if verdict == nil && !d.model.live && ctx.Err() == nil {
		verdict = d.playAsk(ctx)
	}
	if verdict == nil && !d.model.live && ctx.Err() == nil {
		verdict = d.playGraph(ctx)
	}
	if verdict == nil && !d.model.live && cfg.Stay && ctx.Err() == nil {
		verdict = d.leaveToPeople(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if verdict == nil {
		d.say("\n  All %d calls ended as %s.", len(d.calls), d.model.standard())
	} else {
		d.say("\n  It went otherwise:\n%s", indent(verdict))
		verdict = errors.New("the run did not go as it must; see above, and the log in " + cfg.DataDir)
	}
	d.whereToLook(ctx)
	if cfg.Stay {
		d.say("\n  It stays up until you press ctrl-c.")
		verdict = errors.Join(verdict, d.platform.Wait(ctx))
		d.say("\n  Stopping.")
	}
	return verdict
}

// demo is one showing.
type demo struct {
	progress
	cfg      Config
	model    pickedModel
	log      *slog.Logger
	company  *company
	platform *dev.Dev
	api      *client.Client
	approver *client.Client // With another key: who starts a run approves none of its calls.
	closers  []func() error // In the order of their making.
	showing
}

func (d *demo) folder() string { return filepath.Join(d.cfg.Root, "examples", "support-desk") }

// start brings everything up that the agent needs.
func (d *demo) start(ctx context.Context) error {
	if err := d.openLog(); err != nil {
		return err
	}
	if err := d.step("the shop's API", func() (_ string, err error) { return d.startCompany(ctx) }); err != nil {
		return err
	}
	if err := d.step("PostgreSQL, Temporal, worker and API", func() (string, error) {
		return d.startPlatform(ctx)
	}); err != nil {
		return err
	}
	if err := d.step("keep a credential", func() (string, error) { return d.keepCredential(ctx) }); err != nil {
		return err
	}
	if err := d.step("read the handbook", func() (string, error) { return d.fillHandbook(ctx) }); err != nil {
		return err
	}
	return d.step("apply examples/support-desk", func() (string, error) {
		defs, err := definitions(d.folder(), d.company.address, d.model.name)
		if err != nil {
			return "", err
		}
		return apply(ctx, d.api, defs)
	})
}

func (d *demo) startCompany(ctx context.Context) (_ string, err error) {
	if d.company, err = openCompany(ctx, filepath.Join(d.cfg.DataDir, "secrets")); err != nil {
		return "", err
	}
	d.closeLater(d.company.close)
	return "http://" + d.company.address, nil
}

// openLog redirects the logs of the parts to a file, away from what people
// read.
func (d *demo) openLog() error {
	if err := os.MkdirAll( //nolint:gosec // The account that runs PostgreSQL must pass through.
		d.cfg.DataDir, 0o755,
	); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	file, err := os.Create(filepath.Join(d.cfg.DataDir, "demo.log"))
	if err != nil {
		return fmt.Errorf("making the log: %w", err)
	}
	d.closeLater(file.Close)
	d.log = slog.New(slog.NewTextHandler(file, nil))
	return nil
}

func (d *demo) closeLater(fn func() error) { d.closers = append(d.closers, fn) }

// stop stops everything, the last first.
func (d *demo) stop() error {
	var errs []error
	for _, fn := range slices.Backward(d.closers) {
		errs = append(errs, fn())
	}
	d.closers = nil
	return errors.Join(errs...)
}
