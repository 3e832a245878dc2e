package core

import "strings"

// Identity is as whom the servers know who runs Lockstep.
type Identity struct {
	KubernetesUser   string   `json:"kubernetesUser,omitempty"`   // by SelfSubjectReview; empty where it is not known
	KubernetesGroups []string `json:"kubernetesGroups,omitempty"` // the same
	OpenStackUser    string   `json:"openStackUser,omitempty"`    // of the token; empty where it is not known
	OpenStackProject string   `json:"openStackProject,omitempty"` // for which the token is
}

// String is the identity in one line: "kubernetes-admin, OpenStack admin in project admin". It is empty when nothing is known.
func (i Identity) String() string {
	var parts []string
	if i.KubernetesUser != "" {
		parts = append(parts, i.KubernetesUser)
	}
	if i.OpenStackUser != "" {
		cloud := "OpenStack " + i.OpenStackUser
		if i.OpenStackProject != "" {
			cloud += " in project " + i.OpenStackProject
		}
		parts = append(parts, cloud)
	}
	return strings.Join(parts, ", ")
}

// IsZero tells whether nothing is known.
func (i Identity) IsZero() bool { return i.String() == "" }
