package procedure

import (
	"lockstep/core"
)

func ToLook(what, line string) core.Command { return core.Command{For: what, Line: line} }

func ToChange(what, line string) core.Command {
	return core.Command{For: what, Line: line, Changes: true}
}

// lines are the commands as they are given.
func lines(commands []core.Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Line)
	}
	return out
}
