package e2e

import (
	"cmp"
	"encoding/json"
	"testing"

	"lockstep/e2e/cluster"
	"lockstep/e2e/operator"
)

// program is the real binary with its operator.
type program struct {
	*operator.Operator
	t testing.TB
}

// start says how the program is started. The zero value is what an operator does, at 120 columns and 40 rows.
type start struct {
	columns, rows int
	user          cluster.User // whose kubeconfig; Operator by default
	kubeconfig    string       // a path instead
	cloud         string       // of the world's clouds.yaml; cloudOperator by default
	cloudsYAML    string       // a path instead of the world's
	state         string       // a state folder of an earlier run
	dir           string       // the working directory
	args          []string     // more of them
}

// launch starts the program against the world.
func (w *world) launch(t testing.TB, s start) *program {
	t.Helper()
	if s.kubeconfig != "" { // one that a flag names
		s.args = append([]string{"--kubeconfig", s.kubeconfig}, s.args...)
		s.kubeconfig = ""
	} else {
		path, err := w.WriteKubeconfig(cmp.Or(s.user, cluster.Operator))
		if err != nil {
			t.Fatal(err)
		}
		s.kubeconfig = path
	}
	s.cloudsYAML = cmp.Or(s.cloudsYAML, w.cloudsYAML)
	s.state = cmp.Or(s.state, t.TempDir())
	s.cloud = cmp.Or(s.cloud, cloudOperator)
	return launch(t, s, s.args...)
}

// desk is what the program finds when it starts.
func (s start) desk() operator.Desk {
	return operator.Desk{Program: lockstep, Columns: s.columns, Rows: s.rows, CloudsYAML: s.cloudsYAML,
		Kubeconfig: s.kubeconfig, Cloud: s.cloud, State: s.state, Dir: s.dir}
}

// launch starts the program with the arguments.
func launch(t testing.TB, s start, args ...string) *program {
	t.Helper()
	return &program{operator.SitDown(t, s.desk(), args...), t}
}

// decoded decodes the body of a request.
func decoded[T any](t testing.TB, raw []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	return value
}
