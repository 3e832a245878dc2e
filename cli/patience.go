package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// patience is how long a command that takes one look waits for the sources' first answers.
type patience struct {
	wait  time.Duration
	named bool // set with --wait: then it includes a login that may ask a person
}

func (w *patience) addTo(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&w.wait, "wait", 20*time.Second, "how long to wait for the sources' first answers, logins included")
}

// of returns the patience that a call's flags set.
func (w patience) of(cmd *cobra.Command) patience {
	w.named = cmd.Flags().Changed("wait")
	return w
}
