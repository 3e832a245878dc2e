package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker; see the Makefile.
var version = ""

// programVersion is the version set by the linker, else the one in Go's build information.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// versionDocument is what `lockstep version -o json` prints.
type versionDocument struct {
	Format  int    `json:"format"` // of the document: 1
	Version string `json:"version"`
	Go      string `json:"go"`       // the version of Go that compiled it
	System  string `json:"platform"` // "linux/amd64"
}

func newVersion() *cobra.Command {
	output := formatText
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionDocument{1, programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			switch output {
			case formatJSON:
				return printJSON(cmd.OutOrStdout(), v)
			case formatText:
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "lockstep %s (%s, %s)\n", v.Version, v.Go, v.System)
				return err
			}
			return fmt.Errorf("-o is %q; it takes text or json", output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatText, "`format`: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{formatText, formatJSON}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
