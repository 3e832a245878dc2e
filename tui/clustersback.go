package tui

import (
	tea "charm.land/bubbletea/v2"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// whichCluster names the cluster in a box that leads to something being done, where the screen can show more than one.
func (m *Model) whichCluster() draw.Line {
	if m.opts.Back == nil || m.snap == nil {
		return nil
	}
	return draw.One(themes.Warn, m.snap.Cluster).And(themes.Dim, "  ")
}

// backToClusters leaves the cluster for the list of clusters. It asks, as leaving does, while something runs.
func (m *Model) backToClusters() tea.Cmd {
	if m.opts.Back == nil {
		return nil
	}
	if op := m.unended(); op != nil {
		m.open(&quitDialog{what: op.Title, back: true})
		return nil
	}
	return m.leaveForClusters()
}

// leaveForClusters ends the screen of this cluster. The session behind it then begins nothing more and gives the lease back.
func (m *Model) leaveForClusters() tea.Cmd {
	m.opts.Back()
	return tea.Quit
}
