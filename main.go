// Lockstep is a terminal dashboard and an engine for the people who update MOSK clusters.
package main

import (
	"os"

	"lockstep/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
