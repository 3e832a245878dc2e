package forecast

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// JSON is the document for scripts: times are RFC 3339 in UTC, durations whole seconds.
func (d *Document) JSON() ([]byte, error) {
	b, err := core.EncodeJSON(d.forScripts(), "  ")
	if err != nil {
		return nil, fmt.Errorf("write the forecast as JSON: %w", err)
	}
	return b, nil
}

type (
	jsonMoment struct {
		At        time.Time       `json:"at"`
		Spread    evacuation.Span `json:"spreadSeconds"`
		Unlearned evacuation.Span `json:"byDocumentsOrPlanSeconds,omitempty"`
	}
	jsonLength struct {
		Usual  evacuation.Span `json:"seconds"`
		Spread evacuation.Span `json:"spreadSeconds"`
		Basis  Basis           `json:"basis"`
		Seen   int             `json:"seen,omitempty"`
	}
	jsonPart struct {
		ID        string          `json:"id"`
		Title     string          `json:"title"`
		State     PartState       `json:"state"`
		Documents evacuation.Span `json:"documentsSeconds,omitempty"`
		Plan      evacuation.Span `json:"planSeconds,omitempty"`
		Took      evacuation.Span `json:"tookSeconds,omitempty"`
		Taken     *jsonLength     `json:"taken,omitempty"`
		Nodes     int             `json:"nodes,omitempty"`
		Left      int             `json:"nodesLeft,omitempty"`
		AtOnce    int             `json:"nodesAtOnce,omitempty"`
		End       *jsonMoment     `json:"ends,omitempty"`
	}
	jsonItem struct {
		Part   string    `json:"part"`
		Title  string    `json:"title"`
		Node   string    `json:"node,omitempty"`
		Begins time.Time `json:"begins"`
		Ends   time.Time `json:"ends"`
		Latest time.Time `json:"latest"`
		Basis  Basis     `json:"basis"`
		Waits  bool      `json:"waitsForYou,omitempty"`
		Blocks int       `json:"blockingInstances,omitempty"`
	}
	jsonNight struct {
		From  time.Time  `json:"from"`
		To    time.Time  `json:"to"`
		Items []jsonItem `json:"items"`
	}
	jsonUnfit struct {
		Title string          `json:"title"`
		Nodes []string        `json:"nodes,omitempty"`
		Takes evacuation.Span `json:"takesSeconds"`
		Why   string          `json:"why"`
	}
	jsonRow struct {
		Stage string          `json:"stage"`
		Term  string          `json:"term"`
		Here  string          `json:"here"`
		Takes evacuation.Span `json:"seconds"`
	}
	jsonTold struct {
		When     time.Time       `json:"when"`
		Forecast time.Time       `json:"forecast"`
		Spread   evacuation.Span `json:"spreadSeconds"`
		Came     time.Time       `json:"came"`
	}
	jsonForetold struct {
		Kind     core.ForetoldKind `json:"kind"`
		Title    string            `json:"title,omitempty"` // of the step or the phase
		Earlier  bool              `json:"earlierUpdate,omitempty"`
		Given    time.Time         `json:"given"`
		Forecast jsonMoment        `json:"forecast"`
		Came     time.Time         `json:"came"`
	}
	jsonDocument struct {
		Format   int             `json:"format"` // of the document: 1
		Cluster  string          `json:"cluster"`
		AsOf     time.Time       `json:"asOf"`
		Headline string          `json:"headline"`
		Window   string          `json:"window,omitempty"`
		NodesEnd *jsonMoment     `json:"nodesThrough,omitempty"`
		Whole    *jsonMoment     `json:"over,omitempty"`
		Steps    []jsonPart      `json:"steps"`
		Running  []jsonItem      `json:"underWay,omitempty"`
		Nights   []jsonNight     `json:"nights,omitempty"`
		Unfit    []jsonUnfit     `json:"fitsNoNight,omitempty"`
		Between  evacuation.Span `json:"betweenReleasesSeconds,omitempty"`
		Warnings []string        `json:"warnings"`
		Notes    []string        `json:"notes"`
		Formula  []jsonRow       `json:"formula"`
		Sum      evacuation.Span `json:"formulaSeconds"`
		Open     []string        `json:"formulaNotes"`
		Record   []jsonTold      `json:"earlierForecasts"`
		Foretold []jsonForetold  `json:"foretold"` // ends of steps, phases, all nodes and the whole that came, the newest first
	}
)

func momentJSON(m Moment) *jsonMoment {
	if m.At.IsZero() {
		return nil
	}
	return &jsonMoment{m.At.UTC(), evacuation.Span(m.Spread), evacuation.Span(m.Unlearned)}
}

func itemsJSON(items []Item) []jsonItem {
	out := []jsonItem{}
	for _, it := range items {
		out = append(out, jsonItem{Part: it.Part, Title: core.Tidy(it.Title), Node: it.Node, Begins: it.Start.At.UTC(), Ends: it.End.At.UTC(),
			Latest: it.End.Until().UTC(), Basis: it.Basis, Waits: it.Waits, Blocks: it.Block})
	}
	return out
}

func (d *Document) forScripts() jsonDocument {
	j := jsonDocument{Format: 1, Cluster: d.Cluster, AsOf: d.AsOf.UTC(), Headline: d.Headline, NodesEnd: momentJSON(d.nodesEnd),
		Whole: momentJSON(d.whole), Steps: []jsonPart{}, Warnings: []string{}, Notes: []string{}, Formula: []jsonRow{},
		Sum:  evacuation.Span(d.formula.Sum),
		Open: slices.Clone(d.formula.Ambiguous), Record: []jsonTold{}, Foretold: []jsonForetold{}}
	for _, p := range d.parts {
		x := jsonPart{ID: p.ID, Title: core.Tidy(p.Title), State: p.State, Documents: evacuation.Span(p.Documents),
			Plan: evacuation.Span(p.Planned), Took: evacuation.Span(p.Took), Nodes: p.Nodes, Left: p.Left, AtOnce: p.AtOnce, End: momentJSON(p.End)}
		if p.Length.Basis != BasisNone && p.State != PartDone {
			x.Taken = &jsonLength{evacuation.Span(p.Length.Usual), evacuation.Span(p.Length.Spread), p.Length.Basis, p.Length.Seen}
		}
		j.Steps = append(j.Steps, x)
	}
	if sp := d.Split; sp != nil {
		j.Window, j.Between = sp.Window.String(), evacuation.Span(sp.Between)
		j.Warnings, j.Notes = append(j.Warnings, sp.Warnings...), append(j.Notes, sp.Notes...)
		if len(sp.Running) > 0 {
			j.Running = itemsJSON(sp.Running)
		}
		for _, n := range sp.Nights {
			j.Nights = append(j.Nights, jsonNight{n.From.UTC(), n.To.UTC(), itemsJSON(n.Items)})
		}
		for _, u := range sp.Unfit {
			j.Unfit = append(j.Unfit, jsonUnfit{core.Tidy(u.Title), u.Nodes, evacuation.Span(u.Takes), u.Why})
		}
	}
	for _, r := range d.formula.Rows {
		j.Formula = append(j.Formula, jsonRow{r.Stage, r.Term, r.Numbers, evacuation.Span(r.Takes)})
	}
	for _, t := range d.record.Next {
		j.Record = append(j.Record, jsonTold{t.When.UTC(), t.Forecast.At.UTC(), evacuation.Span(t.Forecast.Spread), t.Came.UTC()})
	}
	for _, f := range d.foretold {
		j.Foretold = append(j.Foretold, jsonForetold{f.Kind, core.Tidy(f.Title), f.Update != d.update, f.Given.UTC(),
			*momentJSON(Moment{f.End, f.Spread, f.Unlearned}), f.Came.UTC()})
	}
	return j
}
