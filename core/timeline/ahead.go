package timeline

import (
	"lockstep/core"
	"lockstep/core/forecast"
)

// aheadOf is what is forecast of each node that is not through, by its name: from when to when it will be in maintenance. There is none
// before the forecast of the whole means something, nor of a node that waits for a person or takes longer than was seen.
func aheadOf(s *core.Snapshot, t Timeline) map[string]Span {
	if t.Finish.IsZero() {
		return nil
	}
	out := map[string]Span{}
	for _, n := range forecast.Nodes(s) {
		if n.End.At.IsZero() || n.Began && (n.Late || forecast.Waits(s, n.Node)) {
			continue
		}
		span := Span{Bar: Ahead, End: n.End.At, Spread: n.End.Spread}
		if !n.Began {
			span.Start = n.Start.At
		}
		out[n.Node] = span
	}
	return out
}

var order core.Derivation[map[string]int]

// updateOrder is the place of each node in the update.
func updateOrder(s *core.Snapshot) map[string]int {
	return order.Of(s, func(s *core.Snapshot) map[string]int {
		names, _ := forecast.Order(s)
		places := make(map[string]int, len(names))
		for i, name := range names {
			places[name] = i
		}
		return places
	})
}
