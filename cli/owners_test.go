package cli

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/core/procedure"
	"lockstep/sim"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
)

// Whom to tell of what happens to the instances of a node, and of all nodes: as a document, as a table and as letters.
func ownersOfANode(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runOn(t, c, "owners", "cmp-04", "-o", "json")
	if code != exitFine || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var doc struct {
		Cluster  string
		Projects []procedure.OwnerNote
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	found := map[string]string{}
	for _, n := range doc.Projects {
		if len(n.Owners) != 1 || n.Owners[0].Email != "owner@"+n.Project+".example" || len(n.Members) != 1 ||
			n.Members[0].Email != "desk@"+n.Project+".example" {
			t.Errorf("project %s: owners %+v, members %+v", n.Project, n.Owners, n.Members)
		}
		for _, in := range n.Instances {
			if in.Node != "cmp-04" {
				t.Errorf("%s is on %s", in.Name, in.Node)
			}
			found[in.Name] = n.Project
		}
	}
	for name, project := range map[string]string{"batch-17": "science", "db-1": "shop", "report-9": "intranet"} {
		if found[name] != project {
			t.Errorf("%s is of project %q", name, found[name])
		}
	}
	for _, name := range []string{"db-replica", "sim-4", "scratch-1"} { // moved by its tag, stopped, poweroff by its owner's tag
		if found[name] != "" {
			t.Errorf("%s needs no owner", name)
		}
	}
	code, out, _ = runOn(t, c, "owners", "-o", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != exitFine || err != nil || len(rows) < 10 || rows[0][0] != "project" {
		t.Errorf("exit %d, %v, %d rows", code, err, len(rows))
	}
	if code, out, _ = runOn(t, c, "owners", "cmp-04"); code != exitFine ||
		!strings.Contains(out, "To: owner@science.example\nCc: desk@science.example\nSubject: ") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	for _, r := range c.Kube.Requests() {
		if r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" && r.User == kubeapi.Readonly && !strings.Contains(r.Path, "selfsubject") {
			t.Errorf("it wrote: %s %s", r.Verb, r.Path)
		}
	}
	if code, out, errs = runOn(t, c, "owners", "cmp-99"); code != exitError || out != "" ||
		!strings.Contains(errs, `the cluster has no node "cmp-99"`) {
		t.Errorf("a node that is none: exit %d, %q, %q", code, out, errs)
	}
	if code, _, errs = runOn(t, c, "owners", "-o", "xml"); code != exitError || !strings.Contains(errs, "text, csv or json") {
		t.Errorf("a format that is none: exit %d, %q", code, errs)
	}
}

// When Keystone refuses, the instances stay, with what happens to them; the exit code and stderr say what is missing.
func ownersWithoutKeystonesLists(t *testing.T, c *sim.Cloud) {
	t.Helper()
	defer c.OpenStack.SetFault(openstack.Fault{Path: regexp.MustCompile(`/v3/(role_assignments|users/)`), Status: 403})()
	code, out, errs := runOn(t, c, "owners", "cmp-04")
	if code != exitAttention || !strings.Contains(out, "* batch-17 (") || !strings.Contains(out, "(no e-mail is known)") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	for _, want := range []string{"KEYSTONE DOES NOT SHOW the members of 3 projects", "identity:list_role_assignments",
		"KEYSTONE DOES NOT SHOW names and e-mail of 3 users"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in %s", want, errs)
		}
	}
}

// The dashboard's notes are saved in the working directory, readable only for their owner, and never over another file.
func TestNotesAreSavedOverNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	desk := ownerDesk{}
	path, err := desk.Save("owners-../../mos-"+strings.Repeat("x", 200)+".csv", []byte("a\n"))
	if err != nil {
		t.Fatal(err)
	}
	here, _ := os.Getwd()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(path) != here || filepath.Ext(path) != ".csv" {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	if _, err := desk.Save(filepath.Base(path), []byte("b\n")); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("saved over a file: %v", err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "a\n" {
		t.Errorf("the file has %q", raw)
	}
	if got := desk.Contacts(t.Context(), nil, nil); len(got.Missing) != 1 ||
		!strings.Contains(got.Missing[0].Err.Error(), "no cloud is configured") {
		t.Errorf("without a cloud: %+v", got)
	}
}
