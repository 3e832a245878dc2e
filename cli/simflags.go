package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lockstep/sim"
	"lockstep/sim/scenario"
)

// simFlags say which simulated cloud to start; `lockstep demo` and `lockstep sim` share them.
type simFlags struct {
	speed    float64
	scenario string
	from     string
	at       string
	seed     uint64
	faults   []string
}

// addTo adds the flags; speed is the default speed.
func (f *simFlags) addTo(cmd *cobra.Command, speed float64) {
	p := cmd.Flags()
	p.Float64Var(&f.speed, "speed", speed, "how many seconds pass in the simulated cloud in one real second")
	p.StringVar(&f.scenario, "scenario", scenario.Default, "`name` of a scenario (see lockstep demo --list), or a scenario file")
	p.StringVar(&f.from, "from", "", "`file` that lockstep snapshot has written, or a recording: rehearse the update of that cloud")
	p.StringVar(&f.at, "at", "",
		"`time` of the recording at which its cloud begins: 02:15, 2026-03-14 02:15, or +1h (default: when all of it had been seen)")
	p.Uint64Var(&f.seed, "seed", 0, "`number` that seeds what is left to chance (default: the scenario's own)")
	p.StringArrayVar(&f.faults, "fault", nil,
		"`SERVER:FAULT[,PARAMETER=VALUE]...` that goes wrong from the start (see lockstep demo --faults); may be repeated")
	cmd.MarkFlagsMutuallyExclusive("scenario", "from")
	completeSimFlags(cmd)
}

// options are the options of the simulated cloud that the flags name. The error for a bad file says what is wrong line by line.
// Of a recording, stderr says what was built.
func (f *simFlags) options(stderr io.Writer) (sim.Options, error) {
	if !(f.speed > 0 && f.speed <= 3600) { // not a number, too
		return sim.Options{}, fmt.Errorf("--speed is %g; it takes a number above 0, up to 3600", f.speed)
	}
	told, err := f.load(stderr)
	if err != nil {
		return sim.Options{}, err
	}
	faults, err := parseFaults(f.faults)
	if err != nil {
		return sim.Options{}, err
	}
	return sim.Options{Scenario: told, Speed: f.speed, Seed: f.seed, Faults: faults}, nil
}

func (f *simFlags) load(stderr io.Writer) (*scenario.Scenario, error) {
	switch recorded := f.from != "" && isRecording(f.from); {
	case f.at != "" && !recorded:
		return nil, errors.New("--at is a time of a recording: it goes with --from and a recording")
	case recorded:
		return recordedCloud(f.from, f.at, stderr)
	case f.from == "":
		return scenario.Load(f.scenario)
	}
	told, err := scenario.LoadFile(f.from)
	if err != nil {
		return nil, err
	}
	if told.Found == nil {
		return nil, fmt.Errorf("%s is a handwritten scenario, not an inventory of a live cloud: use --scenario %s", f.from, f.from)
	}
	return told, nil
}

// simCluster is the name of a simulated cluster in the dashboard's header. A rehearsal must never be mistaken for the real one.
func simCluster(s *scenario.Scenario) string {
	if whose := s.Rehearsal(); whose != "" {
		return "rehearsal of " + oneLine(whose)
	}
	return s.Cluster
}

// simTitle is the title of a simulated cloud in the dashboard's header, and a notice: that nothing is real, and whose cloud is rehearsed.
func simTitle(s *scenario.Scenario, speed float64) (title, notice string) {
	title, notice = "Lockstep demo", fmt.Sprintf("simulated cloud, %g times as fast: nothing here is real", speed)
	if whose := s.Rehearsal(); whose != "" {
		title, notice = "Lockstep rehearsal", fmt.Sprintf("rehearsal of %s, %g times as fast: nothing here is real", oneLine(whose), speed)
		if len(s.Found.Missing) > 0 {
			notice += "; the inventory is not complete"
		}
	}
	return title, notice
}
