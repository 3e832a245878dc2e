// Package news tells what changes in a cluster, a line for each thing, and who is to be called about it. It is made from Snapshots alone
// and does nothing itself: printing lines and calling people is the command's and the screen's.
package news
