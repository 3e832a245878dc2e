package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// grafanaSchema is the form of dashboards of the Grafana that the dashboard was loaded into, 9.3. Newer ones migrate what says so; what
// names a newer form is not migrated, and fields that have moved since are lost.
const grafanaSchema = 37

type grafanaSource struct{ Type, UID string }

type grafanaMapping struct {
	Options map[string]struct{ Text, Color string }
}

type grafanaField struct {
	NoValue    *string
	Min        *float64
	Decimals   *int
	Thresholds *struct{ Steps []struct{ Color string } }
	Mappings   []grafanaMapping
	Custom     struct{ DrawStyle, LineInterpolation string }
}

type grafanaPanel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Datasource  grafanaSource
	GridPos     struct{ X, Y, W, H int }
	Targets     []struct {
		Expr         string
		LegendFormat string
		Datasource   grafanaSource
	}
	FieldConfig struct {
		Defaults  grafanaField
		Overrides []struct{ Matcher struct{ Options string } }
	}
}

type grafanaDashboard struct {
	UID           string
	SchemaVersion int
	Inputs        []any `json:"__inputs"`
	Templating    struct {
		List []struct {
			Name, Type, Label, Definition string
			Query                         any
		}
	}
	Panels []grafanaPanel
}

func dashboardOfGrafana(t *testing.T) grafanaDashboard {
	t.Helper()
	raw, err := os.ReadFile("../deploy/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d grafanaDashboard
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) < 10 {
		t.Fatalf("%d panels", len(d.Panels))
	}
	return d
}

// The dashboard can be imported as it is: it asks for no data source, and finds the clusters and their exporters itself.
func TestTheGrafanaDashboardCanBeImported(t *testing.T) {
	d := dashboardOfGrafana(t)
	if d.UID == "" || d.SchemaVersion != grafanaSchema || len(d.Inputs) > 0 {
		t.Errorf("uid %q, schema %d, inputs %v", d.UID, d.SchemaVersion, d.Inputs)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if q, ok := v.Query.(map[string]any); v.Label == "" || v.Type == "query" && (!ok || q["query"] != v.Definition) {
			t.Errorf("the variable %s: %+v", v.Name, v)
		}
	}
	if !slices.Equal(variables, []string{"datasource", "cluster", "instance"}) {
		t.Errorf("variables %v", variables)
	}
	ids := map[int]string{}
	for i, p := range d.Panels {
		at := p.GridPos
		if other := ids[p.ID]; other != "" || p.ID == 0 {
			t.Errorf("%q and %q are both panel %d", p.Title, other, p.ID)
		}
		ids[p.ID] = p.Title
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 || at.X < 0 || at.W < 1 || at.H < 1 || at.X+at.W > 24 {
			t.Errorf("panel %d, %q, at %+v: %q", p.ID, p.Title, at, p.Description)
		}
		for _, q := range d.Panels[:i] {
			o := q.GridPos
			if at.X < o.X+o.W && o.X < at.X+at.W && at.Y < o.Y+o.H && o.Y < at.Y+at.H {
				t.Errorf("%q and %q lie on one another", p.Title, q.Title)
			}
		}
		for _, target := range p.Targets {
			if p.Datasource.UID != "${datasource}" || target.Datasource != p.Datasource {
				t.Errorf("%q asks %v and %v", p.Title, p.Datasource, target.Datasource)
			}
		}
	}
}

// What Grafana makes of a query is what the exporter says: no zero and no line where nothing is known, and only the chosen exporter.
func TestTheGrafanaDashboardShowsWhatIsKnown(t *testing.T) {
	known := map[string]metric{}
	for _, m := range exporterMetrics() {
		known[m.name] = m
	}
	query := regexp.MustCompile(`\b(lockstep_\w+)(\{[^}]*\})?`)
	legend := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, p := range dashboardOfGrafana(t).Panels {
		field := p.FieldConfig.Defaults
		for _, target := range p.Targets {
			var labels []string
			for _, q := range query.FindAllStringSubmatch(target.Expr, -1) {
				labels = append(labels, known[q[1]].labels...)
				if !strings.Contains(q[2], `instance="$instance"`) {
					t.Errorf("%q asks all exporters for %s", p.Title, q[1])
				}
				// A line needs two points beside each other, and a host may have one.
				if slices.Contains(known[q[1]].labels, "host") && field.Custom.DrawStyle != "bars" {
					t.Errorf("%q draws %s as lines, though its hosts come and go", p.Title, q[1])
				}
			}
			if strings.Contains(target.Expr, "vector(") {
				t.Errorf("%q makes a number up where there is none: %s", p.Title, target.Expr)
			}
			for _, l := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !slices.Contains(labels, l[1]) {
					t.Errorf("%q is to show the label %s, which its metrics do not have", p.Title, l[1])
				}
			}
		}
		if p.Type == "timeseries" {
			if field.Min == nil || *field.Min != 0 || field.Decimals == nil || *field.Decimals != 0 {
				t.Errorf("%q counts things: its axis begins at 0 and has no half ones", p.Title)
			}
			// Grafana draws a step on to the right edge when its series ends: a migration that is over would seem to go on, and an
			// exporter that is down to answer.
			if field.Custom.LineInterpolation != "linear" {
				t.Errorf("%q draws %q", p.Title, field.Custom.LineInterpolation)
			}
			if field.NoValue != nil {
				t.Errorf("%q writes %q at each tick of its axis that is no whole number", p.Title, *field.NoValue)
			}
			continue
		}
		if field.NoValue == nil || *field.NoValue == "" {
			t.Errorf("%q does not say what no value means", p.Title)
		}
		// Without limits of its own a number turns red at 80, Grafana's default; what is not known has the colour of the first limit.
		switch steps := field.Thresholds; {
		case p.Type == "state-timeline":
		case steps == nil || len(steps.Steps) == 0:
			t.Errorf("%q has Grafana's limits, not its own", p.Title)
		case p.Type == "stat" && steps.Steps[0].Color != "text":
			t.Errorf("%q is %s when nothing is known", p.Title, steps.Steps[0].Color)
		}
	}
}

// Each stage has its colour, each state of a phase its text.
func TestTheGrafanaDashboardHasAllStagesAndStates(t *testing.T) {
	looked := 0
	for _, p := range dashboardOfGrafana(t).Panels {
		switch p.Title {
		case "Nodes by stage":
			looked++
			for _, stage := range stages[1:] { // idle is left out
				if !slices.ContainsFunc(p.FieldConfig.Overrides, func(o struct{ Matcher struct{ Options string } }) bool {
					return o.Matcher.Options == string(stage)
				}) {
					t.Errorf("%q has no colour", stage)
				}
			}
			if len(p.FieldConfig.Overrides) != len(stages)-1 {
				t.Errorf("%d colours for %d stages", len(p.FieldConfig.Overrides), len(stages)-1)
			}
		case "Phases":
			looked++
			var texts []string
			for _, m := range p.FieldConfig.Defaults.Mappings {
				for _, o := range m.Options {
					texts = append(texts, o.Text)
				}
			}
			for _, state := range phaseStates {
				if !slices.Contains(texts, string(state)) {
					t.Errorf("%q has no text: %v", state, texts)
				}
			}
			if len(texts) != len(phaseStates) {
				t.Errorf("%v for %v", texts, phaseStates)
			}
		}
	}
	if looked != 2 {
		t.Errorf("%d panels show stages and states", looked)
	}
}
