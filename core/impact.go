package core

// Impact is what suffers, or will suffer, from what was found, beside how urgent it is.
type Impact string

// The impacts, the worst first.
const (
	ImpactData      Impact = "data"      // volumes, databases, what Nova knows of an instance
	ImpactInstances Impact = "instances" // they go down, lose their network or their disks, or are slow
	ImpactAPI       Impact = "API"       // an API of the cloud, or a part of one
	ImpactTime      Impact = "time"      // the update takes longer, or stands still
	ImpactNone      Impact = "nothing yet"
)

// Impacts are all impacts, the worst first.
func Impacts() []Impact {
	return []Impact{ImpactData, ImpactInstances, ImpactAPI, ImpactTime, ImpactNone}
}

// Page is where the documents speak of something: a page of docs.mirantis.com, by its path, and the section on it.
type Page struct {
	Path    string // "mosk/latest/ops/update-managed-old.html"
	Section string // as its heading has it; empty: the whole page
}

// The pages of the documents (docs/mosk.md#sources).
const (
	pageGuide      = "mosk/latest/ops/update-managed-old.html"
	pageFlow       = "mos/latest/ref-arch/node-maintenance-api/update-flow-full.html"
	pageController = "mosk/latest/ref-arch/node-maintenance-api/os-controller-update-flow.html"
	pageObjects    = "mosk/26.1/ref-arch/node-maintenance-api/objects.html"
	pagePlan       = "mosk/latest/api/mgmt-api/lcm-api/cluster-update-plan"
	pageAutoPause  = "mosk/26.1/ops/update-managed/update-autopause"
	pageReboot     = "container-cloud/latest/api/api-graceful-reboot-request"
	pageTags       = "mosk/26.1/user/configure-per-instance-migration-mode"
	pageParallel   = "mosk/latest/ref-arch/node-maintenance-api/parallel-node-update"
	pageRemoval    = "mosk/26.1/ops/general-operations/delete-machine/delete-machine-cli"
)

// Pages and sections that are cited.
var (
	PageNone       = Page{} // the documents say nothing of it
	PageBefore     = Page{pageGuide, "Before you begin"}
	PagePlanning   = Page{pageGuide, "Plan the cluster update"}
	PageManagement = Page{pageGuide, "Step 1. Verify that the Container Cloud management cluster is up-to-date"}
	PagePolicy     = Page{pageGuide, "Step 2. Define workload handling policy for compute nodes"}
	PageInitiate   = Page{pageGuide, "Step 3. Initiate MOSK cluster update"}
	PageWatch      = Page{pageGuide, "Step 4. Watch the cluster update"}
	PageManual     = Page{pageGuide, "Step 5. Optional. Perform the manual workload migration"}
	PageAfter      = Page{pageGuide, "After the update"}
	PageHangs      = Page{pageGuide, "What to do if the update hangs or fails"}
	PageFlow       = Page{Path: pageFlow}
	PageController = Page{Path: pageController}
	PageObjects    = Page{Path: pageObjects}
	PagePlan       = Page{Path: pagePlan}
	PageAutoPause  = Page{Path: pageAutoPause}
	PageReboot     = Page{Path: pageReboot}
	PageTags       = Page{Path: pageTags}
	PageParallel   = Page{Path: pageParallel}
	PageRemoval    = Page{Path: pageRemoval}
)

// URL is the page's address; empty for PageNone.
func (p Page) URL() string {
	if p.Path == "" {
		return ""
	}
	return "https://docs.mirantis.com/" + p.Path
}

// String is the address with the section: `https://docs.mirantis.com/…, "After the update"`. Empty for PageNone.
func (p Page) String() string {
	if p.Section == "" {
		return p.URL()
	}
	return p.URL() + `, "` + p.Section + `"`
}
