package procedure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// OwnerNote is what the owners of one project's instances have to know. It is also written as JSON.
type OwnerNote struct {
	ProjectID string          `json:"projectID"`
	Project   string          `json:"project"`
	Owners    []core.Person   `json:"owners"`            // the users whose instances they are, by name
	Members   []core.Person   `json:"members,omitempty"` // the others with a role in the project, by name
	Instances []OwnedInstance `json:"instances"`         // those that need their owner, by node, then name
	Others    int             `json:"others"`            // how many more the project has on the nodes
}

// OwnedInstance is an instance that needs its owner.
type OwnedInstance struct {
	ID      string                 `json:"id"`
	Name    string                 `json:"name"`
	Node    string                 `json:"node"` // as people call it
	Status  string                 `json:"status"`
	Action  core.MaintenanceAction `json:"action"`
	Origin  core.ActionOrigin      `json:"actionFrom"`
	Locked  bool                   `json:"locked,omitempty"`
	Owner   string                 `json:"owner"` // the user's ID
	Happens string                 `json:"whatHappens"`
	Do      string                 `json:"whatToDo"`
}

// NodesToTell are the names of the compute nodes whose owners are told of the whole update: those that it has not been through. Without
// an update they are all compute nodes.
func NodesToTell(s *core.Snapshot) []string {
	var names []string
	for _, v := range progress.NodeViews(s) {
		if v.Node != nil && v.Node.Is(core.RoleCompute) && v.Stage != core.StageDone && v.Stage != core.StageReturning {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}

// OwnerNotes are the notes for the owners of the instances on the nodes, by project name: of the projects with an instance there that needs
// its owner; with every, of all that have one there, for no user is to write while the update runs (docs/mosk.md#before-the-update). The
// contacts are the zero value until Keystone was asked.
func OwnerNotes(s *core.Snapshot, nodes []string, c core.Contacts, every bool) []OwnerNote {
	notes, owners := map[string]*OwnerNote{}, map[string]map[string]bool{}
	for _, node := range nodes {
		for _, v := range progress.InstanceViews(s, node) {
			in := v.Instance
			n := notes[in.ProjectID]
			if n == nil {
				n = &OwnerNote{ProjectID: in.ProjectID, Project: core.Printable(s.Project(in.ProjectID), 200), Instances: []OwnedInstance{}}
				notes[in.ProjectID], owners[in.ProjectID] = n, map[string]bool{}
			}
			happens, do := ownerNews(s, v)
			if happens != "" || every {
				owners[in.ProjectID][in.UserID] = true
			}
			if happens == "" {
				n.Others++
				continue
			}
			if in.Locked {
				happens += " It is locked: we ask for your word before we touch it."
			}
			n.Instances = append(n.Instances, OwnedInstance{ID: in.ID, Name: wording.TextOf(core.Printable(in.Name, 255), core.ShortID(in.ID)),
				Node: core.Printable(s.Label(node), 64), Status: core.Printable(in.Status, 40), Action: v.Action,
				Origin: v.Origin, Locked: in.Locked, Owner: in.UserID, Happens: core.Printable(happens, 1000), Do: do})
		}
	}
	out := make([]OwnerNote, 0, len(notes))
	for id, n := range notes {
		if len(n.Instances) == 0 && !every {
			continue
		}
		slices.SortStableFunc(n.Instances, func(a, b OwnedInstance) int {
			return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
		})
		n.Owners = c.Of(slices.Collect(maps.Keys(owners[id])))
		n.Members = c.Of(slices.DeleteFunc(slices.Clone(c.Members[n.ProjectID]), func(user string) bool { return owners[id][user] }))
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b OwnerNote) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.ProjectID, b.ProjectID))
	})
	return out
}

// ContactsToAsk are the IDs of the projects and users of the notes for which to ask Keystone, each list sorted.
func ContactsToAsk(notes []OwnerNote) (projects, users []string) {
	seen := map[string]bool{}
	for _, n := range notes {
		projects = append(projects, n.ProjectID)
		for _, p := range n.Owners {
			seen[p.ID] = true
		}
	}
	slices.Sort(projects)
	return projects, slices.Sorted(maps.Keys(seen))
}

// What an owner can do, with the tags of docs/mosk.md#tags.
const (
	doAsTag  = "tag it live_migrate (it is moved while it runs) or poweroff (it goes down with its host and comes back)"
	doAway   = "stop or shelve it"
	doNotify = "tell us that we may live-migrate it, or " + doAsTag + ", or " + doAway
)

// ownerNews is what the maintenance of its host means for an instance, and what its owner can do. Empty for one that does not need its
// owner: it runs on elsewhere without a break, does not run, or its owner's own tag says what happens.
func ownerNews(s *core.Snapshot, v core.InstanceView) (happens, do string) {
	in := v.Instance
	tagged, ours := v.Origin == core.OriginTag, false
	if c, ok := s.History.Tags[in.ID]; ok && tagged {
		ours = step.SameActions(core.RecognisedTags(in.Tags), c.New) && !step.SameActions(c.Old, c.New)
	}
	if _, safe := core.SafeAsItStands(in); safe || in.Host == "" {
		return "", ""
	}
	const stays = "Its host can be updated only when it is out of the way."
	switch {
	case v.Action == core.ActionPowerOff && ours:
		return "We tagged it poweroff for this maintenance: it is shut down with its host, and started again after the host's update.",
			"nothing, or " + doAway + " yourself at a time of your own"
	case v.Action == core.ActionPowerOff && tagged:
		return "", ""
	case v.Action == core.ActionPowerOff:
		return "It is shut down with its host, and started again after the host's update.",
			"nothing, or tag it live_migrate to have it moved while it runs"
	case !v.Blocks:
		return "", ""
	case in.Status == "VERIFY_RESIZE":
		return "Its resize or migration waits to be confirmed or reverted, and until then it cannot be moved. " + stays,
			"confirm it (openstack server resize confirm) or revert it (openstack server resize revert)"
	case in.Status == "RESCUE":
		return "It is being rescued, and cannot be moved so. " + stays, "end the rescue (openstack server unrescue), or stop it"
	case progress.Stranded(v):
		return "It is in " + wording.OneLine(in.Status, 30) + ", and cannot be moved so. " + stays,
			"repair, stop or delete it, or tell us what is to become of it"
	case v.Action == core.ActionNotify && tagged:
		return "Its tag says notify: we do not move it without your word. " + stays, doNotify
	case v.Failures > 0:
		return "It could not be moved while it runs" + wording.Because(wording.OneLine(v.Failure, 300)) + ". " + stays,
			"tell us when it may be moved while it is shut down, tag it poweroff, or " + doAway
	case v.Origin == core.OriginConflicting && v.Action == core.ActionLiveMigrate:
		return "It has several maintenance tags, which cancel each other: it is moved while it runs.", "keep one of the tags"
	case v.Origin == core.OriginConflicting:
		return "It has several maintenance tags, which cancel each other: we move it by hand.", "keep one of the tags"
	case v.Action == core.ActionNotify:
		return "We move it by hand before its host is updated, without stopping it.",
			"tell us when it must not be moved so; else nothing, or " + doAway
	case v.Action == core.ActionUnknown:
		return "Its host waits for us to decide.", "nothing"
	}
	return "", ""
}

// mails are the e-mail addresses of people, each once.
func mails(people ...[]core.Person) []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range people {
		for _, p := range list {
			if p.Email != "" && !seen[p.Email] {
				seen[p.Email] = true
				out = append(out, p.Email)
			}
		}
	}
	return out
}

// OwnersText is the notes as text: for each project a mail that is ready to be sent.
func OwnersText(s *core.Snapshot, notes []OwnerNote) string {
	var b strings.Builder
	for i, n := range notes {
		if i > 0 {
			b.WriteString("\n" + strings.Repeat("-", 72) + "\n\n")
		}
		writeNote(s, &b, n)
	}
	return b.String()
}

func writeNote(s *core.Snapshot, b *strings.Builder, n OwnerNote) {
	say := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	if to := mails(n.Owners); len(to) > 0 {
		say("To: ", strings.Join(to, ", "))
	} else {
		var names []string
		for _, p := range n.Owners {
			names = append(names, p.Text())
		}
		say("To: ", wording.TextOf(strings.Join(names, ", "), "the owners of project "+n.Project), " (no e-mail is known)")
	}
	if cc := mails(n.Members); len(cc) > 0 {
		say("Cc: ", strings.Join(cc, ", "))
	}
	say("Subject: ", core.Printable(s.CalledCluster(), 100), ": maintenance of hosts with instances of project ", n.Project)
	say()
	release := ""
	if u := progress.Update(s); u.To != "" && u.Running {
		release = " to release " + core.Printable(u.To, 60)
	}
	if len(n.Instances) > 0 {
		say("The hosts below are being updated", release, ", one after the other, and ", wording.Count(len(n.Instances), "instance"),
			" of project ", n.Project, " on them ",
			wording.Verb(len(n.Instances), "needs", "need"), " your attention.")
		if n.Others > 0 {
			say("For ", wording.Count(n.Others, "other instance"), " of it there you need to do nothing.")
		}
	} else {
		say("The hosts of ", wording.Count(n.Others, "instance"), " of project ", n.Project, " are being updated", release, ", one after the",
			" other. You need to", wording.TextIf(n.Others == 1, " do nothing for it: it is", " do nothing for them: each is"),
			" moved while it runs, unless its own tag says otherwise.")
	}
	say("Until we tell you that it is over, please create, change, resize, move and delete nothing in the project.")
	say("Stop automation that does: changes meanwhile may do harm.")
	for _, in := range n.Instances {
		say()
		locked := ""
		if in.Locked {
			locked = ", locked"
		}
		say("* ", in.Name, " (", in.ID, ")")
		say("  on ", in.Node, ", ", in.Status, locked, "; owner: ", personOf(n, in.Owner).Text())
		say("  What happens: ", in.Happens)
		say("  What you can do: ", in.Do, ".")
	}
	if len(n.Instances) == 0 {
		return
	}
	say()
	say("By hand, with your own rights in the project:")
	say("  openstack server stop ID")
	say("  openstack server shelve ID")
	say("  openstack --os-compute-api-version ", step.TagVersion, " server set --tag ", core.TagMaintenanceAction, "ACTION ID")
	say("ACTION is live_migrate, poweroff or notify. One such tag counts, two cancel each other: take the former one off with")
	say("  openstack --os-compute-api-version ", step.TagVersion, " server unset --tag ", core.TagMaintenanceAction, "ACTION ID")
}

// personOf is the owner in the note with this ID.
func personOf(n OwnerNote, id string) core.Person {
	for _, p := range n.Owners {
		if p.ID == id {
			return p
		}
	}
	return core.Person{ID: id}
}
