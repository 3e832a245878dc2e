// Package fault is what can go wrong with the servers of a simulated cloud, as a catalogue. Package switchboard lets it go wrong.
//
// A Setting is one fault of one server with its parameters. It is written as
//
//	SERVER:FAULT[=VALUE][,PARAMETER[=VALUE]]...
//
// for example kubernetes:429,retry-after=30 or compute:latency=2s,rate=0.5.
package fault
