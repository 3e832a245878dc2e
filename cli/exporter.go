package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core"
)

// exporterAddress is where the exporter listens by default: only this machine reaches it.
const exporterAddress = "127.0.0.1:9876"

func newExporter(p *options) *cobra.Command {
	address := exporterAddress
	cmd := &cobra.Command{
		Use:   "exporter",
		Short: "Serve Prometheus metrics of the update, until it is stopped",
		Long: `Watches the cluster as the dashboard does, and serves what it sees to Prometheus at /metrics: the update and its forecast, phases,
nodes by stage, locks, what needs you, migrations, the journal on this machine, and which sources can be seen. docs/metrics.md has all
metrics. /healthz says that the exporter itself works, also while the cluster cannot be seen: lockstep_source_up tells that.

Nothing is changed, no lease is taken, and nobody is called. By default only this machine reaches it. Whoever reaches it reads the
names of hosts and of the operator who holds the lease: put what asks for a login in front of it before it listens elsewhere.

deploy/prometheus-rules.yaml has alerts, deploy/grafana-dashboard.json a dashboard. The exit code is 0 when it was ended by an
interrupt, a SIGTERM or a SIGHUP, and 1 when it cannot listen, or when the kubeconfig cannot be used: have it started again then
(systemd: Restart=on-failure).`,
		Example: `  lockstep exporter
  lockstep exporter --listen 127.0.0.1:9999 --context mos`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return export(cmd.Context(), *p, address, cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&address, "listen", address, "`address` and port to listen on")
	return cmd
}

func export(ctx context.Context, p options, address string, stderr io.Writer) error {
	if err := p.configure(); err != nil {
		return err
	}
	log, err := p.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	// It listens first: nobody waits for a cluster to learn that the port is taken.
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	p.ReadOnly, p.OneLook = true, true
	p.Own = p.ForCommands()
	s, err := p.open(ctx, log)
	if err != nil {
		return err
	}
	for _, n := range s.Notices {
		fmt.Fprintln(stderr, oneLine(n))
	}
	if s.NotLoaded != nil { // nobody is there to correct it and begin anew, as on a screen; what starts the exporter again loads it again
		return s.NotLoaded
	}
	fmt.Fprintf(stderr, "lockstep: metrics are served at http://%s/metrics\n", listener.Addr())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	journal := newJournalWatch(s.JournalPath)
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	if p.sole {
		running.Go(func() { s.Settle(ctx) })
	}
	running.Go(func() { journal.run(ctx) })
	err = serveMetrics(ctx, listener, metricsHandler(s.Engine.Snapshot, journal), log)
	stop()
	running.Wait()
	return err
}

const (
	// scrapeWithin is how long a scraper may take for its request, and again for reading the answer; Prometheus' own limit is 10 s.
	scrapeWithin = 10 * time.Second
	// mostScrapes is how many answers are made at the same time; who comes then gets a 503.
	mostScrapes = 4
	// journalEvery is how often the journal is looked at.
	journalEvery = time.Minute
)

// metricsHandler answers /metrics and /healthz.
func metricsHandler(snapshot func() *core.Snapshot, journal *journalWatch) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(snapshot, journal), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, MaxRequestsInFlight: mostScrapes}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

// serveMetrics serves until ctx is done. A scraper that is slow, or gone, holds up nobody else, and is cut off.
func serveMetrics(ctx context.Context, listener net.Listener, handler http.Handler, log *session.Log) error {
	server := &http.Server{Handler: handler, ReadTimeout: scrapeWithin, WriteTimeout: 2 * scrapeWithin, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: stdlog.New(logWriter{log}, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve metrics: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // for answers that are on their way
	defer cancel()
	if server.Shutdown(last) != nil {
		server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

// logWriter writes what the HTTP server says about connections into the log.
type logWriter struct{ log *session.Log }

// Write implements io.Writer.
func (w logWriter) Write(line []byte) (int, error) {
	w.log.Warn("exporter: " + oneLine(string(line)))
	return len(line), nil
}

func (j *journalWatch) run(ctx context.Context) {
	tick := time.NewTicker(journalEvery)
	defer tick.Stop()
	for {
		j.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func fileState(path string) (size int64, written time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}
