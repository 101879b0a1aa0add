package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// What there is of SARIF 2.1.0 in our logs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Results     []sarifResult     `json:"results"`
		Invocations []sarifInvocation `json:"invocations"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Help    sarifText `json:"help"`
		HelpURI string    `json:"helpUri"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
)

const (
	homepage = "https://github.com/holdfast-llm/holdfast"
	helpPage = homepage + "/blob/main/docs/check.md"
)

// ruleID is a kind's name in the formats that want one word for it.
func ruleID(t Tool, k Kind) string { return string(t) + "/" + strings.ReplaceAll(string(k), " ", "-") }

// SARIF writes the findings that count, and suppressed ones as such, as a SARIF
// 2.1.0 log. What could not be checked is a notification of the invocation. The
// error is w's.
func (d *Document) SARIF(w io.Writer) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "holdfast check", Version: d.Version, InformationURI: homepage, Rules: []sarifRule{}}},
		Results:     []sarifResult{},
		Invocations: []sarifInvocation{{Successful: true}},
	}
	for kind, info := range Kinds() {
		id := ruleID(info.Tool, kind)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id, sarifText{info.Meaning}, sarifText{info.Fix}, helpPage})
	}
	rules := run.Tool.Driver.Rules
	slices.SortFunc(rules, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	notify := &run.Invocations[0]
	for _, r := range d.Results {
		for i := range r.Findings {
			if f := &r.Findings[i]; !f.Expected {
				run.Results = append(run.Results, d.sarif(r, f))
			}
		}
		for _, s := range r.problems() {
			notify.Notifications = append(notify.Notifications, sarifNotification{"error", sarifText{r.Name + ": " + s}})
		}
		if r.Err != nil {
			notify.Successful = false
		}
	}
	for _, s := range d.Unused {
		notify.Notifications = append(notify.Notifications, sarifNotification{"warning", sarifText{s}})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// problems is what is wrong beside findings.
func (r *Result) problems() []string {
	list := slices.Clone(r.Wrong)
	if !r.expectsFault {
		for _, f := range r.Faults {
			list = append(list, "the dispatch was stopped: "+f.Error())
		}
	}
	if r.Err != nil {
		list = append(list, "could not be checked: "+r.Err.Error())
	}
	return list
}

func (d *Document) sarif(r *Result, f *Found) sarifResult {
	text := f.Message
	if f.Missing != "" {
		text += "; missing: " + f.Missing
	}
	x := sarifResult{
		RuleID: ruleID(f.Tool, f.Kind), Level: "error", Message: sarifText{text},
		Fingerprints: map[string]string{"holdfast/v1": fingerprint(r, f.Finding)},
		Locations:    []sarifLocation{},
	}
	for i := range f.Sites {
		s := &f.Sites[i]
		l := sarifLocation{Logical: []sarifLogical{{r.at(f.Kernel, s.PC), "function"}}}
		if file, line, col := d.place(r, f.Finding, s); line > 0 {
			l.Physical = &sarifPhysical{sarifArtifact{file}, sarifRegion{line, col}}
		}
		if i == 0 {
			x.Locations = append(x.Locations, l)
		} else {
			l.Message = &sarifText{"the other access: " + s.Text}
			x.Related = append(x.Related, l)
		}
		if line := d.Listing.Line(r, f.Finding, s); line > 0 && s.File != "" {
			x.Related = append(x.Related, sarifLocation{
				Physical: &sarifPhysical{sarifArtifact{d.Listing.Path}, sarifRegion{StartLine: line}},
				Message:  &sarifText{"in the disassembly: " + s.Text},
			})
		}
	}
	if f.Suppressed != "" {
		x.Suppressions = []sarifSuppression{{"external", f.Suppressed}}
	}
	return x
}

// fingerprint is the same for the same finding as long as the kernel's code is:
// of the kind, the kernel, and where in the kernel the instructions are.
func fingerprint(r *Result, f *Finding) string {
	text := fmt.Sprintf("%s|%s|%s", f.Tool, f.Kind, f.Kernel)
	for i := range f.Sites {
		text += "|" + r.at(f.Kernel, f.Sites[i].PC)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
