package live

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/recording"
	"lockstep/scene"
)

// Recording records an hour of an update of 500 nodes with 15,000 instances: each minute Nova tells of all its compute services, and each
// second a node is a stage further, which the History keeps. It returns the file, and how long its text is.
func Recording(b *testing.B) (path string, text int64) {
	b.Helper()
	sc := scene.Fleet(500, 30)
	path = filepath.Join(b.TempDir(), "mos.lockrec")
	r, err := recording.Start(recording.Options{Head: recording.Head{Version: "1", Recording: "r", Cluster: "mos"},
		Create: func(int) (io.WriteCloser, error) { return os.Create(path) }})
	if err != nil {
		b.Fatal(err)
	}
	facts := sc.Objects()
	first := recording.Frame{Now: scene.Noon, Wall: scene.Noon, Sources: sc.Sources}
	var nodes []*core.Node
	for id := range sc.Sources {
		first.Deltas = append(first.Deltas, core.Delta{Source: id, At: scene.Noon, State: core.SourceLive, Upserts: facts[id]})
	}
	for _, o := range facts[core.SourceNodes] {
		nodes = append(nodes, o.(*core.Node))
	}
	r.Frame(first)
	history := core.History{}
	for n := range 3600 {
		at := scene.Noon.Add(time.Duration(n+1) * time.Second)
		node := *nodes[n%len(nodes)]
		node.ResourceVersion = fmt.Sprint(n)
		history.Stages = maps.Clone(history.Stages)
		if history.Stages == nil {
			history.Stages = map[string]core.StageRecord{}
		}
		history.Stages[node.UID] = core.StageRecord{Stage: core.StageWaiting, Since: core.Since{At: at}}
		f := recording.Frame{Now: at, Wall: at, History: history, Sources: sc.Sources, Deltas: []core.Delta{
			{Source: core.SourceNodes, At: at, State: core.SourceLive, Upserts: []core.Object{&node}}}}
		if n%60 == 0 {
			var services []core.Object
			for i, node := range nodes {
				services = append(services, &core.ComputeService{ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), Host: node.Name,
					Zone: "nova", Up: true, Enabled: true, Updated: at.Add(-time.Duration(i) * time.Millisecond)})
			}
			f.Deltas = append(f.Deltas, core.Delta{Source: core.SourceComputeServices, At: at, State: core.SourceLive, Upserts: services})
		}
		r.Frame(f)
		if n%1000 == 0 {
			time.Sleep(time.Second) // the recorder gives frames up for which the disk is too slow
		}
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	_, lines, _ := bytes.Cut(raw, []byte("\n"))
	zip, err := gzip.NewReader(bytes.NewReader(lines))
	if err == nil {
		text, err = io.Copy(io.Discard, zip)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path, text
}
