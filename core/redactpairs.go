package core

import (
	"slices"
	"strings"
)

// secretWords are what the names of secrets have in them: of variables, options, settings, headers and fields.
var secretWords = []string{"token", "passw", "passphrase", "secret", "credential", "apikey", "accesskey", "privatekey", "signingkey",
	"encryptionkey", "keyring", "cookie", "authorization", "clientkeydata"}

// plainEndings are what a name ends with that has a secret's word in it and is not one's: a reference, a place, a number of seconds.
var plainEndings = []string{"name", "names", "namespace", "ref", "refs", "path", "paths", "file", "files", "dir", "type", "types", "policy",
	"seconds", "version", "expiration", "enabled", "ttl", "count", "length", "size", "limit", "kind", "provider", "method", "strategy"}

// SecretName tells whether what a variable, an option, a setting or a field of that name holds is a secret.
func SecretName(name string) bool {
	if len(name) > longestName {
		name = name[len(name)-longestName:]
	}
	flat := flatName(name)
	if plainName(name) {
		return false
	}
	for _, word := range secretWords {
		if strings.Contains(flat, word) {
			return true
		}
	}
	low := strings.ToLower(name)
	return flat == "private" || low == "pass" || strings.HasSuffix(low, "_pass") || strings.HasSuffix(low, "-pass") ||
		strings.HasSuffix(low, "_pwd") || strings.HasSuffix(low, "-pwd")
}

// plainName tells whether a name ends like that of something that is no secret.
func plainName(name string) bool {
	flat := flatName(name)
	return slices.ContainsFunc(plainEndings, func(ending string) bool { return strings.HasSuffix(flat, ending) })
}

// flatName is a name in lower case without what separates its words.
func flatName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || r == '.' || r == ' ':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// longestName is how much of a name is looked at, in bytes.
const longestName = 80

// redactPairs hides the values of secrets that stand beside their names: password=x, --password x, "password": "x", Authorization: x.
func redactPairs(text string) string {
	if strings.IndexByte(text, '=') < 0 && strings.IndexByte(text, ':') < 0 && !strings.Contains(text, "--") {
		return text
	}
	var b strings.Builder
	done := 0 // up to where text was written to b
	for i := 0; i < len(text); i++ {
		var from, to int
		put := Hidden
		switch c := text[i]; {
		case c == '=' || c == ':' && !strings.HasPrefix(text[i:], "://"):
			if i+1 < len(text) && text[i+1] == c {
				i++ // a comparison, or a scope
				continue
			}
			from, to, put = pairValue(text, done, i)
		case c == '-' && strings.HasPrefix(text[i:], "--") && (i == 0 || text[i-1] == ' ' || isQuote(text[i-1]) ||
			beforeUnseen(text, done, i) < i):
			from, to = optionValue(text, i)
		}
		if to <= from {
			continue
		}
		if value := text[from:to]; !isReference(value) {
			b.WriteString(text[done:from] + put)
			done = to
		}
		i = to - 1
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// pairValue is where the value begins and ends of a name before the separator at, and what to put there; nothing if it is no secret's.
// What was JSON stays JSON.
func pairValue(text string, least, at int) (from, to int, put string) {
	put = Hidden
	shut := beforeGap(text, least, at)
	open := shut
	for open > least && (isQuote(text[open-1]) || text[open-1] == '\\' && open < shut) {
		open--
	}
	quoted := open < shut
	name, part := nameBefore(text, least, beforeUnseen(text, least, open))
	if !SecretName(name) && !SecretName(part) {
		return 0, 0, put
	}
	from, spaced := afterGap(text, at+1)
	flat := strings.ToLower(name)
	if strings.HasSuffix(flat, "authorization") {
		for _, scheme := range []string{"bearer ", "basic ", "digest ", "negotiate "} {
			if rest := strings.ToLower(text[from:min(from+len(scheme), len(text))]); rest == scheme {
				from += len(scheme)
			}
		}
		from, to = valueEnd(text, from, true)
		return from, to, put
	}
	prose := text[at] == ':' && !quoted && (!spaced || !strongName(flat))
	if from < len(text) && (isQuote(text[from]) || text[from] == '[') {
		prose = prose && text[at] == ':' && !strongName(flat) // Secret: "x" not found
	}
	if prose {
		return 0, 0, put
	}
	from, to = valueEnd(text, from, quoted)
	quote := text[open:shut]
	if bare := to > from && (from == 0 || !isQuote(text[from-1])); bare && strings.HasSuffix(quote, `"`) {
		put = quote + Hidden + quote
	}
	return from, to, put
}

// nameBefore is the name that ends there as a terminal shows it, and the part of it behind the last that is not seen: what stands before
// a colour may belong to the name, or to another word.
func nameBefore(text string, least, end int) (name, part string) {
	for {
		begin, before := end, end
		for len(name)+end-begin < longestName && begin > least {
			if before = beforeUnseen(text, least, begin); before < begin || !isNameByte(text[begin-1]) {
				break
			}
			begin--
			before = begin
		}
		if name = text[begin:end] + name; part == "" {
			part = strings.TrimLeft(name, "-.")
		}
		if before == begin {
			return strings.TrimLeft(name, "-."), part
		}
		end = before
	}
}

// strongName tells whether a name before a colon is a setting's even where nothing is quoted: "token: expired" is not.
func strongName(flat string) bool {
	for _, ending := range []string{"password", "passwd", "passphrase", "_token", "-token", "_secret", "-secret", "_key", "-key", "_pass",
		"cookie"} {
		if strings.HasSuffix(flat, ending) {
			return true
		}
	}
	return false
}

// optionValue is where the value begins and ends of an option with a value of its own: --password x.
func optionValue(text string, at int) (from, to int) {
	end := at + 2
	for end < len(text) && isNameByte(text[end]) {
		end++
	}
	from, spaced := afterGap(text, end)
	if !spaced || !SecretName(text[at+2:end]) {
		return 0, 0
	}
	if strings.HasPrefix(text[from:], "-") {
		return 0, 0 // the next option
	}
	return valueEnd(text, from, false)
}

// valueEnd is where a value begins and ends: a quoted one without its quotes, a list up to its end, else a word.
func valueEnd(text string, from int, structured bool) (begin, end int) {
	if rest := text[from:]; len(rest) > 1 && (rest[0] == 'u' || rest[0] == 'b') && isQuote(rest[1]) {
		from++ // as Python writes it
	}
	rest := text[from:]
	switch {
	case rest == "":
		return 0, 0
	case rest[0] == '[':
		return from + 1, from + listEnd(rest)
	case rest[0] == '{':
		return 0, 0 // its fields have names of their own
	case strings.HasPrefix(rest, `\"`):
		if end := strings.Index(rest[2:], `\"`); end >= 0 {
			return from + 2, from + 2 + end
		}
		return from + 2, len(text)
	case isQuote(rest[0]):
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case rest[0]:
				return from + 1, from + i
			}
		}
		return from + 1, len(text)
	}
	stops := " \t\r\n\"'`;|<>"
	if structured {
		stops += ",}"
	} else {
		stops += "&"
	}
	if end := strings.IndexAny(rest, stops); end >= 0 {
		return from, from + end
	}
	return from, len(text)
}

// listEnd is where a list ends that a text begins with: at its own bracket, which is not one of a list or a quoted text in it.
func listEnd(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case isQuote(c):
			quote = c
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// isReference tells whether a value only says where the secret is, or that there is none.
func isReference(value string) bool {
	switch strings.ToLower(strings.TrimRight(value, ",)}]")) {
	case "", "none", "null", "nil", "true", "false":
		return true
	}
	return strings.HasPrefix(value, "$") || strings.HasPrefix(value, Hidden)
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
