package nova

import (
	"cmp"

	"go.yaml.in/yaml/v3"
)

// YAML takes 1e5, 0123 and yes for a number or a truth where they are not quoted; a password is what is written. gophercloud reads
// into fields of strings, which yaml.v2 fills with the scalar as it is written, so its reading is used for all fields, and nothing
// may read the file into numbers before it. The one exception is null in all its spellings: that is no value there, and the field
// stays empty. For most fields this is what is meant (project_name: null), and a password may be null because a token is used.

// secretsAsWritten lets a user whose password is called null log in: where there is a user, and no other way to log in, it is
// what was meant. The same holds for an application credential. The files are those the cloud was read from, the strongest first.
func (c *Config) secretsAsWritten(files ...[]byte) {
	a := &c.auth
	if a.Password != "" || a.TokenID != "" || a.ApplicationCredentialSecret != "" {
		return
	}
	for _, file := range files {
		switch {
		case cmp.Or(a.ApplicationCredentialID, a.ApplicationCredentialName) != "":
			a.ApplicationCredentialSecret = cmp.Or(a.ApplicationCredentialSecret, writtenNothing(file, c.cloud, "application_credential_secret"))
		case cmp.Or(a.Username, a.UserID) != "":
			a.Password = cmp.Or(a.Password, writtenNothing(file, c.cloud, "password"))
		}
	}
}

// writtenNothing is how a field of a cloud's auth spells that it has no value; empty when it has one, or nothing is written there.
func writtenNothing(file []byte, cloud, field string) string {
	var all struct {
		Clouds map[string]struct {
			Auth map[string]yaml.Node `yaml:"auth"`
		} `yaml:"clouds"`
	}
	if yaml.Unmarshal(file, &all) != nil {
		return "" // gophercloud has read it: this is nothing that Lockstep needs to know
	}
	node := all.Clouds[cloud].Auth[field]
	if node.Alias != nil {
		node = *node.Alias
	}
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!null" {
		return ""
	}
	return node.Value
}
