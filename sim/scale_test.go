package sim

import (
	"testing"

	"lockstep/sim/scenario"
)

// BenchmarkStart measures how long it takes until a fleet is in the state of its scenario, with both servers answering.
func BenchmarkStart(b *testing.B) {
	for _, name := range []string{"fleet-50", "fleet-500", "fleet-2000"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				story, err := scenario.Load(name)
				if err != nil {
					b.Fatal(err)
				}
				cloud, err := Start(b.Context(), Options{Scenario: story, Dir: b.TempDir(), Paused: true})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := cloud.Close(); err != nil {
					b.Error(err)
				}
				b.StartTimer()
			}
		})
	}
}
