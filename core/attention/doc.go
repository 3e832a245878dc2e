// Package attention says what needs a person now, the most urgent first. Each entry has its reason, its age, its cause, its evidence,
// and the ways on: commands, and the procedure that resolves it. Its rules are functions of a Snapshot. The tables rules, nodeRules and
// machineRules list them; rows has the evidence, commands and causes for the entries of each.
package attention
