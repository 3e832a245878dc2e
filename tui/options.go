package tui

import (
	"time"

	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/themes"
)

// SyncOutput says whether frames are wrapped in synchronized updates (mode 2026), which keep half a frame from showing on a slow line.
type SyncOutput string

// The values of SyncOutput.
const (
	SyncAuto SyncOutput = "auto" // when the terminal says that it knows them, over ssh too
	SyncOn   SyncOutput = "on"   // asked for like auto, and again when the window's size changes
	SyncOff  SyncOutput = "off"  // never
)

// Clipboard says how text is copied.
type Clipboard string

// The values of Clipboard.
const (
	ClipboardAuto Clipboard = "auto" // OSC 52, passed through tmux where the terminal is one
	ClipboardOff  Clipboard = "off"  // never: copying opens the plain view instead
)

// Options configure the screen. Backend is required; everything else has a useful zero value.
type Options struct {
	Backend    Backend
	Theme      themes.Theme // zero: the dark one
	AutoTheme  bool         // change to the light theme when the terminal says that its background is light
	ASCII      bool         // nothing but ASCII on the screen
	NoColor    bool         // no colours: bold, faint and reverse only
	SyncOutput SyncOutput
	Clipboard  Clipboard
	Notice     string          // said when the screen opens; may be empty
	Arm        bool            // writing is armed once the screen is open
	Actions    []Action        // what keys do: Actions(), or what Rebind made of it; nil: Actions()
	Rehearsal  Rehearsal       // what a demo's panel works on; nil on a real cloud
	Replay     Replay          // the recording that is played; nil: none is
	Owners     OwnerDesk       // what the page of owners asks and saves with; nil: neither
	Window     forecast.Window // of each day, as it is configured; zero: none
	Checks     CheckStore      // checks that were made earlier; nil: none are kept
	// SaveFile writes a file that only its owner may read, never over another, and returns its path; nil: files cannot be written.
	SaveFile func(name string, content []byte) (path string, err error)
	// Handover writes the note for the next shift, in lines; it reads the journal. nil: none can be written.
	Handover func(s *core.Snapshot) ([]string, error)
	Looker   core.Looker // what logs, events and whole objects are read with; nil: they cannot be shown
	Title    string      // the terminal window's; empty: left alone
	// CountUrgent puts the number of urgent entries into the window's title.
	CountUrgent bool
	Calls       <-chan Call // what calls the operator while the screen is open; nil: nothing does
	Version     string      // shown in the help
	Now         func() time.Time
	// Back is called when the operator goes back to the list of clusters; the screen then ends. nil: there is no list.
	Back    func()
	Cluster string // what boxes call the cluster, as the list of clusters does; empty: as the Snapshot does

	clusters *Clusters // the screen is this list
}
