// Package tui is the screen: a pure function of a core.Snapshot and of what the operator has selected, opened and typed.
// It does no I/O of its own; everything behind it is the Backend. What a key does is written down once, in the catalogue
// of actions, which the key handling, the footer, the help and the palette all read.
//
// The panes of the dashboard are the rows of paneKinds; the pages and boxes above it are the rows of layerKinds. What draws
// is in packages of its own: sanitise, draw and table.
package tui
