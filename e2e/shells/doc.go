// Package shells completes Lockstep's words in the shells of operators, on the simulated cloud. The package contains only tests.
package shells
