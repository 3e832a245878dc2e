package procedure

import (
	"lockstep/core"
)

// ToLook is a command that only shows something: what it is for, and its line.
func ToLook(what, line string) core.Command { return core.Command{For: what, Line: line} }

// ToChange is a command that changes something: what it is for, and its line.
func ToChange(what, line string) core.Command {
	return core.Command{For: what, Line: line, Changes: true}
}

// lines are the commands' lines.
func lines(commands []core.Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Line)
	}
	return out
}
