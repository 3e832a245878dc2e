package procedure

import (
	"strings"
	"unicode"

	"lockstep/core/wording"
)

// ownersHeader are the columns of OwnersCSV.
var ownersHeader = []string{"project", "project_id", "instance", "instance_id", "node", "status", "locked", "action", "action_from",
	"what_happens", "what_to_do",
	"owner", "owner_id", "owner_email", "member_emails"}

// OwnersCSV is the notes as CSV, one instance a line. It is safe to open in a spreadsheet, whatever its separator: many languages use
// the semicolon. Every field is quoted.
func OwnersCSV(notes []OwnerNote) string {
	var b strings.Builder
	writeRow(&b, ownersHeader...)
	for _, n := range notes {
		members := strings.Join(mails(n.Members), " ")
		if len(n.Instances) == 0 { // the project is told all the same: its users write nothing meanwhile
			writeRow(&b, n.Project, n.ProjectID, "", "", "", "", "", "", "", wording.Count(n.Others, "instance")+
				wording.Verb(n.Others, " needs", " need")+" nothing", "write nothing until the update is over", "", "",
				strings.Join(mails(n.Owners), " "), members)
		}
		for _, in := range n.Instances {
			locked := ""
			if in.Locked {
				locked = "yes"
			}
			owner := personOf(n, in.Owner)
			writeRow(&b, n.Project, n.ProjectID, in.Name, in.ID, in.Node, in.Status, locked, string(in.Action), string(in.Origin), in.Happens, in.Do,
				owner.Name, owner.ID, owner.Email, members)
		}
	}
	return b.String()
}

// writeRow writes one line of CSV. encoding/csv would quote only what holds a comma.
func writeRow(b *strings.Builder, cells ...string) {
	for i, cell := range cells {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.ReplaceAll(plainCell(cell), `"`, `""`) + `"`)
	}
	b.WriteByte('\n')
}

// cellSeparators are the separators of cells that spreadsheets use. Tabs are gone by then, like all control characters.
const cellSeparators = ",;|:"

// plainCell keeps a spreadsheet from reading a cell, or what follows a separator in it, as a formula: names come from the cloud's
// users. Quotes alone do not help with another separator: then a field begins in the middle of a cell, and its quotes are plain
// characters. A cell is one line.
func plainCell(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }),
		" ")
	var b strings.Builder
	begins := true // nothing was read of a cell yet
	from := 0      // where it begins
	for i, r := range text {
		switch {
		case strings.ContainsRune(cellSeparators, r):
			begins = true
			b.WriteString(text[from : i+1])
			from = i + 1
		case begins && strings.ContainsRune("=+-@＝＋－＠", r):
			b.WriteByte('\'')
			begins = false
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), r == '"': // a spreadsheet may drop them
		default:
			begins = false
		}
	}
	return b.String() + text[from:]
}
