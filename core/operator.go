package core

import (
	"net/netip"
	"strings"
	"unicode"
)

// Operator is who runs Lockstep. On a jump host everybody is often the same user of the same host; the name that somebody gave, and where
// their ssh session came from, tell them apart.
type Operator struct {
	Name string // as they call themselves (--as-operator, or operator in the configuration); empty: they gave none
	User string // the operating system's user
	Host string // on which Lockstep runs, without its domain
	From string // the address that their ssh session came from; empty: there is none
}

// MaxOperatorName is how long the name of an Operator may be, in characters.
const MaxOperatorName = 40

// String is the operator in one line: "anna (root@jump01 from 10.0.0.7)". It contains no slash, so that it can begin a lease's holder.
func (o Operator) String() string {
	who := systemName(o.User) + "@" + systemName(o.Host)
	if o.From != "" {
		who += " from " + o.From
	}
	if o.Name == "" {
		return who
	}
	return o.Name + " (" + who + ")"
}

// OperatorName checks a name that somebody gave, and returns it without space around it; false for one that cannot stand in a line.
func OperatorName(s string) (name string, ok bool) {
	name = strings.TrimSpace(s)
	n := 0
	for _, r := range name {
		if n++; n > MaxOperatorName || !isNameRune(r) {
			return "", false
		}
	}
	return name, true
}

// isNameRune tells whether a name may have the rune. A parenthesis would let one operator look like another.
func isNameRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || strings.ContainsRune(" .-_+@'", r)
}

// systemName is a name of the operating system, which may have any characters.
func systemName(s string) string {
	s = strings.Map(func(r rune) rune {
		if !isNameRune(r) || r == ' ' {
			return '_'
		}
		return r
	}, s)
	if s == "" {
		return "unknown"
	}
	if runes := []rune(s); len(runes) > MaxOperatorName {
		return string(runes[:MaxOperatorName])
	}
	return s
}

// SSHOrigin returns the address that an ssh session came from, out of sshd's variables SSH_CONNECTION ("address port address port") or
// SSH_CLIENT ("address port port"). It is empty unless they hold an address: anybody can set a variable to anything.
func SSHOrigin(connection, client string) string {
	for _, text := range []string{connection, client} {
		first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
		if address, err := netip.ParseAddr(first); err == nil && len(first) <= 64 {
			return address.Unmap().WithZone("").String()
		}
	}
	return ""
}
