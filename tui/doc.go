// Package tui is the screen: a pure function of a core.Snapshot and of what the operator has selected, opened and typed. It does
// no I/O itself; everything behind it is the Backend. The catalogue of actions says once what a key does; key handling, footer,
// help and palette read it.
//
// The panes of the dashboard are the rows of paneKinds; the pages and boxes above it are the rows of layerKinds. Drawing is in
// packages of its own: sanitise, draw and table.
package tui
