package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// whichCluster names the cluster in a box that leads to something being done, where the screen can show more than one.
func (m *Model) whichCluster() draw.Line {
	if m.opts.Back == nil || m.snap == nil {
		return nil
	}
	return draw.One(themes.Warn, m.clusterName()).And(themes.Dim, "  ")
}

// clusterName is what boxes call the cluster.
func (m *Model) clusterName() string {
	return core.RehearsalOf(cmp.Or(m.opts.Cluster, m.snap.Cluster), m.snap.Simulated)
}

// backToClusters leaves the cluster for the list of clusters. It asks, as leaving does, while something runs.
func (m *Model) backToClusters() tea.Cmd {
	if m.opts.Back == nil {
		return nil
	}
	if op := m.unended(); op != nil {
		m.open(&quitDialog{underway: follow(op), back: true})
		return nil
	}
	return m.leaveForClusters()
}

// leaveForClusters ends the screen of this cluster. The session behind it then begins nothing more and gives the lease back.
func (m *Model) leaveForClusters() tea.Cmd {
	m.opts.Back()
	return tea.Quit
}
