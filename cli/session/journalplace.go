package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lockstep/cli/outputfile"
	"lockstep/kube"
)

// journalsFile says which journal is of which cluster. A cluster can be reached by several addresses, and be called by several names: by
// a context, say, and from the list of a management cluster. It still has one journal.
const journalsFile = "clusters.json"

// mostJournalsFile is how large the file may be to be read, in bytes.
const mostJournalsFile = 1 << 20

// whichCluster is how long the start waits to learn which cluster it is, where that decides about its journal.
const whichCluster = 5 * time.Second

// journalsOf reads which journal each cluster has, by the cluster's UID. A file that cannot be read says nothing.
func journalsOf(folder string) map[string]string {
	known := map[string]string{}
	path := filepath.Join(JournalFolder(folder), journalsFile)
	if info, err := os.Stat(path); err != nil || info.Size() > mostJournalsFile {
		return known
	}
	if raw, err := os.ReadFile(path); err == nil && json.Unmarshal(raw, &known) != nil {
		return map[string]string{}
	}
	return known
}

// journalOf is the path of the cluster's journal: the one of its name and address; or, where there is none yet, or it is not noted whose it
// is, the one that the cluster has by another name or address.
func (s *Session) journalOf(ctx context.Context, folder, cluster string, client *kube.Client) string {
	server := ""
	if client != nil {
		server = client.Server
	}
	path := JournalPath(folder, cluster, server)
	known := journalsOf(folder)
	if client == nil || len(known) == 0 {
		return path
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) && slices.Contains(slices.Collect(maps.Values(known)), filepath.Base(path)) {
		return path
	}
	ctx, cancel := context.WithTimeout(ctx, whichCluster)
	defer cancel()
	uid, err := client.ClusterUID(ctx)
	if err != nil {
		s.Log.Info("which cluster it is could not be read: its journal is found by its address alone", "error", err)
		return path
	}
	name, ok := known[uid]
	if !ok || name != filepath.Base(name) {
		return path
	}
	other := filepath.Join(JournalFolder(folder), name)
	if _, err := os.Stat(other); err != nil {
		return path
	}
	return other
}

// noteJournal notes that the cluster has the session's journal, unless it has one already.
func (s *Session) noteJournal(uid string) {
	if uid == "" || s.Journal == nil {
		return
	}
	folder := filepath.Dir(s.Journal.Path())
	known := journalsOf(filepath.Dir(folder))
	name := filepath.Base(s.Journal.Path())
	if old, ok := known[uid]; ok {
		if _, err := os.Stat(filepath.Join(folder, old)); err == nil {
			if old != name { // which cluster it is was not known at the start
				s.Tell(fmt.Sprintf("the journal of this cluster is %s, and this run keeps another one, as the server did not answer when it "+
					"began: end it and start Lockstep anew", old))
			}
			return
		}
	}
	maps.DeleteFunc(known, func(_, of string) bool { return of == name }) // the cluster at this address was made anew
	known[uid] = name
	raw, err := json.MarshalIndent(known, "", "  ")
	if err == nil {
		err = outputfile.Write(filepath.Join(folder, journalsFile), append(raw, '\n'), true)
	}
	if err != nil {
		s.Log.Warn("which journal the cluster has is not noted", "error", err)
	}
}
