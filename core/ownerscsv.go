package core

import (
	"encoding/csv"
	"strings"
	"unicode"
)

// ownersHeader are the columns of OwnersCSV.
var ownersHeader = []string{"project", "project_id", "instance", "instance_id", "node", "status", "locked", "action", "action_from", "what_happens", "what_to_do",
	"owner", "owner_id", "owner_email", "member_emails"}

// OwnersCSV is the notes as CSV, one instance a line, safe to be opened in a spreadsheet.
func OwnersCSV(notes []OwnerNote) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	write := func(cells []string) {
		for i := range cells {
			cells[i] = plainCell(cells[i])
		}
		_ = w.Write(cells) // a strings.Builder takes everything
	}
	write(append([]string(nil), ownersHeader...))
	for _, n := range notes {
		members := strings.Join(mails(n.Members), " ")
		for _, in := range n.Instances {
			locked := ""
			if in.Locked {
				locked = "yes"
			}
			owner := personOf(n, in.Owner)
			write([]string{n.Project, n.ProjectID, in.Name, in.ID, in.Node, in.Status, locked, string(in.Action), string(in.Origin), in.Happens, in.Do,
				owner.Name, owner.ID, owner.Email, members})
		}
	}
	w.Flush()
	return b.String()
}

// plainCell keeps a spreadsheet from taking a cell for a formula: names come from the cloud's users. A cell is one line.
func plainCell(text string) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsControl), " ")
	if rest := strings.TrimLeft(text, " "); rest != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(rest)[0]) {
		return "'" + text
	}
	return text
}
