//go:build !unix

package tui

import (
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"
)

func unstoppable() string { return "this system has no job control" }

func halt() tea.Cmd {
	return func() tea.Msg { return resumedMsg{time.Now(), errors.New(unstoppable())} }
}
